"""Results about answers that are shared."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003  - the socket reads the fields' types at run time

from engine import Source  # noqa: TC001  - as above


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
