"""The lines of a bulk export of Mattermost, and where the posts of each channel are among them."""

from __future__ import annotations

import io
import json
import tempfile
from array import array
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapters.common.export_folder import DAMAGED_HINT, ExtractedFolder, open_folder
from engine.errors import CorruptFile, InvalidDocument
from engine.parsers.base import ZIP_ERRORS
from engine.storage.disk import disk_error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from adapters.common.export_folder import ExportFolder

MAX_LINE_SIZE = 2**26  # bytes: a post with all of its replies
COPY_SIZE = 2**20  # bytes
ZIP_START = b"PK"


class LooseFile(ExtractedFolder):
    """A file of lines outside of an archive; its attachments are in a folder `data` beside it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.parent)
        self._path = path

    def list_names(self) -> list[str]:
        data = self._path.parent / "data"
        return [self._path.name, *(f"data/{name}" for name in ExtractedFolder(data).list_names())]


def open_export_folder(path: Path) -> ExportFolder:
    """The files of a ZIP archive or a folder, or one file of lines. Raises InvalidDocument."""
    if path.is_dir():
        return open_folder(path)
    with path.open("rb") as stream:
        is_archive = stream.read(2) == ZIP_START
    return open_folder(path) if is_archive else LooseFile(path)


@dataclass(slots=True)
class PostIndex:
    """The times (milliseconds since 1970) and offsets of posts."""

    times: array[int] = field(default_factory=lambda: array("q"))
    offsets: array[int] = field(default_factory=lambda: array("Q"))

    def add(self, time: int, offset: int) -> None:
        """Note the time of a post, and where its line begins in the file."""
        self.times.append(time)
        self.offsets.append(offset)

    def list_offsets(self) -> list[int]:
        """The offsets of the posts, oldest post first."""
        return [offset for _, offset in sorted(zip(self.times, self.offsets, strict=True))]


class ExportLines:
    """The objects of a file of lines, read in any order. A file in an archive is first copied to one without a name.

    `folder`: its own, ending in "/", or empty. Raises InvalidDocument, and DiskError for a copy that fits no disk.
    """

    def __init__(self, folder: ExportFolder, name: str) -> None:
        with _corrupt_on_error(name):
            self._stream = _make_seekable(folder.open(name), name)
        self._name = name
        self.folder = name.removesuffix(name.rpartition("/")[2])

    def read_all(self) -> Iterator[tuple[int, dict[str, Any] | None]]:
        """All lines with their offsets; None for one that is no object."""
        offset = 0
        with _corrupt_on_error(self._name):
            while line := self._read_line(offset):
                if line.strip():
                    yield offset, parse_line(line)
                offset += len(line)

    def read_at(self, offset: int) -> dict[str, Any]:
        """The object at an offset; empty if there is none."""
        with _corrupt_on_error(self._name):
            return parse_line(self._read_line(offset)) or {}

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def _read_line(self, offset: int) -> bytes:
        if self._stream.tell() != offset:
            self._stream.seek(offset)
        return self._stream.readline(MAX_LINE_SIZE)


def parse_line(line: bytes) -> dict[str, Any] | None:
    """The object in a line; None if there is none."""
    try:
        found = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def find_lines(names: list[str]) -> str:
    """The file of lines among the files of an export. Raises InvalidDocument."""
    found = [name for name in names if name.endswith((".jsonl", ".json")) and "data/" not in name]
    if not found:
        raise InvalidDocument("This is no bulk export of Mattermost: it has no import.jsonl.")
    return min(found, key=lambda each: (not each.endswith(".jsonl"), len(each), each))


def _make_seekable(stream: BinaryIO, name: str) -> BinaryIO:
    if isinstance(stream, io.BufferedReader):
        return stream
    with stream, ExitStack() as stack, _naming_the_disk(name):
        copy: BinaryIO = stack.enter_context(tempfile.TemporaryFile())
        while chunk := _read_chunk(stream, name):
            copy.write(chunk)
        copy.seek(0)
        stack.pop_all()  # it is closed with the export
        return copy


def _read_chunk(stream: BinaryIO, name: str) -> bytes:
    """The next bytes of a file in an archive. Raises CorruptFile."""
    with _corrupt_on_error(name):
        return stream.read(COPY_SIZE)


@contextmanager
def _naming_the_disk(name: str) -> Iterator[None]:
    """Raise DiskError for what the disk of temporary files refuses."""
    try:
        yield
    except OSError as error:
        raise disk_error(f"“{name}” cannot be unpacked", Path(tempfile.gettempdir()), error) from error


@contextmanager
def _corrupt_on_error(name: str) -> Iterator[None]:
    try:
        yield
    except ZIP_ERRORS as error:
        raise CorruptFile(f"“{name}” is damaged.", hint=DAMAGED_HINT) from error
