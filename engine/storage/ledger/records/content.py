"""Records of documents: changes and their plans, chunks that wait for extraction, corrections."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import Enum, auto
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from engine.models import Omission

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.models import Chunk, Passage

SMALL_TALK_KEY = sha256(b"small talk").digest()  # of the chunks that state nothing, instead of a cache key


def incomplete_key(key: bytes) -> bytes:
    """The key of a chunk that was not read to its end, so that no other chunk reuses its facts."""
    return sha256(b"incomplete " + key).digest()


@dataclass(frozen=True, slots=True)
class ChangedRegion:
    """A part of a document around a change, with whole old chunks.

    `passages` are its current ones in order, from the first passage of `old_chunks[0]` on. Outside of the index range
    `changed` they equal the old ones. `is_first`, `is_last`: it contains the document's first or last chunk.
    """

    old_chunks: Sequence[Chunk]
    passages: Sequence[Passage]
    changed: range
    is_first: bool
    is_last: bool


@dataclass(frozen=True, slots=True)
class RechunkedRegion:
    """New chunks for the first `replaced_count` old chunks of a region."""

    chunks: tuple[Chunk, ...]
    replaced_count: int


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """Passages to insert or replace, and keys to remove; `is_open` None keeps a conversation as it is."""

    upserts: tuple[Passage, ...]
    removed_keys: frozenset[str]
    is_open: bool | None


class AmendmentResult(Enum):
    """The result of an amendment; after a conflict, or with too small a range, it is planned again."""

    CHANGED = auto()
    UNCHANGED = auto()
    CONFLICT = auto()
    RANGE_TOO_SMALL = auto()


@dataclass(frozen=True, slots=True)
class AmendmentPlan:
    """A document as of a generation, and the region of a change from the chunk `first_chunk` on.

    `changed_passages` differ from the stored ones; `region` is None if no passage changes.
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
    """A chunk that waits for extraction."""

    id: int
    document: int
    text: str
    section: str
    attempts: int
    space: int
    tokens: int
    kind: str


@dataclass(frozen=True, slots=True)
class ReadChunk:
    """A chunk with facts, and the `key` of their extraction."""

    id: int
    text: str
    section: str
    space: int
    kind: str
    key: bytes


class KeyCorrection(NamedTuple):
    """The corrections of a key: a description that overrides the merged one, and whether it is hidden.

    `asked_name`: how a person wrote it who merged another name into it, so that it is displayed unless texts write it
    otherwise. `part_name`: how a part that was split from a name is displayed. Both are None for other names.
    """

    pin: str | None
    is_hidden: bool
    asked_name: str | None = None
    part_name: str | None = None


INITIAL_REACH = 4  # chunks read before and after a change in the first try


WHOLE_DOCUMENT = 2**31


WIDEN_FACTOR = 8  # times more chunks in the next try


def widen_reach(reach: int) -> int:
    """The reach to try after one that was too small."""
    return min(WHOLE_DOCUMENT, WIDEN_FACTOR * reach)


def encode_omissions(omissions: Iterable[Omission]) -> str:
    """Omissions as JSON, an empty string for none."""
    rows = [asdict(omission) for omission in omissions]
    return json.dumps(rows, ensure_ascii=False) if rows else ""


def decode_omissions(text: str) -> tuple[Omission, ...]:
    """The omissions of `encode_omissions`."""
    return tuple(Omission(**row) for row in json.loads(text)) if text else ()
