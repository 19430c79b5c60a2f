"""The files of an export, in a folder or in a ZIP archive, read without unpacking it."""

from __future__ import annotations

import zipfile
from contextlib import contextmanager
from dataclasses import replace
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, Protocol

from adapters.common.json_stream import MAX_VALUE_SIZE, JsonStream, ValueTooLarge
from engine.errors import CorruptFile, DocumentTooLarge, EncryptedFile, InvalidDocument
from engine.parsers.base import ZIP_ERRORS, read_at_most
from engine.text.cleanup import clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from bot.platform.history_source import Omissions
    from bot.platform.models import Message, Upload

ENCRYPTED_FLAG = 0x1
PAGE_SIZE = 1000  # messages
DAMAGED_HINT = "Export the workspace again."
DAMAGED_FILES = "files that are damaged, and were read up to there"
START_SIZE = 2**23  # bytes
LINE_SIZE = 2**20  # characters


class ExportFolder(Protocol):
    """Files by their path within the export, with "/" between folders."""

    def list_names(self) -> list[str]:
        """The paths of all files, sorted."""

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading. Raises InvalidDocument."""

    def close(self) -> None:
        """Close the archive."""


class ExtractedFolder:
    """An export in a folder; in its folders, too, if it is `deep`."""

    def __init__(self, root: Path, *, deep: bool = True) -> None:
        self._root = root.resolve()
        self._is_deep = deep

    def list_names(self) -> list[str]:
        paths = self._root.rglob("*") if self._is_deep else self._root.iterdir()
        return sorted(path.relative_to(self._root).as_posix() for path in paths if path.is_file())

    def open(self, name: str) -> BinaryIO:
        path = (self._root / name).resolve()
        if not path.is_relative_to(self._root):
            raise InvalidDocument(f"“{name}” leads out of the export.")
        try:
            return path.open("rb")
        except OSError as error:
            raise InvalidDocument(f"“{name}” cannot be read: {error.strerror}.") from error

    def close(self) -> None:
        pass


class ZippedFolder:
    """An export in a ZIP archive. Raises CorruptFile if it is not one."""

    def __init__(self, path: Path) -> None:
        try:
            self._archive = zipfile.ZipFile(path)
        except ZIP_ERRORS as error:
            raise CorruptFile(f"{path.name} is not a readable ZIP archive.", hint=DAMAGED_HINT) from error

    def list_names(self) -> list[str]:
        return sorted(member.filename for member in self._archive.infolist() if not member.is_dir())

    def open(self, name: str) -> BinaryIO:
        try:
            return self._archive.open(name)  # type: ignore[return-value]  # a stream of bytes
        except ZIP_ERRORS as error:
            if self._archive.getinfo(name).flag_bits & ENCRYPTED_FLAG:
                raise EncryptedFile(f"“{name}” is encrypted.") from error
            raise CorruptFile(f"“{name}” cannot be unpacked.", hint=DAMAGED_HINT) from error

    def close(self) -> None:
        self._archive.close()


def open_folder(path: Path, *, deep: bool = True) -> ExportFolder:
    """The files of a folder, with those of its folders if it is `deep`, or of a ZIP archive. Raises InvalidDocument."""
    return ExtractedFolder(path, deep=deep) if path.is_dir() else ZippedFolder(path)


def read_bytes(folder: ExportFolder, name: str, limit: int) -> bytes:
    """The bytes of a file of at most `limit` bytes, whatever it declares. Raises InvalidDocument."""
    data = _read(folder, name, limit + 1)
    if len(data) > limit:
        raise DocumentTooLarge(f"“{name}” is larger than {limit / 2**20:.0f} MiB.")
    return data


def _read(folder: ExportFolder, name: str, size: int) -> bytes:
    try:
        with folder.open(name) as stream:
            return read_at_most(stream, size)
    except ZIP_ERRORS as error:
        raise CorruptFile(f"“{name}” is damaged.", hint=DAMAGED_HINT) from error


def read_start(folder: ExportFolder, name: str) -> bytes:
    """The first bytes of a file. Raises InvalidDocument."""
    return _read(folder, name, START_SIZE)


def read_lines(folder: ExportFolder, name: str) -> Iterator[str]:
    """The lines of a text, each with its end, and at most LINE_SIZE characters. Raises InvalidDocument."""
    try:
        with folder.open(name) as stream, TextIOWrapper(stream, "utf-8-sig", "replace", newline="") as text:
            while line := text.readline(LINE_SIZE):
                yield line
    except ZIP_ERRORS as error:
        raise CorruptFile(f"“{name}” is damaged.", hint=DAMAGED_HINT) from error


@contextmanager
def open_json(folder: ExportFolder, name: str) -> Iterator[JsonStream]:
    """A JSON file. Raises InvalidDocument, also instead of what reading it raises."""
    try:
        with folder.open(name) as stream:
            yield JsonStream(stream)
    except ValueTooLarge as error:
        raise DocumentTooLarge(f"“{name}” contains a value of more than {MAX_VALUE_SIZE:,} characters.") from error
    except (*ZIP_ERRORS, RecursionError) as error:
        raise CorruptFile(f"“{name}” is not complete JSON.", hint=DAMAGED_HINT) from error


def read_rows(folder: ExportFolder, name: str) -> Iterator[dict[str, Any]]:
    """The objects of a JSON list; nothing else of it. Raises InvalidDocument, perhaps after some rows."""
    with open_json(folder, name) as content:
        yield from (item for item in content.read_items() if isinstance(item, dict))


def read_to_damage(rows: Iterable[Any], omissions: Omissions, channel: str, name: str) -> Iterator[Any]:
    """The rows of a file up to where it is damaged, which is named: the other files are read all the same."""
    try:
        yield from rows
    except (CorruptFile, DocumentTooLarge):
        omissions.note(DAMAGED_FILES, channel, name)


def clean_upload(upload: Upload) -> Upload:
    """The upload without characters that cannot be stored."""
    name, kind, url = map(clean_single_line, (upload.name, upload.kind, upload.url))
    return replace(upload, name=name or "file", kind=kind, url=url, size=max(0, upload.size))


def split_into_pages(messages: Iterable[Message]) -> Iterator[list[Message]]:
    """Pages of messages; of several with the same id in a page, the last one."""
    page: dict[str, Message] = {}
    for message in messages:
        page[message.id] = message
        if len(page) >= PAGE_SIZE:
            yield list(page.values())
            page = {}
    if page:
        yield list(page.values())


def count_up(id_: str, taken: set[str]) -> str:
    """The id, numbered if it is taken; now it is taken."""
    number, free = 1, id_
    while free in taken:
        number += 1
        free = f"{id_}-{number}"
    taken.add(free)
    return free
