"""Results of searches."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date  # noqa: TC003  - the socket reads the fields' types at run time

from engine import Source  # noqa: TC001  - the socket reads the fields' types at run time


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A passage that was found: in a document of a kind, with the part around the words, each piece as match or not."""

    source: Source
    kind: str
    excerpt: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A page of passages, of `total`. `is_similar`: none has the words, they are the closest in meaning.

    `is_truncated`: there may be more, which search did not look through. `corrected`: what was searched instead of
    misspelled words. `gap`, `as_of` as in AnswerEnd.
    """

    hits: tuple[SearchHit, ...]
    total: int
    is_similar: bool = False
    is_truncated: bool = False
    corrected: tuple[str, ...] = ()
    gap: str = ""
    as_of: date | None = None

    @property
    def sources(self) -> tuple[Source, ...]:
        """The passages."""
        return tuple(hit.source for hit in self.hits)

    @property
    def spaces(self) -> tuple[str, ...]:
        """The spaces of further facts: there are none."""
        return ()
