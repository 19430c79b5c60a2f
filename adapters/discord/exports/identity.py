"""What the name of an exported file and its head say of its channel, and ids for what neither identifies. Pure."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DIRECT_GUILD, DIRECT_MESSAGES = "0", "Direct Messages"  # the server of direct messages in these files
CHANNEL_NAME = re.compile(r"(?P<path>.*) \[(?P<id>\d{1,20})\].*", re.DOTALL)
CHANNEL_ID = re.compile(r"\d{15,20}")  # as the whole name of a file
PART = re.compile(r"(?P<stem>.*) \[part (?P<number>\d{1,4})\]", re.DOTALL)  # as exports of many messages are divided
NUMBER = re.compile(r"\d{1,4}")
MIN_DIGITS = 5  # of an id in the name of a file that does not prove by its content what it is
CONTENT = re.compile(
    rb"\A(?:\xef\xbb\xbf)?(?:\"?AuthorID\"?[,;]\"?Author\b|={62}\r?\nGuild: )|class=\"?chatlog__message"
)
TEXT_HEAD = re.compile(
    r"\A\ufeff?={62}\r?\nGuild: (?P<guild>[^\r\n]{0,200})\r?\nChannel: (?P<place>[^\r\n]{0,400})", re.DOTALL
)
PAGE_ENTRY = re.compile(r"class=\"?(?:preamble__entry|info__guild-name|info__channel-name)\"?>([^<]{0,400})<")
PAGE_TITLE = re.compile(r"<title>([^<]{0,600})</title>")
# What files say of a message of the platform, such as that somebody joined.
NOTICE = re.compile(
    r"Added (?:a recipient|[^\n]{1,100} to the group)\.|Left the group\."
    r"|Removed (?:a recipient|[^\n]{1,100} from the group)\."
    r"|Started a (?:call that lasted [\d.,]{1,12} minutes|thread)\.|Changed the channel (?:name: [^\n]{1,100}|icon\.)"
    r"|Pinned a message\.|Joined the server\."
)
MAX_HEAD = 2**18  # bytes, of which a page's style takes some


@dataclass(frozen=True, slots=True)
class PageIdentity:
    """The channel of an exported file.

    `guild`: the name of its server; empty if nothing names it. `channel`: its id, which is known, or else made of the
    name of the file. `path`: the names of the server, the category and the channel, to compare files.
    """

    guild: str
    channel: str
    name: str
    path: str
    is_known: bool


def read_identity(name: str, start: bytes = b"", *, is_part: bool = False) -> PageIdentity | None:
    """The channel of a file such as `Town - Trades - roof [60000].csv`; None for another file.

    What its head says comes before its name. `start`: the first bytes, which prove that a file with another name is a
    channel, too. `is_part`: its folder is the channel.
    """
    *folders, file = name.split("/")
    stem = file.rpartition(".")[0]
    stem = part["stem"] if (part := PART.fullmatch(stem)) else stem
    match = CHANNEL_NAME.fullmatch(stem)
    if not (CONTENT.search(start) or (match and len(match["id"]) >= MIN_DIGITS)):
        return None
    places = folders if is_part and folders else [*folders, stem]
    named = match["path"] if match else places[-1]
    *path, title = named.split(" - ")
    known = match["id"] if match else stem if CHANNEL_ID.fullmatch(stem) else ""
    guild = DIRECT_MESSAGES if _is_direct(folders, path, known=known) else path[0] if match and path else ""
    if head := _read_head(start):
        guild = guild if guild == DIRECT_MESSAGES else head[0]
        title, named = head[-1], " ".join((head[0], *head[1:][-2:]))
    return PageIdentity(
        guild,
        known or invent_id("/".join(places)),
        title,
        fold(named),
        is_known=bool(known),
    )


def _is_direct(folders: Sequence[str], path: Sequence[str], *, known: str) -> bool:
    """Whether the name of a file, or of a folder that it is in, is that of direct messages."""
    places = {fold(place.partition(" - ")[0]) for place in (*folders, *path[:1])}
    return fold(DIRECT_MESSAGES) in places or bool(known and folders[-1:] == [DIRECT_GUILD])


def _read_head(start: bytes) -> list[str]:
    """The names of the server and of the channel with what it is in, the outermost first; none if there is no head."""
    text = start[:MAX_HEAD].decode("utf-8", "replace")
    if match := TEXT_HEAD.match(text):
        guild, place = match["guild"], match["place"]
    elif len(entries := PAGE_ENTRY.findall(text)) > 1:
        guild, place = (html.unescape(entry) for entry in entries[:2])
    elif title := PAGE_TITLE.search(text):
        guild, _, place = html.unescape(title[1]).partition(" - ")
    else:
        return []
    return [guild.strip(), *(step.strip() for step in place.split(" / "))] if guild.strip() and place.strip() else []


def fold(name: str) -> str:
    """The name of a server or channel as it may be in the name of a file, which lacks some signs."""
    return "".join(filter(str.isalnum, name)).casefold()


def number_parts(names: Iterable[str]) -> dict[str, int]:
    """The numbers of the files that are parts of a channel: by their names, or because their folder holds 1, 2, 3."""
    numbers: dict[str, int] = {}
    folders: dict[tuple[str, str], dict[str, str]] = {}
    for name in names:
        folder, _, file = name.rpartition("/")
        stem, _, ending = file.rpartition(".")
        folders.setdefault((folder, ending), {})[name] = stem
        if part := PART.fullmatch(stem):
            numbers[name] = int(part["number"])
    for (folder, _), stems in folders.items():
        if folder and all(map(NUMBER.fullmatch, stems.values())):
            found = {name: int(stem) for name, stem in stems.items()}
            is_whole = sorted(found.values()) == list(range(1, len(found) + 1))
            numbers |= found if is_whole else {}
    return numbers


def invent_id(name: str) -> str:
    """An id in the form of Discord's; always the same one for a name."""
    return str(int.from_bytes(sha256(name.encode()).digest()[:7], "big") or 1)


def type_of(text: str, attachments: object) -> str:
    """The type of a message of which only the words are known: the platform's own notices have a fixed form."""
    return "Default" if attachments or not NOTICE.fullmatch(text) else "notice"


def attachment_at(address: str) -> dict[str, str]:
    """An attachment of which only the address is known."""
    name = address.partition("?")[0].rpartition("/")[2]
    return {"id": invent_id(address), "url": address, "fileName": name}
