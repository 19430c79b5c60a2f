"""In processes of their own: memory that other tests have freed would be counted too."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

from engine.memory import (
    GC_THRESHOLD,
    configure_malloc,
    free_import_garbage,
    pause_garbage_collection,
    raise_gc_threshold,
    trim_heap,
)

needs_glibc = pytest.mark.skipif(
    not Path("/proc/self/status").exists() or not hasattr(ctypes.CDLL(None), "mallopt"), reason="needs Linux with glibc"
)
LIBRARY = """
import ctypes
from pathlib import Path
from engine.memory import configure_malloc, scrub_freed_memory, trim_heap

library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.free.argtypes = [ctypes.c_void_p]

def resident():
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) << 10

def allocate(count, size):
    blocks = [library.malloc(size) for _ in range(count)]
    for block in blocks:
        ctypes.memset(block, ord("x"), size)
    return blocks

def free(blocks):
    for block in blocks:
        library.free(block)
"""
TRIMMING = """
configure_malloc()
before = resident()
blocks = allocate(20, 2 << 20)
held = resident()
free(blocks)
trim_heap()
assert held - before > 30 << 20
assert resident() - before < 10 << 20
"""
SCRUBBING = """
scrub_freed_memory()
free(allocate(50, 4096))
assert not any(b"xxxx" in ctypes.string_at(library.malloc(4096), 4096) for _ in range(50))
"""


@needs_glibc
@pytest.mark.parametrize("program", [TRIMMING, SCRUBBING], ids=["leaves the process", "is overwritten"])
def test_memory_that_native_code_frees(program: str) -> None:
    subprocess.run([sys.executable, "-c", LIBRARY + program], check=True, cwd=Path(__file__).parents[2])


def test_without_glibc_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_library(_name: None) -> None:
        raise OSError("no such library")

    monkeypatch.setattr(ctypes, "CDLL", no_library)
    configure_malloc()
    trim_heap()


def test_cyclic_garbage_is_collected_less_often() -> None:
    former = gc.get_threshold()
    try:
        raise_gc_threshold()
        assert gc.get_threshold() == (GC_THRESHOLD, *former[1:])
    finally:
        gc.set_threshold(*former)


def test_garbage_collection_pauses_and_goes_on_as_it_was() -> None:
    assert gc.isenabled()
    with pause_garbage_collection():
        assert not gc.isenabled()
        with pause_garbage_collection():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_garbage_of_a_large_import_is_freed_while_collection_pauses() -> None:
    class Left:
        def __init__(self) -> None:
            self.own = self

    with pause_garbage_collection():
        left = weakref.ref(Left())
        assert left() is not None
        free_import_garbage()
        assert left() is None
