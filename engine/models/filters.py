"""Filters of a question: given by its asker, or proposed by a language model from its words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import date, datetime


@dataclass(frozen=True, slots=True)
class Filters:
    """Restricts the chunks that a question may use; an empty field restricts nothing. Times are inclusive.

    `as_of`: the day, where the person asking is, as of whose end the answer is given; `until` is then no later.
    """

    documents: frozenset[str] = frozenset()
    rooms: frozenset[str] = frozenset()
    authors: frozenset[str] = frozenset()
    since: datetime | None = None
    until: datetime | None = None
    kinds: frozenset[str] = frozenset()  # of documents
    as_of: date | None = None

    @property
    def is_active(self) -> bool:
        """Whether any filter is set."""
        return bool(self.documents or self.rooms or self.authors or self.since or self.until or self.kinds)


@dataclass(frozen=True, slots=True)
class ProposedFilters:
    """What a language model takes for filters in a question; nothing of it is checked.

    `since`, `until`: the first and last day. `date_words`, `file_words`: the words of the question that say so.
    """

    channels: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    date_words: str = ""
    file_words: str = ""


@dataclass(frozen=True, slots=True)
class FilterLookup:
    """Lets a language model propose filters.

    `find_rooms` returns the rooms of all channels with a name, also of those that nobody there can read.
    """

    find_rooms: Callable[[str], Awaitable[frozenset[str]]]


@dataclass(frozen=True, slots=True)
class InferredFilters:
    """The proposed filters that passed all checks: names of channels and people, and days.

    `found`: false if nothing matched them, so that the search was done without them.
    """

    channels: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    only_files: bool = False
    found: bool = True
