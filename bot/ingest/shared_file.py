"""A message with files, and how they are ingested."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.store import FileRecord

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from bot.platform.models import Message, Upload


LINK_PREFIX = "link:"  # of the id of a page that a message links to, among the files of messages


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
