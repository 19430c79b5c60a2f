"""Take rights from this process and its children: memory, CPU time, network and files, as far as the kernel can.

Linux alone takes network and files: by a network namespace, which many containers forbid, and by Landlock (5.13; TCP
since 6.7), which they allow.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.parsers.base import ParserLimits

_NEW_USER_AND_NETWORK = 0x10000000 | 0x40000000
_NO_NEW_PRIVILEGES = 38
_MAX_STDERR = 16 * 2**20  # bytes of any file that is written
_THREADS = 2
# System calls of Landlock, which have the same numbers on all processors, and its flags.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _RULE_PATH_BENEATH = 1, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_RIGHTS_BY_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1}
_VERSION_OF_NETWORK, _TCP_BIND_AND_CONNECT = 4, 3
_SYSTEM_FOLDERS = ("/usr", "/lib", "/lib64", "/bin", "/etc", "/opt", "/nix", "/snap", "/dev/urandom")
_HOMEBREW = "/home/linuxbrew/.linuxbrew"
_LIBRARY_FOLDERS = frozenset({"site-packages", "dist-packages"})


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64))


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("folder", ctypes.c_int32))


def isolate(limits: ParserLimits) -> None:
    """Limit memory and the size of written files; drop network and files."""
    _limit_resources(limits.max_memory)
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        with contextlib.suppress(OSError, AttributeError):
            libc.unshare(_NEW_USER_AND_NETWORK)
        with contextlib.suppress(OSError, AttributeError):
            _restrict_files(libc, limits.ocr_program)


def limit_cpu_seconds(seconds: float) -> None:
    """Limit the CPU time from now on, so that even an orphaned process ends."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415  - not available on Windows

        used = resource.getrusage(resource.RUSAGE_SELF)
        soft = int(used.ru_utime + used.ru_stime + _THREADS * seconds) + 2
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


def _limit_resources(memory: int) -> None:
    if sys.platform != "win32":
        import resource  # noqa: PLC0415  - not available on Windows

        with contextlib.suppress(ValueError, OSError):  # macOS refuses; the time limit remains
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_STDERR, _MAX_STDERR))


def _restrict_files(libc: ctypes.CDLL, ocr_program: str) -> None:
    """Allow this process to read the program, its libraries and those of the system, and nothing else."""
    version = libc.syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG)
    if version < 1:
        return
    rights = _RIGHTS_BY_VERSION.get(version, _RIGHTS_BY_VERSION[3])
    has_network = version >= _VERSION_OF_NETWORK
    ruleset = _Ruleset(rights, _TCP_BIND_AND_CONNECT if has_network else 0)
    rules = libc.syscall(_CREATE_RULESET, ctypes.byref(ruleset), 16 if has_network else 8, 0)
    if rules < 0:
        return
    for path, allowed in _list_readable(ocr_program):
        _allow(libc, rules, path, allowed)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0:
        libc.syscall(_RESTRICT_SELF, rules, 0)
    os.close(rules)


def _list_readable(ocr_program: str) -> Iterable[tuple[Path, int]]:
    """The files and folders that a parser needs, with the rights."""
    read = _READ_FILE | _READ_DIR
    program = Path(__file__).parents[2]
    yield program, read
    for folder in (*map(Path, sys.path), Path(sys.prefix), Path(sys.base_prefix)):
        is_checkout = folder == program.parent and folder.name not in _LIBRARY_FOLDERS  # with settings and data, maybe
        yield folder, _READ_DIR if is_checkout else read
    for name in (*_SYSTEM_FOLDERS, _HOMEBREW):
        yield Path(name), read | _EXECUTE
    yield Path("/dev/null"), _READ_FILE | _WRITE_FILE
    if ocr_program:
        folder = Path(ocr_program).resolve().parent
        yield folder, read | _EXECUTE
        yield from ((folder.parent / name, read) for name in ("lib", "lib64", "share"))


def _allow(libc: ctypes.CDLL, rules: int, path: Path, rights: int) -> None:
    with contextlib.suppress(OSError):  # it does not exist
        file = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            rule = _PathRule(rights if path.is_dir() else rights & ~_READ_DIR, file)
            libc.syscall(_ADD_RULE, rules, _RULE_PATH_BENEATH, ctypes.byref(rule), 0)
        finally:
            os.close(file)
