"""What a request that is carried out yields, and one that erases: what went, or would go, with its receipt."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003  - read at run time
from dataclasses import dataclass, field
from datetime import datetime  # noqa: TC003  - read at run time
from typing import Any


@dataclass(frozen=True, slots=True)
class Completed:
    """The request is completed; the text is a sentence for the user."""

    text: str


@dataclass(frozen=True, slots=True)
class Forgotten(Completed):
    """A document of a room that was forgotten, with its title; or a message, with its time.

    `keys`: of the documents or the message; of what one person shared with the bot alone there is only the number,
    `private`, because its keys name them.
    """

    title: str = ""
    passages: int = 0
    room: str = ""
    time: datetime | None = None
    keys: tuple[str, ...] = ()
    private: int = 0
    receipt: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Erased(Completed):
    """A completed erasure. `receipt`: signed; empty if it could not be signed."""

    receipt: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ErasureRehearsal(Completed):
    """What an erasure would take: how much by kind, and the questions of answers that the caller may see."""

    counts: Mapping[str, int] = field(default_factory=dict)
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReceiptFound(Completed):
    """A receipt that was kept."""

    receipt: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReceiptChecked(Completed):
    """A signed receipt was compared with what is stored. `remaining`: how much of it is there, by kind."""

    remaining: Mapping[str, int] = field(default_factory=dict)
    erased_again: bool = False
