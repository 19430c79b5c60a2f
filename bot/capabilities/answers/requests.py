"""Requests about answers, and their results."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003  - the socket reads the fields' types at run time
from typing import Annotated, Literal

from pydantic import Field

from engine import Source  # noqa: TC001  - as above

AnswerId = Annotated[str, Field(min_length=1, max_length=100)]
MAX_COMMENT_LENGTH = 500  # characters


@dataclass(frozen=True, slots=True)
class RateAnswer:
    """Say whether an answer (its id) helped, and if it did not, why (optional)."""

    answer: AnswerId
    helpful: bool
    reason: Literal["", "wrong", "outdated", "missing-source", "unclear"] = ""
    comment: Annotated[str, Field(max_length=MAX_COMMENT_LENGTH)] = ""


@dataclass(frozen=True, slots=True)
class ShareAnswer:
    """Share an answer of yours (its id) with everybody who can read all of its sources, by a link."""

    answer: AnswerId


@dataclass(frozen=True, slots=True)
class UnshareAnswer:
    """Share an answer of yours (its id) no more."""

    answer: AnswerId


@dataclass(frozen=True, slots=True)
class ListSharedAnswers:
    """List the answers that you share."""


@dataclass(frozen=True, slots=True)
class GetSharedAnswer:
    """Get a shared answer by the id in its link."""

    share: AnswerId


AnswerRequest = RateAnswer | ShareAnswer | UnshareAnswer | ListSharedAnswers | GetSharedAnswer


@dataclass(frozen=True, slots=True)
class AnswerShared:
    """An answer is shared under an id."""

    share: str


@dataclass(frozen=True, slots=True)
class SharedAnswer:
    """A shared answer with excerpts of its sources. `answer`: its id, for whoever shared it; empty for others."""

    question: str
    text: str
    sources: tuple[Source, ...]
    name: str
    time: datetime
    answer: str = ""


@dataclass(frozen=True, slots=True)
class SharedLink:
    """A link to an answer of the caller."""

    share: str
    answer: str
    question: str
    time: datetime


@dataclass(frozen=True, slots=True)
class SharedList:
    """The links of the caller, the newest first."""

    links: tuple[SharedLink, ...]


AnswerResults = AnswerShared | SharedAnswer | SharedList
