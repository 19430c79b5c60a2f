"""Read a bulk export of Mattermost: a ZIP archive or folder with import.jsonl and the files of posts in `data`.

It says who was in a channel and who could see it. It has no ids, so that names identify teams, channels and people.
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from adapters.common.export_folder import count_up, read_bytes, split_into_pages
from adapters.mattermost import posts
from adapters.mattermost.lines import ExportLines, PostIndex, find_lines, open_export_folder
from bot.platform.history_source import Omissions
from bot.platform.models import Channel, Location, Person, select_guests
from bot.platform.traits import PlatformTraits
from engine.errors import InvalidDocument
from engine.text.cleanup import clean_single_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from adapters.common.export_folder import ExportFolder
    from bot.platform.export_readers import ExportOptions
    from bot.platform.models import Message, Upload
    from engine import Clock

NAME = "mattermost"
TRAITS = PlatformTraits()
MALFORMED = (KeyError, ValueError, TypeError, AttributeError, OverflowError, OSError, RecursionError)
IGNORED = frozenset({"version", "role", "scheme", "emoji", "team"})
OPEN_CHANNEL, OPEN_SIGN, DIRECT_SIGN = "O", "~", "@"  # the signs keep names apart from those of spaces
GUEST_ROLES = frozenset({"system_guest", "team_guest", "channel_guest"})
_NAME = re.compile(posts.NAME)


def open_export(path: Path, options: ExportOptions, *, clock: Clock) -> MattermostExport:
    """Open an export. Raises InvalidDocument."""
    with ExitStack() as stack:
        folder = open_export_folder(path)
        stack.callback(folder.close)
        lines = ExportLines(folder, find_lines(folder.list_names()))
        stack.callback(lines.close)
        export = MattermostExport(folder, lines, options, clock.now())
        stack.pop_all()
    return export


@dataclass(slots=True)
class ExportedChannel:
    """A channel and its posts."""

    channel: Channel
    posts: PostIndex = field(default_factory=PostIndex)


class MattermostExport:
    """Implements `HistorySource`. Raises InvalidDocument if this is no export.

    A channel that was archived, that two lines describe, or that none describes counts as closed. `now`: the latest
    time of a post.
    """

    platform = NAME
    traits = TRAITS

    def __init__(self, folder: ExportFolder, lines: ExportLines, options: ExportOptions, now: datetime) -> None:
        self.omissions = Omissions()
        self._folder = folder
        self._files = frozenset(folder.list_names())
        self._lines = lines
        self._options = options
        self._people: dict[str, Person] = {}
        self._members: dict[str, set[str]] = {}  # the present members of each room
        self._rooms: dict[str, ExportedChannel] = {}
        self._open_names: set[str] = set()
        self._newest = 0  # milliseconds since 1970
        self._read_index()
        self._finish_channels()
        self.until = datetime.fromtimestamp(min(self._newest / 1000, now.timestamp()), UTC)

    def list_channels(self) -> Sequence[Channel]:
        return [listed.channel for listed in self._rooms.values()]

    def read_pages(self, location: Location) -> Iterator[Sequence[Message]]:
        return split_into_pages(self._read_messages(location.without_thread))

    def get_person(self, person: str) -> Person | None:
        return self._people.get(person)

    async def to_plain_text(self, text: str) -> str:
        return posts.to_plain_text(text, self._person_name, self._open_name)

    def message_link(self, location: Location, message: str) -> str:  # noqa: ARG002 - an export has no ids of posts
        """The address of the channel."""
        url = self._options.url.rstrip("/")
        if not url or location.channel.startswith(DIRECT_SIGN):
            return url
        return f"{url}/{location.workspace}/channels/{location.channel.removeprefix(OPEN_SIGN)}"

    async def fetch_file(self, upload: Upload, limit: int) -> bytes:
        if not upload.url:
            raise InvalidDocument(f"“{upload.name}” is not in the export.")
        return read_bytes(self._folder, upload.url, limit)

    def close(self) -> None:
        self._lines.close()
        self._folder.close()

    def _read_index(self) -> None:
        readers: Mapping[str, Callable[[Mapping[str, Any], int], None]] = {
            "channel": self._add_channel,
            "user": self._add_user,
            "bot": self._add_bot,
            "direct_channel": self._add_direct_channel,
            "post": self._add_post,
            "direct_post": self._add_post,
        }
        is_export = False
        for offset, line in self._lines.read_all():
            kind = str((line or {}).get("type"))
            is_export |= kind == "version"
            try:
                if kind not in IGNORED:
                    readers[kind]((line or {})[kind], offset)
            except MALFORMED:
                self.omissions["lines that cannot be read"] += 1
        if not is_export:
            raise InvalidDocument("This is no bulk export of Mattermost: its first line gives no version.")

    def _add_channel(self, row: Mapping[str, Any], _: int) -> None:
        place = self._locate(row)
        if self._is_other_team(place):
            return
        is_open = row.get("type") == OPEN_CHANNEL and not row.get("deleted_at") and place.room not in self._rooms
        self._rooms[place.room] = ExportedChannel(Channel(place, _plain_name(place), "open" if is_open else "closed"))

    def _add_user(self, row: Mapping[str, Any], _: int) -> None:
        id_, full_name = _parse_name(row["username"]), f"{row.get('first_name') or ''} {row.get('last_name') or ''}"
        name = clean_single_line(str(row.get("nickname") or "")) or clean_single_line(full_name) or id_
        teams = row.get("teams") or ()
        is_guest = any(GUEST_ROLES & set(str(team.get("roles") or "").split()) for team in (row, *teams))
        self._people[id_] = Person(id_, name, is_guest=is_guest)
        if row.get("delete_at"):
            return
        for team in teams:
            for channel in team.get("channels") or ():
                place = self._locate({"team": team["name"], "channel": channel["name"]})
                self._members.setdefault(place.room, set()).add(id_)

    def _add_bot(self, row: Mapping[str, Any], _: int) -> None:
        id_ = _parse_name(row["username"])
        self._people[id_] = Person(id_, clean_single_line(str(row.get("display_name") or "")) or id_, is_bot=True)

    def _add_direct_channel(self, row: Mapping[str, Any], _: int) -> None:
        named = row.get("members") or [text["username"] for text in row.get("participants") or ()]
        self._add_direct(self._locate({"channel_members": named}))

    def _add_direct(self, place: Location) -> None:
        if not self._options.direct_messages:
            return
        people = place.channel.removeprefix(DIRECT_SIGN).split("+")
        name = ", ".join(self._person_name(person) or person for person in people)
        self._members.setdefault(place.room, set()).update(people)
        self._rooms.setdefault(place.room, ExportedChannel(Channel(place, name, "closed")))

    def _add_post(self, row: Mapping[str, Any], offset: int) -> None:
        place, time = self._locate(row), posts.parse_time(row["create_at"])
        if not place.workspace:
            if not self._options.direct_messages:
                self.omissions["direct messages (--direct-messages includes them)"] += 1
                return
            self._add_direct(place)
        elif self._is_other_team(place):
            self.omissions["posts of other teams (--workspace names the team)"] += 1
            return
        unknown = ExportedChannel(Channel(place, _plain_name(place), "closed"))
        self._rooms.setdefault(place.room, unknown).posts.add(time, offset)
        replies = row.get("replies") or ()
        times = [reply.get(key) or 0 for reply in (row, *replies) for key in ("create_at", "edit_at")]
        self._newest = max(self._newest, *map(int, times))

    def _locate(self, row: Mapping[str, Any]) -> Location:
        """Where a row belongs. Raises KeyError, ValueError and TypeError."""
        if people := row.get("channel_members"):
            return Location(NAME, "", DIRECT_SIGN + "+".join(sorted({_parse_name(person) for person in people})))
        channel = row["channel"] if "channel" in row else row["name"]
        return Location(NAME, _parse_name(row["team"]), OPEN_SIGN + _parse_name(channel))

    def _is_other_team(self, place: Location) -> bool:
        return bool(self._options.workspace) and place.workspace != self._options.workspace.lower()

    def _finish_channels(self) -> None:
        """Add the members, which are in later lines; a name is open if every channel of this name is."""
        for room, each in self._rooms.items():
            members = frozenset(self._members.get(room, ()))
            guests = select_guests(members, self._people)
            each.channel = replace(each.channel, members=members, guests=guests)
        channels = [listed.channel for listed in self._rooms.values()]
        closed = {channel.name for channel in channels if channel.kind != "open"}
        self._open_names = {channel.name for channel in channels} - closed

    def _read_messages(self, location: Location) -> Iterator[Message]:
        ids: set[str] = set()
        for offset in self._rooms[location.room].posts.list_offsets():
            line = self._lines.read_at(offset)
            post = line[str(line["type"])]
            id_ = count_up(str(posts.parse_time(post["create_at"])), ids)
            try:
                yield from map(self._mark_bot, posts.parse_thread(post, location, id_, self._find_file))
            except MALFORMED:
                self.omissions["messages that cannot be read"] += 1
            else:
                self.omissions["notices, such as who joined a channel"] += posts.count_notices(post)

    def _mark_bot(self, message: Message) -> Message:
        author = self._people.get(message.author)
        return replace(message, by_bot=True) if author is not None and author.is_bot else message

    def _find_file(self, path: str) -> str:
        """The file of an attachment in the export; "" if it was not exported."""
        root = self._lines.folder
        return next(
            (candidate for candidate in (f"{root}data/{path}", f"{root}{path}") if candidate in self._files), ""
        )

    def _person_name(self, person: str) -> str:
        found = self._people.get(person)
        return found.name if found else ""

    def _open_name(self, channel: str) -> str:
        return channel if channel in self._open_names else ""


def _parse_name(found: object) -> str:
    """A name that identifies something; others could be the name of another room or space. Raises ValueError."""
    if not isinstance(found, str) or not _NAME.fullmatch(found):
        raise ValueError(f"{found!r:.40} is no name.")
    return found.lower()


def _plain_name(place: Location) -> str:
    return place.channel.removeprefix(OPEN_SIGN)
