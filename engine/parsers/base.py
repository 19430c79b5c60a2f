"""Result and limits of parsing a file, and reading its content within a limit."""

from __future__ import annotations

import stat
import zipfile
import zlib
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from lzma import LZMAError
from typing import TYPE_CHECKING, Protocol

from engine.errors import DocumentTooLarge, InvalidDocument, UnsupportedFormat
from engine.models import Omission as Omission  # noqa: PLC0414  - parsers take it from here
from engine.models import Passage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import BinaryIO

    from engine.models import ConvertedDocument

MIB = 1024 * 1024
# A file that unpacks to less than this is never treated as a zip bomb.
MIN_BOMB_SIZE = 8 * MIB
# Errors of zipfile on damaged or encrypted archives: its own, and those of each compression method (bz2: OSError).
ZIP_ERRORS = (
    *(zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError, KeyError, EOFError, OSError),
    *(zlib.error, LZMAError),
)
# Reasons of omissions that several parsers give; the bot translates reasons.
NO_OCR = "I can't read pictures here"
WITHOUT_WORDS = "the pictures before hold no words"
SIGNATURE = "it is a signature"
IS_PICTURE = "it holds a picture"
IS_DATA = "it is data, not text"
DAMAGED = "it cannot be read, or is damaged"
ABSENT = "it is missing from the file"
TOO_DEEP = "it lies too deep within other files"
TOO_MANY = "there are too many to list"
PIECE_SIZE = MIB  # bytes that are read at once
_HEAD_PASSAGES = 500  # parsed before the first part of a long file is sent


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file within a file, such as an attachment of an e-mail."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file within an archive, which is unpacked when its bytes are taken; that may raise an InvalidDocument."""

    name: str
    unpack: Callable[[], bytes]

    @property
    def data(self) -> bytes:
        """The unpacked bytes."""
        return self.unpack()


FileWithin = Attachment | PackedFile


@dataclass(frozen=True, slots=True)
class UnreadPicture:
    """A picture without text of its own, for a model that describes it: a JPEG.

    `key`, `label` and `position` are those of its passages.
    """

    key: str
    label: str
    position: int
    data: bytes


@dataclass(frozen=True, slots=True)
class EmbeddedPicture:
    """A picture within a document, as it is stored there; `label` says where."""

    label: str
    data: bytes


class PictureDescriber(Protocol):
    """Describes pictures in words."""

    async def describe(self, jpeg: bytes) -> str:
        """What a picture shows and the text in it, as Markdown.

        Raises EmptyDocument if no later call would succeed, else ModelError.
        """


class DocumentConverter(Protocol):
    """Turns files with some extensions (lower case, without the dot) into Markdown."""

    extensions: frozenset[str]

    async def convert(self, name: str, data: bytes) -> ConvertedDocument:
        """Convert a file; never raises because of the file or the service."""


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A parsed file. `time` is the date that the document states itself, None if it states none.

    `day` is the month and day of a document that states them without a year.
    `saved_at` is the time at which a program saved the file: used if neither the document nor its name states a date.
    `attachments` are files of their own. `key` is empty for the file itself, and differs for each of its attachments
    and of the further parts of a long file. `unread_pages` have no readable text (from 1; 0 is a picture itself).
    `pictures` are to be described. `embedded` pictures are still to be read, and loaded while they are taken. `further`
    follows `passages` in a long file and is parsed while it is taken; None ends a part, because the next piece takes
    long. `omissions`: what was seen and not read; those that are noticed late are among `further`. `coverage`: see
    `count_parts`.
    """

    title: str
    passages: tuple[Passage, ...]
    time: datetime | None = None
    day: tuple[int, int] | None = None
    saved_at: datetime | None = None
    attachments: Sequence[FileWithin] = ()
    key: str = ""
    unread_pages: tuple[int, ...] = ()
    pictures: tuple[UnreadPicture, ...] = ()
    further: Iterable[Passage | UnreadPicture | Omission | None] = ()
    embedded: Iterable[EmbeddedPicture] = ()
    omissions: tuple[Omission, ...] = ()
    coverage: str = ""

    def parse_whole(self) -> tuple[Passage, ...]:
        """All passages, including those that follow in a long file."""
        return (*self.passages, *(piece for piece in self.further if isinstance(piece, Passage)))


@dataclass(frozen=True, slots=True)
class ParserLimits:
    """Limits for one file: bytes, seconds, and characters of text; DocumentTooLarge beyond them.

    `max_unpacked_size` bounds the unpacked size of a ZIP-based format (DOCX, EPUB...), `max_unpack_ratio` its ratio to
    the file's size. `max_memory` is the address space of one worker process; `workers` is the number of files parsed at
    once. `ocr_program` is the path of tesseract, which reads scans and pictures in `ocr_languages`; empty: there is
    none. `describes_pictures`: a model describes pictures, and scans in which no text is recognized.
    `requires_sandbox`: nothing is parsed where the kernel lacks a part of the boundary.
    """

    max_file_size: int = 50 * MIB
    max_unpacked_size: int = 400 * MIB
    max_unpack_ratio: int = 200
    max_text_length: int = 100_000_000
    max_memory: int = 2048 * MIB
    timeout_seconds: float = 60.0
    workers: int = 2
    ocr_program: str = ""
    ocr_languages: str = "eng"
    describes_pictures: bool = False
    requires_sandbox: bool = False


def count_parts(read: int, total: int, unit: str) -> str:
    """How many of the parts of a file were read, "14 of 15 slides"; an empty string for all of them."""
    return f"{read} of {total} {unit}{'s' * (total != 1)}" if read < total else ""


def word_reason(error: InvalidDocument) -> str:
    """The message of an error as the reason of an omission: a clause without a full stop."""
    return str(error).strip().rstrip(".")


def stream_passages(title: str, pieces: Iterable[Passage | Omission]) -> ParsedFile:
    """A file whose first passages are parsed now, and the others while they are taken."""
    rest = iter(pieces)
    head = list(islice(rest, _HEAD_PASSAGES))
    passages = tuple(piece for piece in head if isinstance(piece, Passage))
    return ParsedFile(
        title, passages, further=rest, omissions=tuple(piece for piece in head if isinstance(piece, Omission))
    )


def read_file_content(path: Path, limit: int) -> bytes:
    """Read a regular file of at most `limit` bytes. Raises OSError, DocumentTooLarge and UnsupportedFormat."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise UnsupportedFormat(f"{path.name} is a folder, a device, a pipe or a socket.", hint="Use a regular file.")
    if found.st_size > limit:
        raise DocumentTooLarge(f"{path.name} has {found.st_size / MIB:.0f} MiB; the maximum is {limit / MIB:.0f}.")
    with path.open("rb") as file:
        data = read_at_most(file, limit + 1)  # the file may have grown
    if len(data) > limit:
        raise DocumentTooLarge(f"{path.name} has more than the maximum of {limit / MIB:.0f} MiB.")
    return data


def read_at_most(stream: BinaryIO, size: int) -> bytes:
    """The next bytes of a stream, at most `size`.

    One call of `read` takes memory for all of `size` first, and fills it after
    `engine.memory.scrub_freed_memory`: 1 GiB for a chat of a kilobyte.
    """
    data = BytesIO()
    while data.tell() < size and (piece := stream.read(min(PIECE_SIZE, size - data.tell()))):
        data.write(piece)
    return data.getvalue()
