"""Exported chats as the past of a workspace: each is a closed channel, since no export says who could read it."""

from __future__ import annotations

import mimetypes
import posixpath
import re
from dataclasses import dataclass, field
from hashlib import sha256
from html import unescape
from typing import TYPE_CHECKING

from adapters.chats.joining import join_exports
from adapters.common.export_folder import clean_upload, count_up, read_bytes, split_into_pages
from bot.platform.history_source import Omissions
from bot.platform.models import Channel, Location, Message, Person, Upload
from bot.platform.traits import PlatformTraits
from engine.errors import InvalidDocument
from engine.text.cleanup import clean_single_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from adapters.common.export_folder import ExportFolder
    from bot.platform.export_readers import ExportOptions

WORKSPACE = "chats"  # in place of the workspace, which these exports do not have
TAG = re.compile(r"(<[^<>]{0,2000}>)")
BREAK, CELL = (
    re.compile(r"<(?:br|/p|/div|/li|/?(?:ul|ol|table|tr))\b", re.IGNORECASE),
    re.compile(r"<(/?)t[dh]\b", re.IGNORECASE),
)
ROW = re.compile(r"</?(?:tr|table)\b", re.IGNORECASE)
BAR = " | "  # between the cells of a row
NOT_EXPORTED = "files that the export does not contain"
UNREADABLE = "messages that cannot be read"
NOTICES = "notices, such as who joined a chat"


@dataclass(frozen=True, slots=True)
class ChatLine:
    """A message of an exported chat. `files`: paths within the export; `person`: the id of `author`."""

    time: datetime
    author: str
    text: str
    files: tuple[str, ...] = ()
    id: str = ""
    person: str = ""
    replies_to: str = ""
    edited: str = ""
    forwarded: str = ""


@dataclass(slots=True)
class ExportedChat:
    """A chat with what reads each export of it, by time; `key` is the same in every export."""

    key: str
    name: str
    readers: list[Callable[[], Iterator[ChatLine]]]


@dataclass(slots=True)
class ExportedChats:
    """Implements `HistorySource`. `until`: the export ends now at the latest. `names`: its files in the folder."""

    platform: str
    folder: ExportFolder
    options: ExportOptions
    until: datetime
    names: frozenset[str]
    omissions: Omissions = field(default_factory=Omissions)
    traits: PlatformTraits = field(default_factory=PlatformTraits)
    chats: dict[str, ExportedChat] = field(default_factory=dict)
    people: dict[str, Person] = field(default_factory=dict)

    def add(self, key: str, name: str, read: Callable[[], Iterator[ChatLine]]) -> None:
        """Add a chat, or another export of one that was added."""
        id_ = sha256(key.encode(errors="surrogatepass")).hexdigest()[:16]
        self.chats.setdefault(id_, ExportedChat(key, name, [])).readers.append(read)

    def check(self, what: str, hint: str = "") -> ExportedChats:
        """The source itself. Raises InvalidDocument, with a `hint` of what to do, if it has no chats."""
        if not self.chats:
            self.folder.close()
            raise InvalidDocument(f"There is no {what} here.", hint=hint)
        return self

    def list_channels(self) -> Sequence[Channel]:
        workspace = self.options.workspace or WORKSPACE
        return [
            Channel(Location(self.platform, workspace, key), clean_single_line(each.name) or key, "closed")
            for key, each in self.chats.items()
        ]

    def read_pages(self, location: Location) -> Iterator[Sequence[Message]]:
        return split_into_pages(self._read(location))

    def get_person(self, person: str) -> Person | None:
        return self.people.get(person)

    async def to_plain_text(self, text: str) -> str:
        return text

    def message_link(self, location: Location, message: str) -> str:  # noqa: ARG002  - chats have no addresses
        return self.options.url

    async def fetch_file(self, upload: Upload, limit: int) -> bytes:
        return read_bytes(self.folder, upload.url, limit)

    def close(self) -> None:
        self.folder.close()

    def _read(self, location: Location) -> Iterator[Message]:
        chat, taken = self.chats[location.channel], set[str]()
        for line in join_exports([read() for read in chat.readers], self.names):
            author = clean_single_line(line.author) or "unknown"
            person = clean_single_line(line.person) or author
            self.people[person] = Person(person, author)
            uploads = tuple(self._find_files(chat, line))
            yield Message(
                id=line.id or count_up(f"{line.time.timestamp():.0f}", taken),
                location=location,
                author=person,
                text=line.text,
                time=line.time,
                uploads=uploads,
                edited=line.edited,
                replies_to=line.replies_to,
                forwarded=line.forwarded,
            )

    def _find_files(self, chat: ExportedChat, line: ChatLine) -> Iterator[Upload]:
        for path in line.files:
            name = posixpath.basename(path)
            if path in self.names:
                kind = mimetypes.guess_type(name)[0] or ""
                yield clean_upload(Upload(sha256(path.encode()).hexdigest()[:20], name, 0, kind, path))
            else:
                self.omissions.note(NOT_EXPORTED, chat.name, name)


def plain_text_of(html: str) -> str:
    """The words of a message in HTML."""
    pieces, is_cell = list[str](), False
    for piece in TAG.split(html):
        if not TAG.fullmatch(piece):
            text = " ".join(piece.splitlines()) if is_cell else piece
            pieces.append("" if piece.isspace() and pieces[-1:] == [BAR] else text)
        elif cell := CELL.match(piece):
            pieces.append(BAR if cell[1] or is_cell else "")  # the end of a cell may be left out
            is_cell = not cell[1]
        elif BREAK.match(piece):
            is_cell = is_cell and not ROW.match(piece)
            pieces.append(" " if is_cell else "\n")
    lines = (line.strip().removesuffix(BAR.rstrip()) for line in unescape("".join(pieces)).split("\n"))
    return "\n".join(clean_single_line(line) for line in lines if line.strip())
