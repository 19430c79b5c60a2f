from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.errors import DocumentTooLarge, UnsupportedFormat
from engine.parsers.base import read_file_content


def test_a_file_that_is_too_large_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"x" * 11)
    with pytest.raises(DocumentTooLarge, match=r"a\.md"):
        read_file_content(path, 10)
    assert read_file_content(path, 11) == b"x" * 11


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.md")
    with pytest.raises(UnsupportedFormat, match=r"a\.md"):
        read_file_content(tmp_path / "a.md", 10)


def test_a_file_that_says_it_has_no_length_is_not_read_beyond_the_limit() -> None:
    with pytest.raises(DocumentTooLarge, match="status"):
        read_file_content(Path("/proc/self/status"), 10)
