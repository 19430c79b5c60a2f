"""Run a program on a kernel without some system calls: `python -m tests.support.older_kernel NUMBER… -- PROGRAM …`."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

from engine.parsers.sandbox.kernel.calls import call_kernel
from engine.parsers.sandbox.kernel.seccomp import ALLOW, UNKNOWN
from engine.parsers.sandbox.kernel.syscalls import PROCESSORS

LANDLOCK, SECCOMP = 444, PROCESSORS[platform.machine()].set_filter
SET_FILTER, NO_NEW_PRIVILEGES = 1, 38


def main() -> None:
    words = sys.argv[1:]
    numbers = [int(word) for word in words[: words.index("--")]]
    code = struct.pack("=HBBI", 0x20, 0, 0, 0)
    for number in numbers:
        code += struct.pack("=HBBI", 0x15, 0, 1, number) + struct.pack("=HBBI", 0x06, 0, 0, UNKNOWN)
    code += struct.pack("=HBBI", 0x06, 0, 0, ALLOW)
    program = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(code) // 8, ctypes.addressof(program))
    libc = ctypes.CDLL(None)
    assert libc.prctl(NO_NEW_PRIVILEGES, *map(ctypes.c_ulong, (1, 0, 0, 0))) == 0
    call_kernel(SECCOMP, SET_FILTER, 0, ctypes.create_string_buffer(header, len(header)))
    command = words[words.index("--") + 1 :]
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
