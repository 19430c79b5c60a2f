"""Read what slackdump stores, a database or recorded replies of Slack, as the files of an export."""

from __future__ import annotations

import gzip
import io
import json
import re
import sqlite3
import zlib
from contextlib import closing
from typing import TYPE_CHECKING, Any, Protocol

from adapters.common.export_folder import DAMAGED_HINT
from adapters.common.json_fields import get_row, get_text, iterate_rows
from engine.errors import CorruptFile, InvalidDocument
from engine.parsers.base import ZIP_ERRORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import BinaryIO

    from adapters.common.export_folder import ExportFolder

    Row = Mapping[str, Any]

DATABASE = "slackdump.sqlite"
RECORDING = re.compile(r"([a-z]+|[CGD][A-Z0-9]{6,})(?:-[0-9.]+)?\.json\.gz")
CHANNEL_FILE = re.compile(r"([CGD][A-Z0-9]{6,})\.json")
MAX_LINE = 2**26  # bytes of one recorded reply
# The latest version of each message, oldest first; a message that was fetched again has a row for each time.
LATEST_MESSAGES = """
SELECT data, MAX(chunk_id) FROM message WHERE channel_id = ? GROUP BY id ORDER BY CAST(ts AS REAL)
"""
LATEST_ROWS = "SELECT data, MAX(chunk_id) FROM {table} GROUP BY id ORDER BY id"
LISTED_CHANNELS = "SELECT DISTINCT channel_id FROM message"
TABLES = {"message", "channel", "s_user"}
DATABASE_ERRORS = (sqlite3.Error, zlib.error, ValueError)


class Archive(Protocol):
    """People, channels and messages as slackdump stores them. Every method raises InvalidDocument."""

    files: frozenset[str]

    def list_users(self) -> Iterator[Row]:
        """The people, as Slack describes them."""

    def list_channels(self) -> Iterator[Row]:
        """The channels, as Slack describes them."""

    def list_channel_ids(self) -> list[str]:
        """The channels of which there are messages."""

    def read_messages(self, channel: str) -> Iterator[Row]:
        """The messages of a channel, oldest first, each once."""

    def close(self) -> None:
        """Close its files."""


def open_archive(folder: ExportFolder, path: Path) -> ExportFolder:
    """The folder as an export, if it holds what slackdump stores; else the folder itself. Raises InvalidDocument."""
    names = folder.list_names()
    if DATABASE in names and path.is_dir():
        return ArchiveFolder(folder, Database(path / DATABASE))
    recordings = [name for name in names if RECORDING.fullmatch(name)]
    return ArchiveFolder(folder, Recordings(folder, recordings)) if recordings else folder


class ArchiveFolder:
    """Implements `ExportFolder`: lists and a file for each channel in place of the files of an archive."""

    def __init__(self, folder: ExportFolder, archive: Archive) -> None:
        self._folder, self._archive = folder, archive
        self._lists: dict[str, Callable[[], Iterable[Row]]] = {"users.json": archive.list_users}
        for name in ("channels.json", "groups.json", "mpims.json", "dms.json"):
            self._lists[name] = lambda name=name: (  # type: ignore[misc]  # the name of this pass
                channel for channel in archive.list_channels() if _list_of(channel) == name
            )

    def list_names(self) -> list[str]:
        others = (name for name in self._folder.list_names() if name not in self._archive.files)
        channels = (f"{channel_id}.json" for channel_id in self._archive.list_channel_ids())
        return sorted({*others, *self._lists, *channels})

    def open(self, name: str) -> BinaryIO:
        if name in self._lists:
            return _stream("[", self._lists[name](), "]")
        if match := CHANNEL_FILE.fullmatch(name):
            return _stream('{"messages": [', self._archive.read_messages(match[1]), "]}")
        return self._folder.open(name)

    def close(self) -> None:
        self._archive.close()
        self._folder.close()


