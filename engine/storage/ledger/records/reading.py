"""Records of reading: scopes and filters in the ledger's integers, texts, profiles, numbers and lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from engine.storage.ledger.records.projection import KeyKind

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class ScopeIds:
    """A scope in the ledger's integers: whole spaces, and single rooms."""

    spaces: frozenset[int]
    rooms: frozenset[int]


@dataclass(frozen=True, slots=True)
class ChunkText:
    """A chunk as it may be shown: its key, and its pieces in order."""

    id: int
    key: str
    document: str
    text: str
    pieces: tuple[PieceText, ...]


@dataclass(frozen=True, slots=True)
class PieceText:
    """A passage, or a part of one, as it stands in a chunk."""

    passage: str
    document: str
    title: str
    label: str
    link: str
    author: str
    time: datetime | None
    text: str
    space: str
    room: str


@dataclass(frozen=True, slots=True)
class EntityRecord:
    """A profile of a name; `stale`: its facts changed since it was made."""

    id: int
    space: int
    canonical: str
    name: str
    type: str
    description: str
    mentions: int
    degree: int
    is_stale: bool


@dataclass(frozen=True, slots=True)
class RelationRecord:
    """A profile of a pair; `ends` are names."""

    id: int
    space: int
    ends: tuple[int, int]
    keywords: str
    description: str
    weight: int
    is_stale: bool


SqlValue = str | int | None


@dataclass(frozen=True, slots=True)
class ChunkFilter:
    """Chunks by their ids if they are few, else by a condition on a chunk `c`.

    `since` and `until` bound the times of facts.
    """

    ids: frozenset[int] | None
    sql: str = "0"
    parameters: tuple[SqlValue, ...] = ()
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True)
class ResolvedFilters:
    """Chunks that hold something meant, and those that hold nothing else; names and pairs told there, if few."""

    matching_chunks: ChunkFilter
    fully_matching_chunks: ChunkFilter
    names: frozenset[int] | None = None
    pairs: frozenset[int] | None = None

    def listed_ids(self, kind: KeyKind) -> frozenset[int] | None:
        """The ids of that kind, if they are few."""
        return {KeyKind.CHUNK: self.matching_chunks.ids, KeyKind.NAME: self.names, KeyKind.PAIR: self.pairs}[kind]


class StatingPassage(NamedTuple):
    """A passage of a chunk that states a fact: the keys of its document and of itself, its room, its text."""

    document: str
    room: str
    passage: str
    text: str


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document as it is listed; `error` and `hint` tell what could not be read of it."""

    key: str
    space: str
    room: str
    kind: str
    title: str
    link: str
    time: datetime | None
    open: bool
    status: str
    error: str
    hint: str
    chunks: int
    passages: int


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """Numbers about what lies within a scope, and what the engine has still to do there.

    `trouble`: why a chunk that is tried again could not be read, in the words of the error; "" if there is none.
    `without_vector`: names and relations that the embedder does not take, found by their words alone, and why.
    `background`: one sentence for each background task of the program that is failing at the moment.
    """

    documents: dict[str, int]
    passages: int
    chunks: int
    entities: int
    relations: int
    unextracted: int
    stale: int
    failed: int
    trouble: str = ""
    without_vector: int = 0
    embedding_error: str = ""
    background: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentStatus:
    """How far a document has come; `error` and `hint` tell what could not be read of it."""

    status: str
    error: str
    hint: str

    @property
    def is_searchable(self) -> bool:
        """Whether a question finds it."""
        return self.status in {"searchable", "indexed"}


EMPTY_SORT_KEY = ("", "", "")
