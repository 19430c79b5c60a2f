"""The filter of system calls, run by an interpreter for each processor; `test_isolation` runs it in the kernel."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.parsers.sandbox.kernel import seccomp, syscalls
from engine.parsers.sandbox.kernel.seccomp import ALLOW, KILL, REFUSE, UNKNOWN, build_filter
from engine.parsers.sandbox.kernel.syscalls import LAST_NUMBER, PROCESSORS
from tests.support.bpf import run_filter
from tests.support.hostile_parser import CALLS

PID, OTHER = 4242, 4243
COLUMNS = {"x86_64": 1, "aarch64": 2}
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
every_processor = pytest.mark.parametrize("machine", PROCESSORS)
TABLES = f"{syscalls._FREE} {syscalls._CONDITIONAL} {syscalls._START_PROGRAM} {syscalls._OPAQUE}"
HANDLED = {"clone3", "openat2", "seccomp"}
THREAD = 0x3D0F00  # the flags with which C libraries start one


def run(machine: str, name: str | int, *arguments: int, may_start_programs: bool = False) -> int:
    processor = PROCESSORS[machine]
    number = name if isinstance(name, int) else syscalls._numbers(TABLES, COLUMNS[machine])[name]
    program = build_filter(processor, PID, may_start_programs=may_start_programs)
    return run_filter(program, number, processor.audit, *arguments)


@every_processor
def test_the_filter_fits_the_kernel_and_each_path_ends(machine: str) -> None:
    program = build_filter(PROCESSORS[machine], PID, may_start_programs=True)
    assert len(program) <= 4096
    assert all(instruction.yes < 256 and instruction.no < 256 for instruction in program)
    assert {run(machine, number) for number in range(600)} == {ALLOW, REFUSE, UNKNOWN}


@pytest.mark.long
@every_processor
def test_all_calls_that_are_not_listed_are_refused(machine: str) -> None:
    listed = set(syscalls._numbers(TABLES, COLUMNS[machine]).values())
    assert {run(machine, number) for number in set(range(LAST_NUMBER + 1)) - listed} == {REFUSE}
    assert {run(machine, number) for number in range(LAST_NUMBER + 1, 2000)} == {UNKNOWN}
    named = {name: numbers[COLUMNS[machine] - 1] for name, numbers in CALLS.items() if name not in HANDLED}
    assert {name for name, number in named.items() if run(machine, number) == ALLOW} == set()


@every_processor
@pytest.mark.parametrize("name", ["clone3", "openat2"])
def test_calls_whose_arguments_cannot_be_seen_look_unknown(machine: str, name: str) -> None:
    assert run(machine, name) == UNKNOWN


@every_processor
def test_a_program_starts_only_if_one_recognizes_text(machine: str) -> None:
    assert run(machine, "execve") == REFUSE
    assert run(machine, "execve", may_start_programs=True) == ALLOW
    assert run(machine, "clone", 17) == REFUSE
    assert run(machine, "clone", 17, may_start_programs=True) == ALLOW
    assert {run(machine, "clone", THREAD, may_start_programs=flag) for flag in (True, False)} == {ALLOW}


@every_processor
@pytest.mark.parametrize("bit", [0x20000, *(1 << place for place in range(25, 31))])
@pytest.mark.parametrize("flags", [17, THREAD])
def test_nothing_starts_in_a_namespace_of_its_own(machine: str, bit: int, flags: int) -> None:
    assert {run(machine, "clone", flags | bit, may_start_programs=flag) for flag in (True, False)} == {REFUSE}


@every_processor
@pytest.mark.parametrize("name", ["kill", "tgkill"])
def test_a_process_signals_itself_alone(machine: str, name: str) -> None:
    assert run(machine, name, PID) == ALLOW
    assert {run(machine, name, each) for each in (OTHER, 0, -1, -PID)} == {REFUSE}


@every_processor
@pytest.mark.parametrize(("name", "place"), [("open", 1), ("openat", 2)])
def test_files_are_neither_created_nor_truncated(machine: str, name: str, place: int) -> None:
    if (machine, name) == ("aarch64", "open"):
        assert name not in PROCESSORS[machine].conditional
        return
    before = (0,) * place
    assert run(machine, name, *before, 0o2000000) == ALLOW
    assert {run(machine, name, *before, flags) for flags in (0o100, 0o1000, 0o1102)} == {REFUSE}


@every_processor
@pytest.mark.parametrize(
    ("name", "allowed", "refused"),
    [
        ("fcntl", (0, 1), (0, 8)),  # F_SETOWN: signals to a process of one's choice
        ("fcntl", (0, 1030), (0, 10)),
        ("ioctl", (0, 0x5401), (0, 0x5412)),  # TIOCSTI: keys typed into a terminal
        ("prctl", (15,), (4,)),
        ("prlimit64", (0,), (OTHER,)),
        ("socketpair", (1, 0o2000001), (1, 2)),
        ("socketpair", (1, 1), (2, 1)),
    ],
)
def test_some_arguments_are_allowed_and_others_are_not(
    machine: str, name: str, allowed: tuple[int, ...], refused: tuple[int, ...]
) -> None:
    assert (run(machine, name, *allowed), run(machine, name, *refused)) == (ALLOW, REFUSE)


@every_processor
def test_the_upper_half_of_an_argument_hides_nothing(machine: str) -> None:
    assert run(machine, "kill", 2**32 * 7 + OTHER) == REFUSE


def test_calls_of_another_processor_or_of_another_abi_are_refused() -> None:
    program = build_filter(PROCESSORS["x86_64"], PID, may_start_programs=True)
    assert run_filter(program, 11, 0x40000003) == KILL  # execve of 32 bits
    assert run_filter(program, 0x40000000 | 520, PROCESSORS["x86_64"].audit) == REFUSE  # execve of x32


@every_processor
def test_the_numbers_are_those_of_the_kernel(machine: str) -> None:
    header = HEADERS[machine]
    if not header.exists():
        pytest.skip("the headers of the kernel are not installed")
    rows = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text())
    known = {("newfstatat" if name == "fstatat" else name): int(number) for name, number in rows}
    table = syscalls._numbers(TABLES, COLUMNS[machine]) | {"seccomp": PROCESSORS[machine].set_filter}
    assert {name: number for name, number in table.items() if known.get(name, number) != number} == {}
    assert set(table) - set(known) <= {"mseal"}


def test_an_unknown_processor_has_no_filter() -> None:
    assert not seccomp.apply_filter("riscv64", may_start_programs=False)
