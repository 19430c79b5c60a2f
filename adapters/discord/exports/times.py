"""The times of exported files: ids made of them, and the order of day and month in dates with slashes. Pure."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from engine.errors import InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DISCORD_EPOCH = 1_420_070_400_000  # milliseconds since 1970
SEQUENCE_BITS, WORD_BITS = 22, 14  # those after the time, and the last of them
# With AM and PM, and without.
MONTH_FIRST, DAY_FIRST = ("%m/%d/%Y %I:%M %p", "%m/%d/%Y %H:%M"), ("%d/%m/%Y %I:%M %p", "%d/%m/%Y %H:%M")
USUAL = (MONTH_FIRST[0], DAY_FIRST[1])
TIME_FORMATS = tuple(f"{day} {hour}" for day in ("%Y-%m-%d", "%d-%m-%Y", "%d-%b-%Y") for hour in ("%H:%M", "%I:%M %p"))
SLASHED = re.compile(r"(?P<first>\d{1,2})/(?P<second>\d{1,2})/\d{2}(?:\d\d)?\b[^A-Za-z\n]{0,20}(?P<noon>[AaPp]?)")
SHOWN = re.compile(
    r"(?P<day>[\w./-]{6,11}|\d{4}\. \d{1,2}\. \d{1,2}\.)\s{1,3}(?P<before>[^\W\d_]{2})?\s{0,3}"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.]\d{2})?(?:\s{0,3}(?P<after>[AaPp])\.?\s?[Mm]\.?)?"
)
SHORT_YEAR = re.compile(r"(\d{1,2}(?:[/.]\d{1,2}[/.]|-[A-Za-z]{3}-))(\d{2})")
FIRST_YEAR = 2015  # of Discord; what is shown with an earlier one is written in another order
NOONS = {"上午": "AM", "午前": "AM", "오전": "AM", "下午": "PM", "午後": "PM", "오후": "PM", "am": "AM", "pm": "PM"}
LAST_MONTH = 12


class Votes(NamedTuple):
    """How many dates of a form a file has, and how many more of them have the day first than the month."""

    dates: int = 0
    days: int = 0


class DateOrders:
    """Finds the formats of the dates with slashes of a file: as it shows itself, or else its room, or else the export.

    `read_times` reads the times of a file, whose damage is no error here.
    """

    def __init__(self, read_times: Callable[[str], Iterable[str]]) -> None:
        self._read_times = read_times
        self._rooms: dict[str, list[str]] = {}
        self._room_of: dict[str, str] = {}
        self._votes: dict[str, tuple[Votes, Votes]] = {}

    def add(self, name: str, room: str) -> None:
        """Add a file of a room."""
        self._rooms.setdefault(room, []).append(name)
        self._room_of[name] = room

    def find(self, name: str) -> tuple[str, ...]:
        """The formats for a file, with AM and PM and without; if nothing tells, the usual ones."""
        return tuple(self._find_format(name, form) for form in range(len(USUAL)))

    def _find_format(self, name: str, form: int) -> str:
        own = self._count(name)[form]
        if not own.dates:
            return USUAL[form]
        room = self._rooms.get(self._room_of.get(name, ""), ())
        for names in ((name,), room, self._room_of):
            if days := sum(self._count(file)[form].days for file in names):
                return (DAY_FIRST if days > 0 else MONTH_FIRST)[form]
        return USUAL[form]

    def _count(self, name: str) -> tuple[Votes, Votes]:
        if name not in self._votes:
            self._votes[name] = count_votes(self._read_times(name))
        return self._votes[name]


def count_votes(times: Iterable[str]) -> tuple[Votes, Votes]:
    """Count the dates of a file and how they are written: those with AM and PM, and the others."""
    dates, days = [0, 0], [0, 0]
    with suppress(InvalidDocument):  # a damaged file is read up to there
        for match in filter(None, (SLASHED.match(time.strip()) for time in times)):
            form = 0 if match["noon"] else 1
            dates[form] += 1
            days[form] += (int(match["first"]) > LAST_MONTH) - (int(match["second"]) > LAST_MONTH)
    return Votes(dates[0], days[0]), Votes(dates[1], days[1])


class IdMaker:
    """Makes ids for the messages of a file that have none: the same ones in all exports of a channel.

    An id holds the time, the position among the messages with this time, and, where the time has no fractions of a
    second and an export can begin between two messages with the same one, some bits of the author and the words.
    """

    def __init__(self) -> None:
        self._last: datetime | None = None
        self._position = 0

    def make(self, time: datetime, author: str, content: str) -> str:
        """The id of the next message."""
        self._position = self._position + 1 if time == self._last else 0
        self._last = time
        milliseconds = max(0, int(time.timestamp() * 1000) - DISCORD_EPOCH)
        position = min(self._position, (1 << SEQUENCE_BITS - WORD_BITS) - 1)
        words = 0 if time.microsecond else hash_words(author, content) % (1 << WORD_BITS)
        return str((((milliseconds << SEQUENCE_BITS - WORD_BITS) + position) << WORD_BITS) + words)


def hash_words(author: str, content: str) -> int:
    """A number for the words of an author that is always the same."""
    return int.from_bytes(sha256(f"{author}\n{content}".encode("utf-8", "replace")).digest()[:8], "big")


def time_of_snowflake(id_: str) -> datetime:
    """The time at which a message was posted. Raises ValueError and OverflowError."""
    return datetime.fromtimestamp(((int(id_) >> SEQUENCE_BITS) + DISCORD_EPOCH) / 1000, UTC)


def parse_time(text: str, slashed: tuple[str, ...]) -> datetime:
    """A time as exports show it, in UTC if it names no zone. Raises ValueError."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        found = _parse_shown_time(text.strip(), slashed)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _parse_shown_time(text: str, slashed: tuple[str, ...]) -> datetime:
    plain = _write_plainly(text)
    for form in (*TIME_FORMATS, *slashed):
        try:
            found = datetime.strptime(plain, form).replace(tzinfo=UTC)
        except ValueError:
            continue
        if found.year >= FIRST_YEAR:
            return found
    raise ValueError(f"{text!r:.40} is no time.")


def _write_plainly(text: str) -> str:
    """A time as any country writes it, with dashes, or with slashes where the order of day and month is open."""
    match = SHOWN.fullmatch(text)
    if match is None:
        return text
    day = match["day"].replace(". ", "-").rstrip(".")
    day = f"{short[1]}20{short[2]}" if (short := SHORT_YEAR.fullmatch(day)) else day
    day = (day.replace("/", "-") if day[:4].isdigit() else day).replace(".", "-")
    noon = NOONS.get((match["before"] or "").lower()) or (f"{match['after']}M".upper() if match["after"] else "")
    return f"{day} {match['hour']}:{match['minute']} {noon}".strip()
