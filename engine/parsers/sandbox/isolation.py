"""Take rights from this process and its children: memory, CPU time, files, network and signals.

Linux alone takes more than memory and CPU time: files by Landlock, and by seccomp all system calls that parsers do not
need. Both need no privileges and work in containers; namespaces, which many containers forbid, and empty capabilities
add to them.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import socket
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from engine.parsers.sandbox.kernel.landlock import restrict_files
from engine.parsers.sandbox.kernel.readable import list_readable
from engine.parsers.sandbox.kernel.seccomp import apply_filter
from engine.parsers.sandbox.state import SandboxState

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.parsers.base import ParserLimits

_NEW_USER, _NEW_NETWORK, _NEW_QUEUES = 0x10000000, 0x40000000, 0x08000000
_NO_NEW_PRIVILEGES = 38
_CAPABILITY_VERSION = 0x20080522
_MAX_STDERR = 16 * 2**20  # bytes of any file that is written


def isolate(limits: ParserLimits) -> SandboxState:
    """Limit memory and the size of written files; drop network, files and signals. Returns what became of it."""
    has_memory_limit = _limit_resources(limits.max_memory)
    if sys.platform != "linux":
        return SandboxState(memory=has_memory_limit)
    libc = ctypes.CDLL(None, use_errno=True)
    readable = list(list_readable(limits.ocr_program))
    namespaces, capabilities = _enter_namespaces(libc), _drop_capabilities(libc)
    landlock, seccomp = 0, False
    with contextlib.suppress(OSError, AttributeError):
        if libc.prctl(_NO_NEW_PRIVILEGES, *map(ctypes.c_ulong, (1, 0, 0, 0))) == 0:
            with contextlib.suppress(OSError):
                landlock = restrict_files(readable)
            seccomp = apply_filter(platform.machine(), may_start_programs=bool(limits.ocr_program))
    return SandboxState(
        landlock if landlock and _is_refused(lambda: next(Path(os.sep).iterdir())) else 0,
        seccomp and _is_refused(lambda: socket.socket(socket.AF_UNIX).close()),
        has_memory_limit,
        namespaces,
        capabilities,
    )


def _limit_resources(memory: int) -> bool:
    """Whether the memory is limited: macOS refuses, and Windows has no such limit; the time limit remains."""
    if sys.platform == "win32":
        return False
    import resource  # noqa: PLC0415  - not available on Windows

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_STDERR, _MAX_STDERR))
    try:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    except (ValueError, OSError):
        return False
    return True


def _enter_namespaces(libc: ctypes.CDLL) -> bool:
    """A user, a network and message queues of its own, as far as the kernel has them."""
    with contextlib.suppress(AttributeError):
        return any(
            libc.unshare(ctypes.c_int(flags)) == 0
            for flags in (_NEW_USER | _NEW_NETWORK | _NEW_QUEUES, _NEW_USER | _NEW_NETWORK)
        )
    return False


def _drop_capabilities(libc: ctypes.CDLL) -> bool:
    """Give up the powers of root; a program that is started does not get them back without new privileges."""
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION, 0), 8)
    with contextlib.suppress(AttributeError):
        return bool(libc.capset(header, ctypes.create_string_buffer(24)) == 0)
    return False


def _is_refused(attempt: Callable[[], object]) -> bool:
    """Whether the kernel refuses what it should refuse now."""
    try:
        attempt()
    except PermissionError:
        return True
    return False
