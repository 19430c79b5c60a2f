"""Run programs of classic BPF as the kernel does for seccomp, for any processor."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from engine.parsers.sandbox.kernel.seccomp import Instruction


def run_filter(program: Sequence[Instruction], number: int, audit: int, *arguments: int) -> int:
    """What the filter returns for a system call. Raises IndexError if a jump leads out of it."""
    words = [argument % 2**64 for argument in (*arguments, 0, 0, 0, 0, 0, 0)[:6]]
    data = struct.pack("<IIQ6Q", number, audit, 0, *words)
    accumulator = place = 0
    while True:
        code, value, yes, no = program[place]
        place += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from("<I", data, value)
            case 0x54:
                accumulator &= value
            case 0x15:
                place += yes if accumulator == value else no
            case 0x35:
                place += yes if accumulator >= value else no
            case 0x06:
                return value
            case _:
                raise ValueError(f"unknown instruction {code:#x}")
