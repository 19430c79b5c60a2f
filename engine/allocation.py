"""Keeps what native libraries have freed from staying with the process (glibc; elsewhere nothing is done)."""

from __future__ import annotations

import ctypes
from typing import Any

# malloc.h
MMAP_THRESHOLD = -3
ARENA_MAX = -8

LARGE = 1 << 20
ARENAS = 4


def return_large_blocks() -> None:
    """Blocks from a megabyte on are from now on given back to the system as soon as they are freed.

    Left alone, glibc raises that limit to 32 MiB when such blocks are freed, and keeps a heap for every few threads:
    merging 300,000 vectors then left 600 MB behind, with this 100 MB.
    """
    tune = _function("mallopt")
    if tune is not None:
        tune(MMAP_THRESHOLD, LARGE)
        tune(ARENA_MAX, ARENAS)


def give_back() -> None:
    """Hand what lies in the free lists to the system."""
    trim = _function("malloc_trim")
    if trim is not None:
        trim(0)


def _function(name: str) -> Any:
    try:
        return getattr(ctypes.CDLL(None), name, None)
    except (OSError, TypeError):  # no C library can be opened like this here
        return None
