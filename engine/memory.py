"""What a process does about memory that is free again: the C library's (glibc; elsewhere nothing) and Python's."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

# malloc.h
MMAP_THRESHOLD = -3
PERTURB = -6
ARENA_MAX = -8

LARGE_BLOCK_BYTES = 1 << 20
MAX_ARENAS = 4
SCRUB_BYTE = 0xA5  # what freed blocks are filled with
# Objects between two looks for rings of them; Python's own 700 cost an ingest a tenth of its processor time.
GC_THRESHOLD = 20_000


def configure_malloc() -> None:
    """Blocks from a megabyte on are from now on given back to the system as soon as they are freed.

    Left alone, glibc raises that limit to 32 MiB when such blocks are freed, and keeps a heap for every few threads:
    merging 300,000 vectors then left 600 MB behind, with this 100 MB.
    """
    tune = _libc_function("mallopt")
    if tune is not None:
        tune(MMAP_THRESHOLD, LARGE_BLOCK_BYTES)
        tune(ARENA_MAX, MAX_ARENAS)


def scrub_freed_memory() -> None:
    """Overwrite blocks of memory when they are freed, from now on.

    A library that writes pages of which it has filled only a part writes what lay there before: words of texts that
    were forgotten got into the files of the graph in this way, once in about thirty runs.
    """
    tune = _libc_function("mallopt")
    if tune is not None:
        tune(PERTURB, SCRUB_BYTE)


def raise_gc_threshold() -> None:
    """Look for rings of unused objects less often. For whoever owns the process."""
    gc.set_threshold(GC_THRESHOLD, *gc.get_threshold()[1:])


def trim_heap() -> None:
    """Hand what lies in the free lists to the system."""
    trim = _libc_function("malloc_trim")
    if trim is not None:
        trim(0)


def _libc_function(name: str) -> Any:
    try:
        return getattr(ctypes.CDLL(None), name, None)
    except (OSError, TypeError):  # no C library can be opened like this here
        return None