class Database:
    """Implements `Archive` for the database of slackdump 3 and newer."""

    def __init__(self, path: Path) -> None:
        self.files = frozenset({DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"})
        try:
            self._connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)
            self._connection.execute("PRAGMA trusted_schema = OFF")
            found = self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            tables = {name.lower() for (name,) in found}
        except sqlite3.Error as error:
            raise CorruptFile(f"“{DATABASE}” cannot be read.", hint=DAMAGED_HINT) from error
        if not tables >= TABLES:
            self.close()
            raise InvalidDocument(f"“{DATABASE}” is no archive of slackdump.")

    def list_users(self) -> Iterator[Row]:
        return self._read(LATEST_ROWS.format(table="s_user"))

    def list_channels(self) -> Iterator[Row]:
        return self._read(LATEST_ROWS.format(table="channel"))

    def list_channel_ids(self) -> list[str]:
        try:
            found = [str(id_) for (id_,) in self._connection.execute(LISTED_CHANNELS)]
        except sqlite3.Error as error:
            raise CorruptFile(f"“{DATABASE}” is damaged.", hint=DAMAGED_HINT) from error
        return sorted(name for name in found if CHANNEL_FILE.fullmatch(f"{name}.json"))

    def read_messages(self, channel: str) -> Iterator[Row]:
        return self._read(LATEST_MESSAGES, channel)

    def close(self) -> None:
        self._connection.close()

    def _read(self, statement: str, *values: str) -> Iterator[Row]:
        """The JSON of rows; what is no object is left out."""
        try:
            with closing(self._connection.execute(statement, values)) as rows:
                for data, _ in rows:
                    if isinstance(found := json.loads(_inflate(data)), dict):
                        yield found
        except DATABASE_ERRORS as error:
            raise CorruptFile(f"“{DATABASE}” is damaged.", hint=DAMAGED_HINT) from error


class Recordings:
    """Implements `Archive` for the replies of Slack that slackdump records, one a line, in a file for each channel."""

    def __init__(self, folder: ExportFolder, names: list[str]) -> None:
        self.files = frozenset(names)
        self._folder = folder

    def list_users(self) -> Iterator[Row]:
        return (user for reply in self._read_all() for user in iterate_rows(reply.get("u")))

    def list_channels(self) -> Iterator[Row]:
        found = {}
        for reply in self._read_all():
            for row in (*iterate_rows(reply.get("ch")), get_row(reply, "ci")):
                if id_ := get_text(row, "id"):
                    found[id_] = row
        return iter(found.values())

    def list_channel_ids(self) -> list[str]:
        return sorted({match[1] for file in self.files if (match := RECORDING.fullmatch(file)) and match[1].isupper()})

    def read_messages(self, channel: str) -> Iterator[Row]:
        """The messages by their times; the replies of Slack begin with the newest."""
        found: dict[float, bytes] = {}
        for name in sorted(self.files):
            if name.startswith(channel):
                for row in (row for reply in self._read(name) for row in _list_messages(reply)):
                    found[_time_of(row)] = json.dumps(row).encode()
        return (json.loads(found[time]) for time in sorted(found))

    def close(self) -> None:
        pass

    def _read_all(self) -> Iterator[Row]:
        return (reply for name in sorted(self.files) for reply in self._read(name))

    def _read(self, name: str) -> Iterator[Row]:
        try:
            with self._folder.open(name) as packed, gzip.open(packed) as lines:
                while line := lines.readline(MAX_LINE):
                    if isinstance(found := json.loads(line), dict):
                        yield found
        except (*ZIP_ERRORS, ValueError, RecursionError) as error:
            raise CorruptFile(f"“{name}” is damaged.", hint=DAMAGED_HINT) from error


def _list_messages(reply: Row) -> list[Row]:
    """The messages of a recorded reply, with the one above a thread."""
    parent = get_row(reply, "p")
    return [*([parent] if parent else []), *iterate_rows(reply.get("m"))]


def _list_of(channel: Row) -> str:
    """The list in which an export of Slack has a channel."""
    if channel.get("is_im"):
        return "dms.json"
    if channel.get("is_mpim"):
        return "mpims.json"
    return "groups.json" if channel.get("is_private") or channel.get("is_group") else "channels.json"


def _time_of(message: Row) -> float:
    try:
        return float(get_text(message, "ts"))
    except ValueError:
        return 0.0


def _inflate(data: bytes | str) -> bytes | str:
    """The JSON of a row, which some versions compress."""
    if isinstance(data, str) or data[:1] in {b"{", b"[", b""}:
        return data
    return zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, MAX_LINE)


def _stream(start: str, rows: Iterable[Row], end: str) -> BinaryIO:
    """JSON text with these rows, made as it is read."""
    return io.BufferedReader(_PieceStream(_write_pieces(start, rows, end)))


def _write_pieces(start: str, rows: Iterable[Row], end: str) -> Iterator[bytes]:
    yield start.encode()
    for number, row in enumerate(rows):
        yield (", " if number else "").encode() + json.dumps(row).encode()
    yield end.encode()


class _PieceStream(io.RawIOBase):
    """A stream of the pieces that something yields."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        super().__init__()
        self._pieces, self._rest = pieces, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            self._rest = memoryview(next(self._pieces, b""))
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size
