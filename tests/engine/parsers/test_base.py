from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path

import pytest

from engine.errors import DocumentTooLarge, UnsupportedFormat
from engine.parsers.base import PIECE_SIZE, read_at_most, read_file_content


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


class RecordingStream(BytesIO):
    """Notes how many bytes are asked for at once."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.asked = list[int]()

    def read(self, size: int | None = -1, /) -> bytes:
        self.asked.append(size or 0)
        return super().read(size)


@pytest.mark.parametrize("length", [0, 7, PIECE_SIZE, 2 * PIECE_SIZE + 5])
def test_memory_is_taken_for_what_there_is_and_not_for_the_limit(length: int) -> None:
    stream = RecordingStream(b"x" * length)
    assert read_at_most(stream, 1 << 30) == b"x" * length
    assert max(stream.asked) <= PIECE_SIZE


def test_no_more_than_asked_for_is_read() -> None:
    stream = BytesIO(b"x" * (PIECE_SIZE + 9))
    assert read_at_most(stream, PIECE_SIZE + 2) == b"x" * (PIECE_SIZE + 2)
    assert stream.read() == b"x" * 7
