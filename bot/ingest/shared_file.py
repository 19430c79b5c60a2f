"""A message with files, and how they are ingested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.store import FileRecord

if TYPE_CHECKING:
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
        return FileRecord(
            f"{room}:file:{message.id}:{upload.id}", room, message.id, upload.id, message.author, message.time
        )
