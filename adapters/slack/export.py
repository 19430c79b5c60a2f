"""Read a workspace export of Slack: a ZIP archive or folder with users.json, channels.json and a JSON file a day."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from adapters.common.download import Downloader, FileHosts
from adapters.common.export_folder import (
    clean_upload,
    open_folder,
    open_json,
    read_bytes,
    read_rows,
    read_start,
    read_to_damage,
    split_into_pages,
)
from adapters.common.json_fields import get_row, get_rows, get_text, iterate_rows
from adapters.slack.context import NAME, BotIdentity
from adapters.slack.settings import TRAITS
from adapters.slack.workspace.channels import SHARED_FLAGS
from adapters.slack.workspace.export_canvases import day_of, list_shares, share_canvas
from adapters.slack.workspace.export_layout import (
    DIRECT_NAME,
    end_of_day,
    find_layout,
    find_team_in,
    invent_id,
    propose_workspace,
)
from adapters.slack.workspace.files import FILE_DOMAINS, complete_page, is_login_page
from adapters.slack.workspace.markup import find_mentioned_ids, to_plain_text
from adapters.slack.workspace.messages import message_link, parse_message
from adapters.slack.workspace.slackdump_archive import open_archive
from adapters.slack.workspace.users import parse_person
from bot.platform.history_source import Omissions
from bot.platform.models import Channel, Location, select_guests
from engine.errors import InvalidDocument
from engine.text.cleanup import clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from adapters.common.export_folder import ExportFolder
    from bot.platform.export_readers import ExportOptions
    from bot.platform.models import Message, Person, Upload
    from engine import Clock

MAX_SCANNED_FILES = 400  # searched for the address of the workspace
DEFAULT_URL = "https://app.slack.com/"
WORKSPACE_URL = re.compile(rb"https:\\?/\\?/([a-z0-9-]+(?:\.enterprise)?)\.slack\.com\\?/files")
WORKSPACE_HINT = (
    "Give the id of the workspace with --workspace; it starts with T and is in the address of Slack's page. If the bot"
    " will never be there, any id does: --workspace {proposal}."
)
DIRECT = "direct messages (--direct-messages includes them)"
EXPIRED_HINT = "The links of an export expire: export the workspace again."
ID = re.compile(r"[A-Z0-9]{1,40}")
TIMESTAMP = re.compile(r"[0-9]{1,10}(\.[0-9]{1,6})?")
MALFORMED = (ValueError, TypeError, AttributeError, OverflowError, OSError, RecursionError)
CHANNEL_LISTS: Mapping[str, Literal["open", "closed"]] = {
    "channels.json": "open",
    "groups.json": "closed",
    "mpims.json": "closed",
    "dms.json": "closed",
}
PRIVATE_FLAGS = ("is_private", "is_group", "is_im", "is_mpim")
REPLIES_WITHIN = "slackdump_thread_replies"
CANVAS_LIST = "canvases.json"
DIRECT_LISTS = frozenset({"mpims.json", "dms.json"})
UNREAD_LISTS = {"lists.json": "lists", "huddle_transcripts.json": "huddle transcripts"}


def open_export(path: Path, options: ExportOptions, *, clock: Clock) -> SlackExport:
    """Open an export. Raises InvalidDocument."""
    return SlackExport(open_archive(open_folder(path), path), options, clock.now())


class SlackExport:
    """Implements `HistorySource`. Raises InvalidDocument if this is no export.

    `now`: files of days that have begun nowhere yet are not read.
    """

    platform = NAME
    traits = TRAITS

    def __init__(self, folder: ExportFolder, options: ExportOptions, now: datetime) -> None:
        self.omissions = Omissions()
        self._skipped: set[str] = set()  # folders of direct messages that are not wanted
        self._guessed: set[str] = set()  # roots that do not say which workspace they are of
        self._folder = folder
        self._names = frozenset(folder.list_names())
        self._layout = find_layout(sorted(self._names), now)
        users = {root: self._read_list(root, "users.json") for root in self._layout.roots}
        self._teams = self._find_teams(users, options.workspace)
        url = f"{options.url.rstrip('/')}/" if options.url else self._find_url()
        self._identity = BotIdentity(self._teams[self._layout.roots[0]], "", "", url)
        self._people = {id_: each for rows in users.values() for id_, each in self._parse_people(rows)}
        self._channels: dict[str, tuple[Channel, str]] = {}
        self._previews: dict[str, str] = {}
        for root in self._layout.roots:
            self._channels |= self._list_channels(root, direct=options.direct_messages)
        self._add_unlisted(direct=options.direct_messages)
        self._canvases = self._place_canvases()
        self._downloader = Downloader("Slack", FileHosts(FILE_DOMAINS))
        newest = max((days[-1][0] for days in self._layout.days.values()), default="")
        self.until = end_of_day(newest) if newest else now
        self._note_unread()

    def list_channels(self) -> Sequence[Channel]:
        return [channel for channel, _ in self._channels.values()]

    def read_pages(self, location: Location) -> Iterator[Sequence[Message]]:
        return split_into_pages(self._read_messages(location))

    def _read_messages(self, location: Location) -> Iterator[Message]:
        for payload in self._read_payloads(location.channel):
            if message := self._parse(payload, location):
                yield message

    def _read_payloads(self, channel: str) -> Iterator[Mapping[str, Any]]:
        """The messages of a channel; each canvas follows those of the day on which it was created."""
        canvases = sorted(self._canvases.get(channel, ()), key=lambda each: float(each["ts"]))
        found, folder = self._channels[channel]
        for day, name in self._layout.days.get(folder, ()):
            while day and canvases and day_of(canvases[0]) < day:
                yield canvases.pop(0)
            rows = read_rows(self._folder, name) if day else self._read_channel_file(name)
            for row in read_to_damage(rows, self.omissions, found.name, name):
                yield row
                yield from iterate_rows(row.get(REPLIES_WITHIN))
        yield from canvases

    def _read_channel_file(self, name: str) -> Iterator[dict[str, Any]]:
        """The messages of a channel in one file."""
        with open_json(self._folder, name) as content:
            content.read_members(until="messages")
            yield from (row for row in content.read_items() if isinstance(row, dict))

    def get_person(self, person: str) -> Person | None:
        return self._people.get(person)

    async def to_plain_text(self, text: str) -> str:
        people, channels = find_mentioned_ids(text)
        names = {id_: self._people[id_].name for id_ in people if id_ in self._people}
        return to_plain_text(text, names, {id_: name for id_ in channels if (name := self._open_name(id_))})

    def message_link(self, location: Location, message: str) -> str:
        return message_link(self._identity.url, location, message)

    async def fetch_file(self, upload: Upload, limit: int) -> bytes:
        if upload.id in self._layout.uploads:
            return complete_page(upload, read_bytes(self._folder, self._layout.uploads[upload.id], limit))
        if upload.id in self._previews:
            return self._previews[upload.id].encode()
        if not upload.url:
            raise InvalidDocument(f"“{upload.name}” is not in the export.")
        content_type, data = await self._downloader.download(upload, limit)
        if is_login_page(upload, content_type, data):
            raise InvalidDocument(f"Slack does not hand out “{upload.name}”.", hint=EXPIRED_HINT)
        return complete_page(upload, data)

    def close(self) -> None:
        self._folder.close()

    def _find_teams(self, users: Mapping[str, list[dict[str, Any]]], given: str) -> dict[str, str]:
        """The workspace of each root: that of most users, or of messages. Raises InvalidDocument.

        `given` is that of the first root. A root that says none counts as part of the main workspace, and its channels
        are closed: nobody knows who could read them.
        """
        first = self._layout.roots[0]
        found = {first: _parse_id(given)} if given else {}
        for root, rows in users.items():
            found.setdefault(root, _find_team(rows) or self._find_team_in_messages(root))
        main = found[first] or next(filter(None, found.values()), "")
        if not main:
            hint = WORKSPACE_HINT.format(proposal=propose_workspace(self._layout.days))
            raise InvalidDocument("The export does not say which workspace it is of.", hint=hint)
        self._guessed = {root for root, team in found.items() if not team}
        return {root: team or main for root, team in found.items()}

    def _find_team_in_messages(self, root: str) -> str:
        days = (name for folder, files in self._layout.days.items() if folder.startswith(root) for _, name in files)
        return find_team_in(read_start(self._folder, name) for name in islice(days, MAX_SCANNED_FILES))

    def _place_canvases(self) -> dict[str, list[dict[str, Any]]]:
        """The messages that share canvases, by channel; those of no channel that is read are named."""
        places: dict[str, dict[str, dict[str, Any]]] = {}
        folders = {folder: id_ for id_, (_, folder) in self._channels.items()}
        listed = [(row, list_shares(row)) for root in self._layout.roots for row in self._read_list(root, CANVAS_LIST)]
        for folder, name in self._layout.canvases.items():
            listed += [(row, [folders.get(folder, "")]) for row in read_rows(self._folder, name)]
        for row, shares in listed:
            message, known = share_canvas(row), [share for share in shares if share in self._channels]
            if message is None or not known:
                self.omissions.note("canvases", name=get_text(row, "title", "name", "id"))
                continue
            for channel in known:
                places.setdefault(channel, {})[get_text(row, "id")] = message
        return {channel: list(found.values()) for channel, found in places.items()}

    def _note_unread(self) -> None:
        """Name what is in the export and is not read."""
        for name in self._layout.others:
            self.omissions.note("other files", name=name)
        for text in self._layout.nested:
            self.omissions.note("folders that are exports of their own", name=text)
        for root in self._layout.roots:
            for name, what in UNREAD_LISTS.items():
                for row in self._read_list(root, name):
                    self.omissions.note(what, name=get_text(row, "title", "name", "id"))

    def _add_unlisted(self, *, direct: bool) -> None:
        """Add the channels whose folders no list names, such as deleted ones; nobody knows who could read them."""
        listed = {folder for _, folder in self._channels.values()} | self._skipped
        for folder in sorted(self._layout.days.keys() - listed):
            root, name = self._layout.find_root(f"{folder}/"), folder.rpartition("/")[2]
            if DIRECT_NAME.fullmatch(name) and not direct:
                self.omissions.note(DIRECT, name=name)
                continue
            place = Location(NAME, self._teams[root], invent_id(folder))
            self._channels.setdefault(place.channel, (Channel(place, clean_single_line(name), "closed"), folder))

    def _read_list(self, root: str, name: str) -> list[dict[str, Any]]:
        """The rows of a list with an id of Slack; none if the export has no such list."""
        path = root + name
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

    def _list_channels(self, root: str, *, direct: bool) -> dict[str, tuple[Channel, str]]:
        """The channels by id, each with its folder; direct messages are counted if they are not wanted.

        A channel is closed if any sign of it says so: also where several share a folder, so that one could have the
        messages of another.
        """
        found = {}
        lists = {name: self._read_list(root, name) for name in CHANNEL_LISTS}
        uses = Counter(named for listed in lists.values() for row in listed for named in {_folder(row), row.get("id")})
        for name, listed in lists.items():
            if name in DIRECT_LISTS and not direct:
                self.omissions.note(DIRECT, count=len(listed))
                self._skipped |= {self._find_folder(root, row) for row in listed}
                continue
            for row in listed:
                is_shared = uses[_folder(row)] > 1 or uses[row["id"]] > 1
                is_closed = is_shared or root in self._guessed or any(row.get(flag) for flag in PRIVATE_FLAGS)
                channel = self._parse_channel(root, row, "closed" if is_closed else CHANNEL_LISTS[name])
                found[row["id"]] = channel, self._find_folder(root, row)
        return found

    def _find_folder(self, root: str, row: Mapping[str, Any]) -> str:
        """The folder of a channel: its name, or its id as other programs write it."""
        named, by_id = f"{root}{_folder(row)}", f"{root}{row['id']}"
        return by_id if by_id in self._layout.days and named not in self._layout.days else named

    def _parse_channel(self, root: str, row: Mapping[str, Any], kind: Literal["open", "closed"]) -> Channel:
        members = frozenset(str(member) for member in _list(row.get("members")))
        return Channel(
            Location(NAME, self._teams[root], row["id"]),
            clean_single_line(_folder(row)),
            kind,
            members,
            guests=select_guests(members, self._people),
            shared=any(row.get(flag) for flag in SHARED_FLAGS),
        )

    def _open_name(self, channel: str) -> str:
        """The name of an open channel; empty for others."""
        found, _ = self._channels.get(channel, (None, ""))
        return found.name if found is not None and found.kind == "open" else ""

    def _parse(self, payload: Mapping[str, Any], location: Location) -> Message | None:
        channel = self._channels[location.channel][0].name
        try:
            _check_ids(payload)
            message = parse_message(payload, location, self._identity)
        except MALFORMED:
            self.omissions.note("messages that cannot be read", channel, get_text(payload, "ts"))
            return None
        if message is None:
            self.omissions.note("notices, such as who joined a channel", channel, get_text(payload, "subtype"))
        elif message.uploads:
            self._remember_previews(payload)
            return replace(message, uploads=tuple(map(clean_upload, message.uploads)))
        return message

    def _remember_previews(self, payload: Mapping[str, Any]) -> None:
        """Keep the texts of short files, which an export has itself, until they are asked for."""
        for file in (*get_rows(payload, "files"), get_row(payload, "file")):
            preview, id_ = file.get("preview"), get_text(file, "id")
            is_whole = file.get("preview_is_truncated") is False or file.get("lines_more") == 0
            is_text = get_text(file, "mimetype") == "text/plain"
            if isinstance(preview, str) and is_text and is_whole and id_ not in self._layout.uploads:
                self._previews[id_] = preview

    def _find_url(self) -> str:
        """The address of the workspace in the links of files."""
        days = (name for days in self._layout.days.values() for _, name in reversed(days))
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
        raise InvalidDocument(f"“{found}” is no id of Slack.", hint=WORKSPACE_HINT.format(proposal="T0"))
    return found


def _check_ids(payload: Mapping[str, Any]) -> None:
    """Raise ValueError for a message with ids that Slack does not use."""
    times = (str(payload.get("ts")), str(payload.get("thread_ts") or "0"))
    ids = (
        *(payload.get(key) or "U" for key in ("user", "bot_id")),
        *(file.get("id") for file in (*get_rows(payload, "files"), get_row(payload, "file")) if file),
        get_text(get_row(payload, "comment"), "user") or "U",
    )
    if not (all(TIMESTAMP.fullmatch(time) for time in times) and all(map(_is_id, ids))):
        raise ValueError("This is no id of Slack.")


def _list(found: object) -> list[Any]:
    return found if isinstance(found, list) else []


def _find_team(users: Iterable[Mapping[str, Any]]) -> str:
    """The workspace of most users; "" if they say none."""
    teams = Counter(row["team_id"] for row in users if _is_id(row.get("team_id")) and not row.get("is_stranger"))
    return str(teams.most_common(1)[0][0]) if teams else ""
