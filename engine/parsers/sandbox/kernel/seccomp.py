"""Let this process make only the system calls that parsers need: a filter of seccomp, for x86-64 and arm64.

It has no connections, no signals to others, no other process's memory, and no change of files, their modes, or the
machine. A program of classic BPF, because a library for it would need one of the operating system's.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from typing import TYPE_CHECKING, NamedTuple

from engine.parsers.sandbox.kernel.calls import call_kernel
from engine.parsers.sandbox.kernel.syscalls import LAST_NUMBER, PROCESSORS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.parsers.sandbox.kernel.syscalls import Processor

_SET_FILTER, _ALL_THREADS = 1, 1
# Instructions: load a word of the call, keep some of its bits, compare, return.
_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_NUMBER_OFFSET, _AUDIT_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16
ALLOW, KILL = 0x7FFF0000, 0x80000000
REFUSE, UNKNOWN = 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
_WORD = 0xFFFFFFFF

_THREAD = 0x10000
_NEW_NAMESPACES = 0x7E020000  # of mounts, control groups, hosts, IPC, users, processes, network
_CREATE_OR_TRUNCATE = 0o1100
_UNIX, _STREAM, _TYPE_OF_SOCKET = 1, 1, 0xF
_GET_TERMINAL, _CLOSE_ON_EXEC, _KEEP_ON_EXEC, _NON_BLOCKING, _BYTES_TO_READ = 0x5401, 0x5451, 0x5450, 0x5421, 0x541B
_DUPLICATE, _GET_FLAGS, _SET_FLAGS, _GET_STATUS, _SET_STATUS = 0, 1, 2, 3, 4
_DUPLICATE_CLOSING, _GET_PIPE_SIZE = 1030, 1032
_SET_NAME, _GET_NAME, _GET_DUMPABLE, _NAME_MEMORY = 15, 16, 3, 0x53564D41


class Instruction(NamedTuple):
    """An instruction of classic BPF: `yes` and `no` are the instructions to skip after a comparison."""

    code: int
    value: int
    yes: int = 0
    no: int = 0


class Condition(NamedTuple):
    """The bits `mask` of an argument (from 0) are one of `values`."""

    argument: int
    values: tuple[int, ...]
    mask: int = _WORD


def apply_filter(machine: str, *, may_start_programs: bool) -> bool:
    """Filter the calls of this process, its threads and its children, for good.

    False on a processor without a table. Raises OSError if the kernel refuses.
    """
    processor = PROCESSORS.get(machine)
    if processor is None:
        return False
    program = build_filter(processor, os.getpid(), may_start_programs=may_start_programs)
    code = b"".join(
        struct.pack("=HBBI", instruction.code, instruction.yes, instruction.no, instruction.value)
        for instruction in program
    )
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(program), ctypes.addressof(buffer))
    call_kernel(processor.set_filter, _SET_FILTER, _ALL_THREADS, ctypes.create_string_buffer(header, len(header)))
    return True


def build_filter(processor: Processor, pid: int, *, may_start_programs: bool) -> list[Instruction]:
    """The filter for the process `pid`."""
    free = processor.free | (processor.start_program if may_start_programs else frozenset())
    program = [
        Instruction(_LOAD, _AUDIT_OFFSET),
        Instruction(_EQUAL, processor.audit, yes=1),
        Instruction(_RETURN, KILL),
        Instruction(_LOAD, _NUMBER_OFFSET),
    ]
    if processor.first_foreign:
        program += [Instruction(_AT_LEAST, processor.first_foreign, no=1), Instruction(_RETURN, REFUSE)]
    program += [Instruction(_AT_LEAST, LAST_NUMBER + 1, no=1), Instruction(_RETURN, UNKNOWN)]
    for number in sorted(free):
        program += [Instruction(_EQUAL, number, no=1), Instruction(_RETURN, ALLOW)]
    for number in sorted(processor.opaque):
        program += [Instruction(_EQUAL, number, no=1), Instruction(_RETURN, UNKNOWN)]
    for name, conditions in _list_conditions(pid, may_start_programs=may_start_programs).items():
        if (conditional := processor.conditional.get(name)) is not None:
            body = [*_check_all(conditions), Instruction(_RETURN, ALLOW)]
            program += [Instruction(_EQUAL, conditional, no=len(body)), *body]
    return [*program, Instruction(_RETURN, REFUSE)]


def _list_conditions(pid: int, *, may_start_programs: bool) -> dict[str, Sequence[Condition]]:
    """The arguments with which a call is allowed, by its name."""
    only_threads = Condition(0, (_THREAD,), _THREAD | _NEW_NAMESPACES)
    return {
        "open": [Condition(1, (0,), _CREATE_OR_TRUNCATE)],
        "openat": [Condition(2, (0,), _CREATE_OR_TRUNCATE)],
        "clone": [Condition(0, (0,), _NEW_NAMESPACES) if may_start_programs else only_threads],
        "kill": [Condition(0, (pid,))],
        "tgkill": [Condition(0, (pid,))],
        "prlimit64": [Condition(0, (0, pid))],
        "fcntl": [
            Condition(
                1,
                (_DUPLICATE, _GET_FLAGS, _SET_FLAGS, _GET_STATUS, _SET_STATUS, _DUPLICATE_CLOSING, _GET_PIPE_SIZE),
            )
        ],
        "ioctl": [Condition(1, (_GET_TERMINAL, _CLOSE_ON_EXEC, _KEEP_ON_EXEC, _NON_BLOCKING, _BYTES_TO_READ))],
        "prctl": [Condition(0, (_SET_NAME, _GET_NAME, _GET_DUMPABLE, _NAME_MEMORY))],
        # Threads of a library wake each other through one; without a name it leads nowhere.
        "socketpair": [Condition(0, (_UNIX,)), Condition(1, (_STREAM,), _TYPE_OF_SOCKET)],
    }


def _check_all(conditions: Iterable[Condition]) -> Iterable[Instruction]:
    """Refuse unless all conditions hold; else go on behind."""
    for condition in conditions:
        yield Instruction(_LOAD, _ARGUMENTS_OFFSET + 8 * condition.argument)
        if condition.mask != _WORD:
            yield Instruction(_AND, condition.mask)
        for left, value in zip(range(len(condition.values), 0, -1), condition.values, strict=True):
            yield Instruction(_EQUAL, value, yes=left)  # behind the refusal
        yield Instruction(_RETURN, REFUSE)
