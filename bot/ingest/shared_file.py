"""A message with files, and how they are ingested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.store import FileRecord

if TYPE_CHECKING:
    from bot.platform.models import Message, Upload


@dataclass(frozen=True, slots=True)
class SharedFiles:
    """`link` leads to the message; `space`: the person's own one, if its files go there.

    `asked` and `wished` as of Filing.take. `told`: its channel had been told that it is read.
    """

    message: Message
    link: str = ""
    space: str = ""
    with_question: bool = False
    is_explicit: bool = False
    was_announced: bool = False

    def build_record(self, upload: Upload) -> FileRecord:
        """The record of one of its files."""
        said = self.message
        room = self.space or said.location.room
        return FileRecord(f"{room}:file:{said.id}:{upload.id}", room, said.id, upload.id, said.author, said.time)
