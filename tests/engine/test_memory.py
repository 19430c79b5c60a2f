from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
from pathlib import Path

import pytest

from engine.memory import GC_THRESHOLD, configure_malloc, raise_gc_threshold, trim_heap

STATUS = Path("/proc/self/status")


ALONE = """
import ctypes
from pathlib import Path
from engine.memory import configure_malloc, trim_heap

def resident():
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) << 10

configure_malloc()
library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.free.argtypes = [ctypes.c_void_p]
before = resident()
blocks = [library.malloc(2 << 20) for _ in range(20)]
for block in blocks:
    ctypes.memset(block, 1, 2 << 20)
held = resident()
for block in blocks:
    library.free(block)
trim_heap()
assert held - before > 30 << 20
assert resident() - before < 10 << 20
"""


@pytest.mark.skipif(not STATUS.exists() or not hasattr(ctypes.CDLL(None), "mallopt"), reason="needs Linux with glibc")
def test_what_native_code_frees_leaves_the_process() -> None:
    """In a process of its own: what others have freed in this one would be counted too."""
    subprocess.run([sys.executable, "-c", ALONE], check=True, cwd=Path(__file__).parents[2])


def test_without_glibc_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_library(_name: None) -> None:
        raise OSError("no such library")

    monkeypatch.setattr(ctypes, "CDLL", no_library)
    configure_malloc()
    trim_heap()


def test_rings_of_objects_are_looked_for_less_often() -> None:
    former = gc.get_threshold()
    try:
        raise_gc_threshold()
        assert gc.get_threshold() == (GC_THRESHOLD, *former[1:])
    finally:
        gc.set_threshold(*former)


SCRUBBING = """
import ctypes
from engine.memory import scrub_freed_memory

scrub_freed_memory()
library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.free.argtypes = [ctypes.c_void_p]
blocks = [library.malloc(4096) for _ in range(50)]
for block in blocks:
    ctypes.memset(block, ord("x"), 4096)
for block in blocks:
    library.free(block)
assert not any(b"xxxx" in ctypes.string_at(library.malloc(4096), 4096) for _ in range(50))
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="only glibc can be tuned")
def test_freed_memory_is_overwritten() -> None:
    subprocess.run([sys.executable, "-c", SCRUBBING], check=True, cwd=Path(__file__).parents[2])
