"""What the name of an exported file says of its channel, and ids for what the file does not identify. Pure."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from engine.errors import InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CHANNEL_NAME = re.compile(r"(?P<path>.*) \[(?P<id>\d{1,20})\].*", re.DOTALL)
CHANNEL_ID = re.compile(r"\d{15,20}")  # as the whole name of a file
PART = re.compile(r"(?P<stem>.*) \[part (?P<number>\d{1,4})\]", re.DOTALL)  # as exports of many messages are divided
NUMBER = re.compile(r"\d{1,4}")
PART_POSITIONS = 1 << 16  # between the first messages of two parts, so that their ids differ
MIN_DIGITS = 5  # of an id in the name of a file that does not prove by its content what it is
CONTENT = re.compile(
    rb"\A(?:\xef\xbb\xbf)?(?:\"?AuthorID\"?[,;]\"?Author\b|={62}\r?\nGuild: )|class=\"?chatlog__message"
)
DISCORD_EPOCH = 1_420_070_400_000  # milliseconds since 1970
SEQUENCE_BITS = 22
MONTH_FIRST, DAY_FIRST = ("%m/%d/%Y %I:%M %p", "%m/%d/%Y %H:%M"), ("%d/%m/%Y %I:%M %p", "%d/%m/%Y %H:%M")
TIME_FORMATS = ("%d-%b-%y %I:%M %p", "%d.%m.%Y %H:%M", "%Y-%m-%d %H:%M")
SLASHED = re.compile(r"(?P<first>\d{1,2})/(?P<second>\d{1,2})/\d{4}\b")
LAST_MONTH = 12


def read_file_name(name: str, start: bytes = b"", *, is_part: bool = False) -> Mapping[str, Any] | None:
    """The guild and channel of a file such as `Town - Trades - roof [60000].csv`; None for another file.

    The guild has a name, or an empty one if the file does not name it. `start`: the first bytes, which prove that a
    file with another name is a channel, too. `is_part`: its folder is the channel.
    """
    *folders, file = name.split("/")
    stem = file.rpartition(".")[0]
    stem = part["stem"] if (part := PART.fullmatch(stem)) else stem
    match = CHANNEL_NAME.fullmatch(stem)
    if not (CONTENT.search(start) or (match and len(match["id"]) >= MIN_DIGITS)):
        return None
    places = folders if is_part and folders else [*folders, stem]
    *path, title = (match["path"] if match else places[-1]).split(" - ")
    known = match["id"] if match else stem if CHANNEL_ID.fullmatch(stem) else ""
    channel = {"id": known or invent_id("/".join(places)), "type": "GuildTextChat", "name": title}
    return {"guild": {"name": path[0] if match and path else ""}, "channel": channel}


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


def attachment_at(address: str) -> dict[str, str]:
    """An attachment of which only the address is known."""
    name = address.partition("?")[0].rpartition("/")[2]
    return {"id": invent_id(address), "url": address, "fileName": name}


def snowflake_at(time: datetime, sequence: int) -> str:
    """The id of the message with this position in its file, posted at a time."""
    milliseconds = max(0, int(time.timestamp() * 1000) - DISCORD_EPOCH)
    return str((milliseconds << SEQUENCE_BITS) + sequence % (1 << SEQUENCE_BITS))


def time_of_snowflake(id_: str) -> datetime:
    """The time at which a message was posted. Raises ValueError and OverflowError."""
    return datetime.fromtimestamp(((int(id_) >> SEQUENCE_BITS) + DISCORD_EPOCH) / 1000, UTC)


def find_slashed_order(times: Iterable[str]) -> tuple[str, ...]:
    """The formats of the times with slashes in a file: the day is first if more of them are dates only then.

    If none of them tells, the usual ones: the month is first with AM and PM, else the day.
    """
    days = 0
    with suppress(InvalidDocument):  # a damaged file is read up to there
        for match in filter(None, (SLASHED.match(time.strip()) for time in times)):
            days += (int(match["first"]) > LAST_MONTH) - (int(match["second"]) > LAST_MONTH)
    return DAY_FIRST if days > 0 else MONTH_FIRST if days < 0 else (MONTH_FIRST[0], DAY_FIRST[1])


def parse_time(text: str, slashed: tuple[str, ...]) -> datetime:
    """A time as exports show it, in UTC if it names no zone. Raises ValueError."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        found = _parse_shown_time(text.strip(), slashed)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _parse_shown_time(text: str, slashed: tuple[str, ...]) -> datetime:
    for form in (*TIME_FORMATS, *slashed):
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise ValueError(f"{text!r:.40} is no time.")
