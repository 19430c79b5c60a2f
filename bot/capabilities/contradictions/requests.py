"""Requests about statements that disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

Side = Literal["older", "newer"]
ContradictionId = Annotated[str, Field(min_length=1, max_length=64)]


@dataclass(frozen=True, slots=True)
class ListContradictions:
    """List statements that you can read of which two disagree and neither replaced the other; not what was decided."""


@dataclass(frozen=True, slots=True)
class SettleContradiction:
    """Say which of two statements is right: the older or the newer one; it becomes a verified answer."""

    id: ContradictionId
    right: Side


@dataclass(frozen=True, slots=True)
class DismissContradiction:
    """Say that two statements do not disagree."""

    id: ContradictionId


ContradictionRequests = ListContradictions | SettleContradiction | DismissContradiction
