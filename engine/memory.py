"""Tune memory management of the process: glibc's allocator (a no-op elsewhere) and Python's garbage collector."""

from __future__ import annotations

import ctypes
import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# malloc.h
MMAP_THRESHOLD = -3
PERTURB = -6
ARENA_MAX = -8

LARGE_BLOCK_BYTES = 1 << 20
MAX_ARENAS = 4
SCRUB_BYTE = 0xA5  # freed blocks are filled with it
# Allocations between two garbage collections. Python's default of 700 cost a tenth of the processor time of an ingest.
GC_THRESHOLD = 20_000


def configure_malloc() -> None:
    """Return blocks of a megabyte or more to the system as soon as they are freed.

    By default glibc raises that limit to 32 MiB when such blocks are freed, and keeps a heap for every few threads:
    merging 300,000 vectors left 600 MB allocated, and 100 MB with this setting.
    """
    tune = _libc_function("mallopt")
    if tune is not None:
        tune(MMAP_THRESHOLD, LARGE_BLOCK_BYTES)
        tune(ARENA_MAX, MAX_ARENAS)


def scrub_freed_memory() -> None:
    """Overwrite blocks of memory when they are freed.

    A library that writes partly filled pages also writes their previous content: words of deleted texts got into the
    files of the graph in this way, in about one of thirty runs.
    """
    tune = _libc_function("mallopt")
    if tune is not None:
        tune(PERTURB, SCRUB_BYTE)


def raise_gc_threshold() -> None:
    """Run the garbage collector less often. Call it from the entry point of the process."""
    gc.set_threshold(GC_THRESHOLD, *gc.get_threshold()[1:])


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Look for no cyclic garbage inside: a large import makes next to none, and takes a fifth of its time to look."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def trim_heap() -> None:
    """Return free heap memory to the system."""
    trim = _libc_function("malloc_trim")
    if trim is not None:
        trim(0)


def _libc_function(name: str) -> Any:
    try:
        return getattr(ctypes.CDLL(None), name, None)
    except (OSError, TypeError):  # this platform has no such C library
        return None


def free_import_garbage() -> None:
    """Give what a large import left back to the system: 19 of 191 MiB after that of litellm."""
    gc.collect()
    trim_heap()
