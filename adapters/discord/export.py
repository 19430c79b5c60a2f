"""Read channels that DiscordChatExporter wrote: a folder or ZIP archive, a file for each channel or thread.

JSON has everything. CSV, HTML and plain text say less: the channel is in the name of the file, and times may have no
zone.
"""

from __future__ import annotations

import mimetypes
import posixpath
import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from adapters.common.download import Downloader, FileHosts
from adapters.common.export_folder import (
    clean_upload,
    open_folder,
    open_json,
    read_bytes,
    read_lines,
    read_start,
    read_to_damage,
    split_into_pages,
)
from adapters.common.json_fields import get_row, get_rows
from adapters.discord.exports.identity import (
    DIRECT_GUILD,
    DIRECT_MESSAGES,
    fold,
    invent_id,
    number_parts,
    read_identity,
)
from adapters.discord.exports.overlap import ReadMessages
from adapters.discord.exports.pages import (
    READERS,
    TEXT,
    Page,
    WholeFiles,
    ending_of,
    find_fuller,
    path_of,
    unite_pages,
)
from adapters.discord.exports.times import DateOrders
from adapters.discord.gateway import FILE_HOSTS
from adapters.discord.guild.markup import to_plain_text
from adapters.discord.guild.message_text import render_message
from adapters.discord.settings import TRAITS
from adapters.discord.translate import NAME, thread_location
from bot.platform.history_source import Omissions
from bot.platform.models import Channel, Location, Message, Person, Upload
from bot.text.format import EPOCH
from engine.errors import CorruptFile, DocumentTooLarge, InvalidDocument
from engine.text.cleanup import clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from adapters.common.export_folder import ExportFolder
    from bot.platform.export_readers import ExportOptions
    from engine import Clock

MESSAGES = "messages"  # a key of these files
NO_SERVER = "files that do not name their server (--workspace says it)"
MAY_BE_DIRECT = "files that do not say whether they are direct messages (--direct-messages includes them)"
NO_SERVER_BESIDE_DIRECT = "files that name no server and may be direct messages, as others here (import them alone)"
LESSER = "messages that are here in a form that says more (JSON, then HTML, then CSV)"
TWICE = "messages that another file of the channel has, too"
NO_DIRECT = "direct messages (--direct-messages includes them)"
PERSON_MESSAGES = frozenset({"Default", "Reply", "20", "23", "46"})  # 20 and 23: replies to commands; 46: of a poll
THREAD_TYPES = frozenset({"GuildPublicThread", "GuildPrivateThread", "GuildNewsThread"})
PRIVATE_THREAD = "GuildPrivateThread"
ID = re.compile(r"[0-9]{1,20}")


def open_export(path: Path, options: ExportOptions, *, clock: Clock) -> DiscordExport:
    """Open an export. Raises InvalidDocument."""
    return DiscordExport(open_folder(path), options, clock.now())


@dataclass(slots=True)
class ExportedRoom:
    """A channel with its files, the channel's own one first, and the location and thread name of each."""

    channel: Channel
    files: list[tuple[str, Location, str]] = field(default_factory=list)


