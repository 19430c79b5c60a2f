"""Restrict this process to named files by Landlock (Linux 5.13), with what later versions of it add.

TCP since version 4, devices since 5, sockets and signals of other processes since 6.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import struct
from typing import TYPE_CHECKING

from engine.parsers.sandbox.kernel.calls import call_kernel

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

# System calls, which have the same numbers on all processors, and their flags.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH = 1, 1
EXECUTE, WRITE, READ, LIST = 1, 2, 4, 8
_FILE_RIGHTS = EXECUTE | WRITE | READ
# The numbers of rights on files that a version knows; what the process has not been given of them is refused.
_COUNT_OF_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_LATEST = max(_COUNT_OF_RIGHTS)
_VERSION_OF_NETWORK, _BIND_AND_CONNECT = 4, 3
_VERSION_OF_SCOPES, _SOCKETS_AND_SIGNALS = 6, 3


def find_version() -> int:
    """The version of Landlock in the kernel, 0 without it."""
    try:
        return call_kernel(_CREATE_RULESET, None, 0, _ASK_VERSION)
    except OSError:
        return 0


def restrict_files(allowed: Iterable[tuple[Path, int]]) -> int:
    """Refuse all files but these, with these rights, for good; what does not exist is skipped.

    The process must have set "no new privileges". Returns the version, 0 without Landlock. Raises OSError.
    """
    version = find_version()
    if not version:
        return 0
    rights = (1 << _COUNT_OF_RIGHTS[min(version, _LATEST)]) - 1
    words = [rights]
    if version >= _VERSION_OF_NETWORK:
        words.append(_BIND_AND_CONNECT)
    if version >= _VERSION_OF_SCOPES:
        words.append(_SOCKETS_AND_SIGNALS)
    header = struct.pack(f"={len(words)}Q", *words)
    ruleset = call_kernel(_CREATE_RULESET, _buffer(header), len(header), 0)
    try:
        for path, given in allowed:
            with contextlib.suppress(OSError):
                _allow(ruleset, path, given)
        call_kernel(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return version


def _allow(ruleset: int, path: Path, rights: int) -> None:
    file = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        is_folder = stat.S_ISDIR(os.fstat(file).st_mode)
        rule = struct.pack("=Qi", rights if is_folder else rights & _FILE_RIGHTS, file)
        call_kernel(_ADD_RULE, ruleset, _PATH_BENEATH, _buffer(rule), 0)
    finally:
        os.close(file)


def _buffer(data: bytes) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(data, len(data))
