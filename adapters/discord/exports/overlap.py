"""Which messages of an exported file are in a form of the same channel that says more, too. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from adapters.discord.exports.identity import fold

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_OFFSET = timedelta(hours=14)  # of a local time from UTC


class ReadMessages:
    """Messages of the files that say more: their ids, how their words begin, and from when to when each file is."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._words: set[int] = set()
        self._spans: list[tuple[datetime, datetime]] = []

    def add_file(self, payloads: Iterable[Any]) -> None:
        """Add the messages of a file, as in JSON."""
        first, last = datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC)
        for payload in payloads:
            if (time := _time_of(payload)) is not None:
                first, last = min(first, time), max(last, time)
                self._ids.add(str(payload.get("id")))
                self._words.add(_begin_words(payload))
        self._spans.append((first, last))

    def has(self, payload: Any, *, by_id: bool) -> bool:
        """Whether a message is among these: by its id, or else by its time, which can be of any zone, and its words."""
        if (time := _time_of(payload)) is None:
            return False
        if by_id:
            return str(payload.get("id")) in self._ids
        near = [(time - first, last - time) for first, last in self._spans]
        if any(min(distances) > MAX_OFFSET for distances in near):
            return True
        return any(min(distances) >= -MAX_OFFSET for distances in near) and _begin_words(payload) in self._words


def _time_of(payload: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(payload["timestamp"])
    except (KeyError, TypeError, ValueError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _begin_words(payload: Any) -> int:
    """The first line of a message, by which two forms of it can be compared."""
    return hash(fold(str(payload.get("content") or "").strip().partition("\n")[0]))
