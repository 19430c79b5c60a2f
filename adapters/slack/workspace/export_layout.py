"""Find what is where in an export of Slack: its workspaces, the days of its channels, and files. Pure.

An export of an Enterprise Grid has its workspaces below teams/. Other programs write a file for each channel, or name
folders by id.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from engine.errors import InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LISTS = ("users.json", "channels.json", "groups.json", "mpims.json", "dms.json")
# What Slack lists beside: some of it is content, which is read or named by its rows.
OTHER_LISTS = ("canvases.json", "lists.json", "huddle_transcripts.json")
CANVAS_FILE = "canvas_in_the_conversation.json"
TEAM_FOLDER = re.compile(r"teams/[^/]+/")
DAY_FILE = re.compile(r"(\d{4}-\d{2}-\d{2})\.json")
CHANNEL_FILE = re.compile(r"(?:\A|[-_])([CGD][A-Z0-9]{6,})(?:-\d+(?:\.\d+)?)?\.json\Z")
CHANNEL_ID = re.compile(r"[CGD][A-Z0-9]{6,}")
ATTACHMENT = re.compile(r"(F[A-Z0-9]{6,})-.+")
HAS_ATTACHMENTS = re.compile(r"attachments|[CGD][A-Z0-9]{6,}")  # names of folders
DIRECT_NAME = re.compile(r"mpdm-.+|D[A-Z0-9]{6,}")
STORE = re.compile(r"slackdump\.sqlite|[CGD][A-Z0-9]{6,}\.json\.gz")  # how slackdump stores what it reads
STORE_HINT = "Name its folder: a database cannot be read within a ZIP archive."
TEAM_ID = re.compile(rb'"(?:team|source_team|user_team|team_id)": ?"(T[A-Z0-9]{1,40})"|files-pri\\?/(T[A-Z0-9]{1,40})-')


@dataclass(frozen=True, slots=True)
class ExportLayout:
    """The files of an export, by their paths.

    `roots`: the folders with lists of channels, the shortest first; each ends in "/", or is empty. `days`: the files of
    each channel's folder with the day of each, oldest first. `uploads`: files that people shared, by id. `nested`:
    folders that look like further exports. `canvases`: the list of the canvases of each channel's folder. `others`:
    files that are none of these.
    """

    roots: tuple[str, ...]
    days: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    uploads: dict[str, str] = field(default_factory=dict)
    nested: tuple[str, ...] = ()
    canvases: dict[str, str] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)

    def find_root(self, path: str) -> str:
        """The root to which a path belongs."""
        return max((root for root in self.roots if path.startswith(root)), key=len)


def find_layout(names: Sequence[str], now: datetime) -> ExportLayout:
    """The layout of an export. Raises InvalidDocument if this is none."""
    if any(STORE.fullmatch(name.rpartition("/")[2]) for name in names) and not _list_roots(names):
        raise InvalidDocument("This is an archive of slackdump, not an export.", hint=STORE_HINT)
    found = _list_roots(names) or (["" for name in names if CHANNEL_FILE.search(name.rpartition("/")[2])][:1])
    if not found:
        raise InvalidDocument("This is no such export: it has neither users.json nor channels.json.")
    main = found[0]
    roots = [root for root in found if root == main or TEAM_FOLDER.fullmatch(root.removeprefix(main))]
    layout = ExportLayout(tuple(roots), nested=tuple(root for root in found if root not in roots))
    for name in names:
        if not name.startswith(main):
            layout.others.append(name)
        elif not name.startswith(layout.nested):
            _place_file(layout, name, now)
    for files in layout.days.values():
        files.sort()
    return layout


def _list_roots(names: Iterable[str]) -> list[str]:
    """The folders with lists of users or channels, the shortest first."""
    folders = {folder + sign for name in names for folder, sign, file in [name.rpartition("/")] if file in LISTS}
    return sorted(folders, key=lambda each: (len(each), each))


def _place_file(layout: ExportLayout, name: str, now: datetime) -> None:
    folder, _, file = name.rpartition("/")
    if (match := DAY_FILE.fullmatch(file)) and is_past(match[1], now):
        layout.days.setdefault(folder, []).append((match[1], name))
    elif file == CANVAS_FILE:
        layout.canvases[folder] = name
    elif "/__uploads/" in f"/{name}":
        layout.uploads[folder.rpartition("/")[2]] = name
    elif HAS_ATTACHMENTS.fullmatch(folder.rpartition("/")[2]) and (match := ATTACHMENT.fullmatch(file)):
        layout.uploads[match[1]] = name
    elif (match := CHANNEL_FILE.search(file)) and f"{folder}/".removeprefix("/") in {*layout.roots, "/"}:
        layout.days.setdefault(f"{layout.find_root(name)}{match[1]}", []).append(("", name))
    elif file not in {*LISTS, *OTHER_LISTS}:
        layout.others.append(name)


def invent_id(folder: str) -> str:
    """An id for the channel of a folder that no list names; always the same one."""
    last = folder.rpartition("/")[2]
    return last if CHANNEL_ID.fullmatch(last) else f"X{sha256(folder.encode()).hexdigest()[:15].upper()}"


def propose_workspace(names: Iterable[str]) -> str:
    """An id for the workspace of an export that says none; always the same one for its channels."""
    folders = sorted({name.partition("/")[0] for name in names})
    return f"T{sha256(' '.join(folders).encode()).hexdigest()[:9].upper()}"


def find_team_in(texts: Iterable[bytes]) -> str:
    """The workspace that messages and links of files name most often; "" if none does."""
    found = Counter(first or second for text in texts for first, second in TEAM_ID.findall(text))
    return found.most_common(1)[0][0].decode() if found else ""


def is_past(day: str, now: datetime) -> bool:
    """Whether a day such as 2026-05-01 exists and has begun somewhere."""
    try:
        return end_of_day(day) <= now + timedelta(days=2)
    except (ValueError, OverflowError):
        return False


def end_of_day(day: str) -> datetime:
    """The end of a day such as 2026-05-01; the beginning of time for none."""
    if not day:
        return datetime.fromtimestamp(0, UTC)
    return datetime.fromisoformat(f"{day}T00:00:00+00:00") + timedelta(days=1)
