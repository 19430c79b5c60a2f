"""What the name of an exported file says of its channel, and ids for what the file does not identify. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

CHANNEL_NAME = re.compile(r"(?P<path>.*) \[(?P<id>\d{1,20})\].*", re.DOTALL)
MIN_DIGITS = 5  # of an id in the name of a file that does not prove by its content what it is
CONTENT = re.compile(
    rb"\A(?:\xef\xbb\xbf)?(?:\"?AuthorID\"?[,;]\"?Author\b|={62}\r?\nGuild: )|class=\"?chatlog__message"
)
DISCORD_EPOCH = 1_420_070_400_000  # milliseconds since 1970
SEQUENCE_BITS = 22
TIME_FORMATS = ("%d-%b-%y %I:%M %p", "%m/%d/%Y %I:%M %p", "%d/%m/%Y %H:%M", "%d.%m.%Y %H:%M", "%Y-%m-%d %H:%M")


def read_file_name(name: str, guild: str, start: bytes = b"") -> Mapping[str, Any] | None:
    """The guild and channel of a file such as `Town - Trades - roof [60000].csv`; None for another file.

    `guild`: its id, if somebody said it; else one is derived from its name. `start`: the first bytes, which prove that
    a file with another name is a channel, too.
    """
    *folders, file = name.split("/")
    stem = file.rpartition(".")[0]
    match = CHANNEL_NAME.fullmatch(stem)
    if not (CONTENT.search(start) or (match and len(match["id"]) >= MIN_DIGITS)):
        return None
    places = folders if stem.isdigit() and folders else [*folders, stem]  # a folder of numbered parts is one channel
    town, *rest = (match["path"] if match else places[-1]).split(" - ")
    id_ = match["id"] if match else invent_id("/".join(places))
    channel = {"id": id_, "type": "GuildTextChat", "name": rest[-1] if rest else town}
    return {"guild": {"id": guild or invent_id(town if match else ""), "name": town}, "channel": channel}


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


def parse_time(text: str) -> datetime:
    """A time as exports show it, in UTC if it names no zone. Raises ValueError."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        found = _parse_shown_time(text.strip())
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _parse_shown_time(text: str) -> datetime:
    for form in TIME_FORMATS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise ValueError(f"{text!r:.40} is no time.")