class DiscordExport:
    """Implements `HistorySource`. Raises InvalidDocument if there is no exported channel.

    The files do not say who can read a channel, so that all of them count as closed. `now`: the latest time of an
    export.
    """

    platform = NAME
    traits = TRAITS

    def __init__(self, folder: ExportFolder, options: ExportOptions, now: datetime) -> None:
        self.omissions = Omissions()
        self.until = EPOCH
        self._now = now
        self._folder = folder
        self._people: dict[str, Person] = {}
        self._downloader = Downloader("Discord", FileHosts(FILE_HOSTS))
        self._rooms: dict[str, ExportedRoom] = {}
        self._guilds: dict[str, str] = {}  # those of JSON files by name
        self._orders = DateOrders(self._read_times)
        self._fuller: Mapping[str, Sequence[str]] = {}
        self._read: tuple[Sequence[str], ReadMessages] = ((), ReadMessages())  # of the files that were compared last
        names = [name for name in folder.list_names() if "_Files/" not in name]
        whole = WholeFiles()
        for name in (path for path in names if ending_of(path) == ".json"):
            self._add_file(name, whole, direct=options.direct_messages)
        pages = [path for path in names if ending_of(path) in READERS]
        self._parts = number_parts(pages)
        self._add_pages(pages, whole, options)
        if not self._rooms and self.omissions[NO_SERVER]:
            raise InvalidDocument("The files do not name their server.", hint="Name it with --workspace.")
        if not self._rooms and self.omissions[MAY_BE_DIRECT]:
            raise InvalidDocument(
                "The files do not say whether they are of a server or direct messages.",
                hint="Import them with --direct-messages if people agreed, or if they are of a server.",
            )
        if not self._rooms and not +self.omissions:
            raise InvalidDocument("There is no channel here that DiscordChatExporter wrote as JSON, CSV, HTML or text.")

    def list_channels(self) -> Sequence[Channel]:
        return [room.channel for room in self._rooms.values()]

    def read_pages(self, location: Location) -> Iterator[Sequence[Message]]:
        read: dict[str, set[int]] = {}  # the ids of messages by their channel or thread
        for name, where, thread in self._rooms[location.room].files:
            channel = self._rooms[where.room].channel.name
            new = self._read_new(name, channel, read.setdefault(where.thread or where.channel, set()))
            rows = read_to_damage(new, self.omissions, channel, name)
            parsed = filter(None, (self._parse(message, name, where) for message in rows))
            yield from split_into_pages(_with_title(parsed, thread))

    def get_person(self, person: str) -> Person | None:
        return self._people.get(person)

    async def to_plain_text(self, text: str) -> str:
        return await to_plain_text(text, None, self._name)

    def message_link(self, location: Location, message: str) -> str:
        channel = location.thread or location.channel
        return f"https://discord.com/channels/{location.workspace or '@me'}/{channel}/{message}"

    async def fetch_file(self, upload: Upload, limit: int) -> bytes:
        if "://" not in upload.url:
            return read_bytes(self._folder, upload.url, limit)
        _, data = await self._downloader.download(upload, limit)
        return data

    def close(self) -> None:
        self._folder.close()

    async def _name(self, person: str) -> str:
        found = self._people.get(person)
        return found.name if found else "somebody"

    def _add_file(self, name: str, whole: WholeFiles, *, direct: bool) -> None:
        """Add an exported channel or thread; other files are counted."""
        header = self._read_header(name)
        if header is None:
            self.omissions.note("JSON files that are no exported channels", name=name)
            return
        guild, channel = _parse_id(header["guild"]["id"]), header["channel"]
        if guild == DIRECT_GUILD:
            whole.direct.add(_parse_id(channel["id"]))
            if not direct:
                self.omissions[NO_DIRECT] += 1
                return
        else:
            self._guilds[fold(str(header["guild"].get("name")))] = guild
        location, is_thread = _locate(guild, channel), str(channel.get("type")) in THREAD_TYPES
        whole.add(name, _parse_id(channel["id"]), path_of(header), location)
        entry = name, location, str(channel.get("name") or "") if is_thread else ""
        title = str(channel.get("category" if is_thread and location.thread != location.channel else "name") or "")
        found = Channel(location.without_thread, clean_single_line(title), "closed")
        room = self._rooms.setdefault(location.room, ExportedRoom(found))
        room.files.insert(len(room.files) if is_thread else 0, entry)
        self.until = max(self.until, min(_parse_time(header.get("exportedAt"), self.until), self._now))

    def _add_pages(self, names: Iterable[str], whole: WholeFiles, options: ExportOptions) -> None:
        """Add the channels that were exported in other forms."""
        pages = unite_pages(filter(None, map(self._identify, names)), whole)
        self._fuller = find_fuller(pages, whole)
        has_direct = bool(whole.direct) or any(page.identity.guild == DIRECT_MESSAGES for page in pages)
        for name, identity in sorted(pages, key=lambda page: self._parts.get(page.name, 0)):
            place = whole.places.get(identity.channel)
            guild = (
                place.workspace or DIRECT_GUILD
                if place
                else self._find_guild(identity.guild, options.workspace, has_direct=has_direct)
            )
            if not guild:
                self.omissions.note(NO_SERVER_BESIDE_DIRECT if has_direct else NO_SERVER, name=name)
                continue
            if guild == DIRECT_GUILD and not options.direct_messages:
                self.omissions[NO_DIRECT] += 1
                continue
            if not (place or identity.guild or options.direct_messages):
                self.omissions.note(MAY_BE_DIRECT, name=name)
                continue
            location, title = place or _locate(guild, {"id": identity.channel}), clean_single_line(identity.name)
            self._orders.add(name, location.room)
            room = self._rooms.setdefault(location.room, ExportedRoom(Channel(location, title, "closed")))
            room.files.append((name, location, ""))
            self.until = max(self.until, self._now)

    def _identify(self, name: str) -> Page | None:
        """A file with its channel; None for another file, which is counted."""
        start = b"" if ending_of(name) == ".csv" and read_identity(name) else read_start(self._folder, name)
        identity = read_identity(name, start, is_part=name in self._parts)
        if identity is None and not name.lower().endswith(TEXT):  # of anything
            self.omissions.note("CSV, HTML and text files that are no exported channels", name=name)
        return Page(name, identity) if identity else None

    def _read_times(self, name: str) -> Iterable[str]:
        return READERS[ending_of(name)].read_times(read_lines(self._folder, name))

    def _find_guild(self, name: str, workspace: str, *, has_direct: bool) -> str:
        """The server of a file: as the person or the JSON files say, else of its own name; empty if nothing says it.

        `has_direct`: a file of this export that names no server can be of direct messages.
        """
        if name == DIRECT_MESSAGES:
            return DIRECT_GUILD
        if not name and has_direct:
            return ""
        if workspace:
            return _guild_of(workspace)
        if name:
            return self._guilds.get(fold(name)) or invent_id(name)
        return next(iter(self._guilds.values())) if len(self._guilds) == 1 else ""

    def _read_header(self, name: str) -> Mapping[str, Any] | None:
        """What a file says about itself before its messages; None if it is not an exported channel."""
        try:
            with open_json(self._folder, name) as content:
                header = content.read_members(until=MESSAGES)
        except (CorruptFile, DocumentTooLarge):
            return None
        known = (header.get(key) for key in ("guild", "channel"))
        return (
            header
            if all(isinstance(message, dict) and ID.fullmatch(str(message.get("id"))) for message in known)
            else None
        )

    def _read_new(self, name: str, channel: str, read: set[int]) -> Iterator[Any]:
        """The messages of a file without those that other files of its channel have, which are counted.

        `read`: the ids of messages of these, to which those of the file are added where messages have none of their
        own, whose edits would be seen.
        """
        reader, fuller = READERS.get(ending_of(name)), self._fuller.get(name)
        if reader is None or (reader.has_ids and not fuller):
            yield from self._read_messages(name)
            return
        known = self._read_fuller(fuller) if fuller else None
        for payload in self._read_messages(name):
            id_ = 0 if reader.has_ids else int(payload.get("id", 0))
            if known and known.has(payload, by_id=reader.has_ids):
                self.omissions.note(LESSER, channel, name)
            elif id_ and id_ in read:
                self.omissions.note(TWICE, channel, name)
            else:
                read.add(id_)
                yield payload

    def _read_fuller(self, names: Sequence[str]) -> ReadMessages:
        if self._read[0] != names:
            self._read = names, ReadMessages()
            for name in names:
                with suppress(CorruptFile, DocumentTooLarge):  # said where the file itself is read
                    self._read[1].add_file(self._read_messages(name))
        return self._read[1]

    def _read_messages(self, name: str) -> Iterator[Any]:
        if (reader := READERS.get(ending_of(name))) is not None:
            yield from reader.read_payloads(partial(read_lines, self._folder, name), self._orders.find(name))
            return
        with open_json(self._folder, name) as content:
            content.read_members(until=MESSAGES)
            yield from content.read_items()

    def _parse(self, payload: Any, name: str, where: Location) -> Message | None:
        try:
            if str(payload.get("type", "Default")) not in PERSON_MESSAGES:
                self.omissions.note("notices, such as who joined a server", self._rooms[where.room].channel.name)
                return None
            self._remember(payload["author"])
            return _parse_message(payload, posixpath.dirname(name), where)
        except (KeyError, ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            channel = self._rooms[where.room].channel.name
            self.omissions.note("messages that cannot be read", channel, _name_row(payload, name))
            return None

    def _remember(self, author: Mapping[str, Any]) -> None:
        id_ = _parse_id(author["id"])
        name = author.get("nickname") or author.get("name") or id_
        self._people[id_] = Person(id_, str(name), is_bot=bool(author.get("isBot")))


def _name_row(payload: Any, name: str) -> str:
    """How a message that cannot be read is named: by the line of its file, or by how it begins."""
    is_row = isinstance(payload, dict) and payload.keys() == {"line"}
    return f"{posixpath.basename(name)}, line {payload['line']}" if is_row else str(payload)[:60]


def _guild_of(workspace: str) -> str:
    """The server that the person named: an id, or a name of which one is derived."""
    return invent_id(workspace) if workspace and not ID.fullmatch(workspace) else workspace


def _parse_id(found: object) -> str:
    """An id of Discord; others could be the name of another room or space. Raises ValueError."""
    if not ID.fullmatch(str(found)):
        raise ValueError(f"{found!r:.40} is no id.")
    return str(int(str(found)))


def _locate(guild: str, channel: Mapping[str, Any]) -> Location:
    own, kind = _parse_id(channel["id"]), str(channel.get("type"))
    if guild == DIRECT_GUILD:
        return Location(NAME, "", own)
    parent = str(channel.get("categoryId"))
    if kind in THREAD_TYPES and ID.fullmatch(parent):
        return thread_location(int(guild), int(own), int(parent), private=kind == PRIVATE_THREAD)
    return Location(NAME, guild, own)


def _with_title(messages: Iterable[Message], thread: str) -> Iterator[Message]:
    """The messages, the first of a thread or forum post with its title: it need not be the one that began it."""
    return (replace(message, title="" if number else thread) for number, message in enumerate(messages))


def _parse_message(payload: Mapping[str, Any], folder: str, where: Location) -> Message:
    """Convert a message. Raises KeyError, ValueError."""
    id_, author = _parse_id(payload["id"]), payload["author"]
    reference, forwarded = get_row(payload, "reference"), get_row(payload, "forwardedMessage")
    rendered = render_message(
        dict(payload)
        | {
            "message_reference": {"channel_id": str(reference.get("channelId") or "")},
            "message_snapshots": [{"message": forwarded}] if forwarded else [],
        },
        by_bot=bool(author.get("isBot")),
    )
    files = [*get_rows(payload, "attachments"), *get_rows(forwarded, "attachments")]
    return Message(
        id=id_,
        location=where,
        author=_parse_id(author["id"]),
        text=rendered.text,
        time=_parse_time(payload["timestamp"]),
        uploads=tuple(_parse_upload(file, folder) for file in files),
        edited=str(payload.get("timestampEdited") or ""),
        by_bot=bool(author.get("isBot")),
        replies_to=str(reference.get("messageId") or "") if payload.get("type") == "Reply" else "",
        forwarded=rendered.forwarded,
        previews=rendered.previews,
    )


def _parse_upload(attachment: Mapping[str, Any], folder: str) -> Upload:
    """Convert an attachment; its URL is a path within the export if the file was exported too."""
    name, url = str(attachment.get("fileName") or "file"), str(attachment.get("url") or "")
    if "://" not in url:
        url = posixpath.normpath(posixpath.join(folder, unquote(url.replace("\\", "/"))))
    kind = mimetypes.guess_type(name)[0] or ""
    return clean_upload(Upload(_parse_id(attachment["id"]), name, int(attachment.get("fileSizeBytes") or 0), kind, url))


def _parse_time(text: object, default: datetime | None = None) -> datetime:
    """A time, in UTC if it names no zone. Raises ValueError unless there is a default."""
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        if default is None:
            raise
        return default
    return found if found.tzinfo else found.replace(tzinfo=UTC)
