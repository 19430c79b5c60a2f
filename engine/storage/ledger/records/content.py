"""Records of documents: changes and their plans, chunks that wait for extraction, corrections."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

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


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """Passages to put and to drop; `open` None leaves a conversation as open as it is."""

    upserts: tuple[Passage, ...]
    removed_keys: frozenset[str]
    is_open: bool | None


class AmendmentResult(Enum):
    """What came of an amendment; one that came too late, or saw too little, is made anew."""

    CHANGED = auto()
    UNCHANGED = auto()
    CONFLICT = auto()
    RANGE_TOO_SMALL = auto()


@dataclass(frozen=True, slots=True)
class AmendmentPlan:
    """What was read: the document as of a generation, and the stretch from its chunk `first` on.

    `touched`: passages that differ from what stands there; `stretch` is None if none does.
    """

    id: int
    key: str
    generation: int
    is_open: bool
    first_chunk: int
    changed_passages: tuple[Passage, ...]
    removed_keys: frozenset[str]
    region: ChangedRegion | None


@dataclass(frozen=True, slots=True)
class UnextractedChunk:
    """A chunk that waits to be read."""

    id: int
    document: int
    text: str
    section: str
    attempts: int
    space: int
    tokens: int
    kind: str


class KeyCorrection(NamedTuple):
    """What was corrected of a key: a description that overrides the fold, and whether it is out of sight."""

    pin: str | None
    is_hidden: bool


INITIAL_REACH = 4  # chunks read before and after a change at first


WHOLE_DOCUMENT = 2**31


WIDEN_FACTOR = 8  # times as far, where too little was read


def widen_reach(reach: int) -> int:
    """The reach to try after one that was too small."""
    return min(WHOLE_DOCUMENT, WIDEN_FACTOR * reach)
