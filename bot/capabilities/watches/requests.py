"""Requests about standing requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field


@dataclass(frozen=True, slots=True)
class AddWatch:
    """Be told privately of new messages that you can read: "somebody decides about the fence", "the date changes".

    Words without such a form: of every message that has them.
    """

    text: Annotated[str, Field(min_length=1, max_length=300)]


@dataclass(frozen=True, slots=True)
class ListWatches:
    """List what you want to be told of, with the newest message of each that you can read."""


@dataclass(frozen=True, slots=True)
class EndWatch:
    """Be told no more of a subject (its words, its id, or "all")."""

    subject: Annotated[str, Field(min_length=1, max_length=300)]


WatchRequests = AddWatch | ListWatches | EndWatch
