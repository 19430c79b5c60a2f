"""Read a workspace export of Slack: a ZIP archive or folder with users.json, channels.json and a JSON file a day."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from adapters.common.download import Downloader, FileHosts
from adapters.common.export_folder import (
    clean_upload,
    common_root,
    open_folder,
    read_bytes,
    read_rows,
    read_start,
    split_into_pages,
)
from adapters.slack.context import NAME, BotIdentity
from adapters.slack.settings import TRAITS
from adapters.slack.workspace.channels import SHARED_FLAGS
from adapters.slack.workspace.files import FILE_DOMAINS, check_login_page
from adapters.slack.workspace.markup import find_mentioned_ids, to_plain_text
from adapters.slack.workspace.messages import message_link, parse_message
from adapters.slack.workspace.users import parse_person
from bot.platform.history_source import Omissions
from bot.platform.models import Channel, Location
from bot.text.format import EPOCH
from engine.errors import InvalidDocument
from engine.text.cleanup import clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from adapters.common.export_folder import ExportFolder
    from bot.platform.export_readers import ExportOptions
    from bot.platform.models import Message, Person, Upload
    from engine import Clock

MAX_SCANNED_FILES = 400  # searched for the address of the workspace
DEFAULT_URL = "https://app.slack.com/"
WORKSPACE_URL = re.compile(rb"https:\\?/\\?/([a-z0-9-]+(?:\.enterprise)?)\.slack\.com\\?/files")
WORKSPACE_HINT = (
    "Give the id of the workspace with --workspace; it starts with T and is in the address of Slack's page."
)
EXPIRED_HINT = "The links of an export expire: export the workspace again."
ID = re.compile(r"[A-Z0-9]{1,40}")
TIMESTAMP = re.compile(r"[0-9]{1,10}(\.[0-9]{1,6})?")
MALFORMED = (ValueError, TypeError, AttributeError, OverflowError, OSError, RecursionError)
DAY_FILE = re.compile(r"(\d{4}-\d{2}-\d{2})\.json")
CHANNEL_LISTS: Mapping[str, Literal["open", "closed"]] = {
    "channels.json": "open",
    "groups.json": "closed",
    "mpims.json": "closed",
    "dms.json": "closed",
}
PRIVATE_FLAGS = ("is_private", "is_group", "is_im", "is_mpim")
DIRECT_LISTS = frozenset({"mpims.json", "dms.json"})
UNREAD_LISTS = {"canvases.json": "canvases", "lists.json": "lists", "huddle_transcripts.json": "huddle transcripts"}


def open_export(path: Path, options: ExportOptions, *, clock: Clock) -> SlackExport:
    """Open an export. Raises InvalidDocument."""
    return SlackExport(open_folder(path), options, clock.now())


class SlackExport:
    """Implements `HistorySource`. Raises InvalidDocument if this is no export.

    `now`: files of days that have begun nowhere yet are not read.
    """

    platform = NAME
    traits = TRAITS

    def __init__(self, folder: ExportFolder, options: ExportOptions, now: datetime) -> None:
        self.omissions = Omissions()
        self._folder = folder
        self._names = folder.list_names()
        self._root = common_root(self._names, "users.json")
        self._days = _group_days(self._names, self._root, now)
        users = self._read_list("users.json")
        team = _parse_id(options.workspace or _find_team(users))
        url = f"{options.url.rstrip('/')}/" if options.url else self._find_url()
        self._identity = BotIdentity(team, "", "", url)
        self._people = dict(self._parse_people(users))
        self._channels = self._list_channels(direct=options.direct_messages)
        self._uploads = {
            name.split("/")[-2]: name for name in self._names if name.startswith(f"{self._root}__uploads/")
        }
        self._downloader = Downloader("Slack", FileHosts(FILE_DOMAINS))
        self.until = _end_of_day(max((days[-1][0] for days in self._days.values()), default=""))
        for name, what in UNREAD_LISTS.items():
            self.omissions[what] += len(self._read_list(name))

    def list_channels(self) -> Sequence[Channel]:
        return [channel for channel, _ in self._channels.values()]

    def read_pages(self, location: Location) -> Iterator[Sequence[Message]]:
        return split_into_pages(self._read_messages(location))

    def _read_messages(self, location: Location) -> Iterator[Message]:
        _, folder = self._channels[location.channel]
        for _, name in self._days.get(folder, ()):
            for payload in read_rows(self._folder, name):
                if message := self._parse(payload, location):
                    yield message

    def get_person(self, person: str) -> Person | None:
        return self._people.get(person)

    async def to_plain_text(self, text: str) -> str:
        people, channels = find_mentioned_ids(text)
        names = {id_: self._people[id_].name for id_ in people if id_ in self._people}
        return to_plain_text(text, names, {id_: name for id_ in channels if (name := self._open_name(id_))})

    def message_link(self, location: Location, message: str) -> str:
        return message_link(self._identity.url, location, message)

    async def fetch_file(self, upload: Upload, limit: int) -> bytes:
        if upload.id in self._uploads:
            return read_bytes(self._folder, self._uploads[upload.id], limit)
        if not upload.url:
            raise InvalidDocument(f"“{upload.name}” is not in the export.")
        content_type, data = await self._downloader.download(upload, limit)
        check_login_page(upload, content_type, data, hint=EXPIRED_HINT)
        return data

    def close(self) -> None:
        self._folder.close()

    def _read_list(self, name: str) -> list[dict[str, Any]]:
        """The rows of a list with an id of Slack; none if the export has no such list."""
        path = self._root + name
        found = list(read_rows(self._folder, path)) if path in self._names else []
        known = [row for row in found if _is_id(row.get("id"))]
        self.omissions[f"entries of {name} that cannot be read"] += len(found) - len(known)
        return known

    def _parse_people(self, users: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Person]]:
        for row in users:
            try:
                yield row["id"], parse_person(row, self._identity)
            except MALFORMED:
                self.omissions["entries of users.json that cannot be read"] += 1

    def _list_channels(self, *, direct: bool) -> dict[str, tuple[Channel, str]]:
        """The channels by id, each with its folder; direct messages are counted if they are not wanted.

        A channel is closed if any sign of it says so: also where several share a folder, so that one could have the
        messages of another.
        """
        found = {}
        lists = {name: self._read_list(name) for name in CHANNEL_LISTS}
        uses = Counter(each for listed in lists.values() for row in listed for each in {_folder(row), row.get("id")})
        for name, listed in lists.items():
            if name in DIRECT_LISTS and not direct:
                self.omissions["direct messages (--direct-messages includes them)"] += len(listed)
                continue
            for row in listed:
                is_shared = uses[_folder(row)] > 1 or uses[row["id"]] > 1
                is_closed = is_shared or any(row.get(flag) for flag in PRIVATE_FLAGS)
                channel = self._parse_channel(row, "closed" if is_closed else CHANNEL_LISTS[name])
                found[row["id"]] = channel, _folder(row)
        return found

    def _parse_channel(self, row: Mapping[str, Any], kind: Literal["open", "closed"]) -> Channel:
        members = frozenset(str(each) for each in _list(row.get("members")))
        return Channel(
            Location(NAME, self._identity.team, row["id"]),
            clean_single_line(_folder(row)),
            kind,
            members,
            guests=frozenset(id_ for id_ in members if id_ not in self._people or self._people[id_].is_guest),
            shared=any(row.get(flag) for flag in SHARED_FLAGS),
        )

    def _open_name(self, channel: str) -> str:
        """The name of an open channel; empty for others."""
        found, _ = self._channels.get(channel, (None, ""))
        return found.name if found is not None and found.kind == "open" else ""

    def _parse(self, payload: Mapping[str, Any], location: Location) -> Message | None:
        try:
            _check_ids(payload)
            message = parse_message(payload, location, self._identity)
        except MALFORMED:
            self.omissions["messages that cannot be read"] += 1
            return None
        if message and message.uploads:
            return replace(message, uploads=tuple(map(clean_upload, message.uploads)))
        if message is None:
            self.omissions["notices, such as who joined a channel"] += 1
        return message

    def _find_url(self) -> str:
        """The address of the workspace in the links of files."""
        days = (name for days in self._days.values() for _, name in reversed(days))
        for name in islice(days, MAX_SCANNED_FILES):
            if match := WORKSPACE_URL.search(read_start(self._folder, name)):
                return f"https://{match[1].decode()}.slack.com/"
        return DEFAULT_URL


def _folder(row: Mapping[str, Any]) -> str:
    """The folder of a channel, which is its name."""
    return str(row.get("name") or row["id"])


def _is_id(found: object) -> bool:
    return isinstance(found, str) and ID.fullmatch(found) is not None


def _parse_id(found: str) -> str:
    """An id of Slack; others could be the name of another room or space. Raises InvalidDocument."""
    if not _is_id(found):
        raise InvalidDocument(f"“{found}” is no id of Slack.", hint=WORKSPACE_HINT)
    return found


def _check_ids(payload: Mapping[str, Any]) -> None:
    """Raise ValueError for a message with ids that Slack does not use."""
    times = (str(payload.get("ts")), str(payload.get("thread_ts") or "0"))
    ids = (
        *(payload.get(key) or "U" for key in ("user", "bot_id")),
        *(file.get("id") for file in payload.get("files") or ()),
    )
    if not (all(TIMESTAMP.fullmatch(each) for each in times) and all(map(_is_id, ids))):
        raise ValueError("This is no id of Slack.")


def _list(found: object) -> list[Any]:
    return found if isinstance(found, list) else []


def _group_days(names: Iterable[str], root: str, now: datetime) -> dict[str, list[tuple[str, str]]]:
    """The past days of each channel's folder with their files, oldest first."""
    days: dict[str, list[tuple[str, str]]] = {}
    for name in names:
        folder, _, file = name.removeprefix(root).rpartition("/")
        if (match := DAY_FILE.fullmatch(file)) and _is_past(match[1], now):
            days.setdefault(folder, []).append((match[1], name))
    return {folder: sorted(files) for folder, files in days.items()}


def _find_team(users: Iterable[Mapping[str, Any]]) -> str:
    """The workspace of most users. Raises InvalidDocument."""
    teams = Counter(row["team_id"] for row in users if _is_id(row.get("team_id")) and not row.get("is_stranger"))
    if not teams:
        raise InvalidDocument("The export does not say which workspace it is of.", hint=WORKSPACE_HINT)
    return str(teams.most_common(1)[0][0])


def _is_past(day: str, now: datetime) -> bool:
    """Whether a day such as 2026-05-01 exists and has begun somewhere."""
    try:
        return _end_of_day(day) <= now + timedelta(days=2)
    except (ValueError, OverflowError):
        return False


def _end_of_day(day: str) -> datetime:
    """The end of a day such as 2026-05-01; the beginning of time for none."""
    return datetime.fromisoformat(f"{day}T00:00:00+00:00") + timedelta(days=1) if day else EPOCH
