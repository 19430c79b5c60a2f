"""Files without names: no folder lists them, and their pages keep their content when they leave memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.storage import mapped_file
from engine.storage.mapped_file import MappedFile


def test_pages_keep_their_content_when_they_are_released(tmp_path: Path) -> None:
    file = MappedFile(tmp_path, 1 << 20, max_resident=4_096)
    file.pages[5_000:5_004] = b"kept"
    for _ in range(3):
        file.count_read(1 << 20)
        assert file.pages[5_000:5_004] == b"kept"
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the memory of the process from Linux")
def test_what_was_read_leaves_the_memory_of_the_process(tmp_path: Path) -> None:
    size = 64 << 20
    file = MappedFile(tmp_path, size, max_resident=1 << 20)
    before = _resident()
    file.pages[:] = b"x" * size
    full = _resident()
    file.count_read(size)
    assert full - before > size // 2
    assert _resident() - before < size // 4


def test_its_place_on_the_disk_is_taken_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = os.statvfs(tmp_path).f_bavail
    file = MappedFile(tmp_path, 8 << 20, max_resident=1)
    monkeypatch.delattr(os, "posix_fallocate")
    other = MappedFile(tmp_path, len(mapped_file.ZEROS) + 5, max_resident=1)
    assert (len(file.pages), len(other.pages)) == (8 << 20, len(mapped_file.ZEROS) + 5)
    assert other.pages[-5:] == bytes(5)
    assert os.statvfs(tmp_path).f_bavail <= free


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
