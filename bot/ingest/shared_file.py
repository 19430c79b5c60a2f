"""A message with files, how they are ingested, and families of files in which people rarely write. Pure.

Platforms name the kind of a file by its extension, so that source code in TypeScript (.ts) is announced as film.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from bot.i18n import N_
from bot.store import FileRecord
from engine.errors import EmptyPicture, NoTextFormat
from engine.parsers.registry import PARSERS, find_by_extension

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from bot.platform.models import Message, Upload


LINK_PREFIX = "link:"  # of the id of a page that a message links to, among the files of messages
OTHER = "other"  # the family of formats that no parser knows
SENTENCES = {
    "picture": N_("I can't look at pictures."),
    "sound": N_("I can't listen to recordings."),
    "film": N_("I can't watch videos."),
    "font": N_("A font has no text that I could read."),
    "program": N_("A program has no text that I could read."),
}
HINTS = {
    "picture": N_("Write what it shows."),
    "sound": N_("Share a transcript of it."),
    "film": N_("Share a transcript of it."),
}
_MEDIA_KINDS = {"image": "picture", "audio": "sound", "video": "film", "font": "font"}
_PROGRAM_KINDS = frozenset(
    f"application/{text}"
    for text in (
        *("x-msdownload", "x-msdos-program", "vnd.microsoft.portable-executable", "x-executable", "x-sharedlib"),
        *("x-mach-binary", "java-archive", "vnd.android.package-archive", "x-apple-diskimage", "x-iso9660-image"),
        *("x-msi", "x-ms-installer", "wasm", "vnd.debian.binary-package", "x-debian-package", "x-rpm"),
    )
)
_EXTENSIONS = {
    "picture": "png jpg jpeg jfif gif webp bmp tif tiff heic heif avif ico psd cr2 nef arw dng xcf jxl jp2 tga",
    "sound": "mp3 m4a ogg oga opus wav flac aac wma aiff aif amr mid midi caf weba",
    "film": "mp4 mov mkv webm avi m4v wmv flv mpg mpeg 3gp ogv gifv m2ts",
    "font": "ttf otf woff woff2 eot ttc",
    "program": ("exe dll msi msix appx so dylib dmg pkg iso jar apk aab ipa deb rpm appimage class pyc pyd wasm lib o"),
}
_FAMILY_BY_EXTENSION = {extension: family for family, each in _EXTENSIONS.items() for extension in each.split()}
_MAX_SOURCE_SIZE = 4 * 2**20  # bytes of a file of text that is announced as film


@dataclass(frozen=True, slots=True)
class SharedFiles:
    """A message with files; `link` leads to it. `space`: the person's own space, if its files go there.

    `with_question` and `is_explicit` as in `FileIngest.ingest`. `was_announced`: the bot had
    announced that it reads the channel. `is_link`: they are pages that it links to.
    """

    message: Message
    link: str = ""
    space: str = ""
    with_question: bool = False
    is_explicit: bool = False
    was_announced: bool = False
    is_link: bool = False

    def build_record(self, upload: Upload) -> FileRecord:
        """Build the record of one of its files."""
        message = self.message
        room = self.space or message.location.room
        key = build_key(room, message.id, upload.id)
        return FileRecord(key, room, message.id, upload.id, message.author, message.time)


def build_key(room: str, message: str, upload: str) -> str:
    """The key of the document that is the upload itself; those of its parts and attachments begin with it."""
    return f"{room}:file:{message}:{upload}"


class UploadsInWork:
    """The uploads that are to be fetched, or are being read. They have no record yet."""

    def __init__(self) -> None:
        self._records: Counter[FileRecord] = Counter()

    @contextmanager
    def enter(self, records: Collection[FileRecord]) -> Iterator[None]:
        """Mark the uploads of these records as in work within the block."""
        self._records.update(records)
        try:
            yield
        finally:
            self._records -= Counter(records)

    def list_by_message(self, room: str, message: str) -> set[str]:
        """The ids of the uploads of a message that are in work."""
        return {record.upload_id for record in self._records if (record.room, record.message_id) == (room, message)}


def find_family(upload: Upload) -> str:
    """The family of a file by its name and its announced kind; empty for one that may be a document."""
    extension = PurePath(upload.name.lower()).suffix[1:]
    if upload.size <= _MAX_SOURCE_SIZE and _is_text_format(extension):
        return ""
    by_kind = "program" if upload.kind in _PROGRAM_KINDS else _find_media(upload)
    return by_kind or _FAMILY_BY_EXTENSION.get(extension, "")


def find_failed_family(upload: Upload, error: Exception) -> str:
    """The family of a file that could not be read for this reason; empty for a document that is broken."""
    found = find_family(upload) or _find_media(upload)
    if found or not isinstance(error, NoTextFormat | EmptyPicture):
        return found
    return "picture" if isinstance(error, EmptyPicture) else OTHER


def _find_media(upload: Upload) -> str:
    return _MEDIA_KINDS.get(upload.kind.partition("/")[0], "")


def _is_text_format(extension: str) -> bool:
    found = find_by_extension(extension)
    return bool(found) and not PARSERS[found].is_binary
