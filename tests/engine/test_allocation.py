from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from engine.allocation import give_back, return_large_blocks

STATUS = Path("/proc/self/status")


def resident() -> int:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) << 10


@pytest.mark.skipif(not STATUS.exists() or not hasattr(ctypes.CDLL(None), "mallopt"), reason="needs Linux with glibc")
def test_what_native_code_frees_leaves_the_process() -> None:
    return_large_blocks()
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
    give_back()
    assert held - before > 30 << 20
    assert resident() - before < 10 << 20


def test_without_glibc_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_library(_name: None) -> None:
        raise OSError("no such library")

    monkeypatch.setattr(ctypes, "CDLL", no_library)
    return_large_blocks()
    give_back()
