"""A stretch of a document around a change, and the segment of new chunks that replaces a part of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.models import Chunk, Passage


@dataclass(frozen=True, slots=True)
class ChangedRegion:
    """A part of a document around a change, with whole chunks of its old cut.

    `passages` are those of it as they are now, in order, beginning with the first one of `old[0]`; `changed` is the
    range of their places outside of which nothing came, went or changed. `begins`, `ends`: it is the document's first
    stretch, or its last.
    """

    old_chunks: Sequence[Chunk]
    passages: Sequence[Passage]
    changed: range
    is_first: bool
    is_last: bool


@dataclass(frozen=True, slots=True)
class RechunkedRegion:
    """New chunks in the place of the first `replaced` old ones of a stretch."""

    chunks: tuple[Chunk, ...]
    replaced_count: int
