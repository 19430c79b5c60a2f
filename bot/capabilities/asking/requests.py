"""Requests to search, and what is found."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date  # noqa: TC003  - the socket reads the fields' types at run time
from typing import Annotated, Literal

from pydantic import Field

from engine import Source  # noqa: TC001  - the socket reads the fields' types at run time


@dataclass(frozen=True, slots=True)
class Search:
    """Search what you can read for words, of a `type` (conversation or file); empty fields do not filter.

    `channel` and `person`: names. `since` and `until`: days or other times, as typed in a question. `file`: a part of a
    title. `zone`, `as_of` as in Ask. `limit` of the passages from number `offset` on.
    """

    text: Annotated[str, Field(max_length=500)] = ""
    channel: Annotated[str, Field(max_length=80)] = ""
    person: Annotated[str, Field(max_length=80)] = ""
    since: Annotated[str, Field(max_length=40)] = ""
    until: Annotated[str, Field(max_length=40)] = ""
    type: Literal["", "conversation", "file"] = ""
    file: Annotated[str, Field(max_length=200)] = ""
    offset: Annotated[int, Field(ge=0, le=10_000)] = 0
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    zone: Annotated[str, Field(max_length=64)] = ""
    as_of: Annotated[str, Field(max_length=40)] = ""


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
