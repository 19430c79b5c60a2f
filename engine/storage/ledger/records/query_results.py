"""Records that queries return: scopes and filters as ids, texts, profiles, numbers and lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from engine.models import Omission
from engine.storage.ledger.records.projection import KeyKind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from engine.knowledge.duplicates.homonyms import TypeEvidence
    from engine.models import Omission

ExportFormat = Literal["jsonl", "graphml"]


@dataclass(frozen=True, slots=True)
class ScopeIds:
    """A scope as ids: whole spaces, and single rooms."""

    spaces: frozenset[int]
    rooms: frozenset[int]


class EntityMatch(NamedTuple):
    """An entity that a question names: the name as asked, its id, canonical name, mentions and degree."""

    alias: str
    id: int
    canonical: str
    mentions: int
    degree: int


class WordHits(NamedTuple):
    """Chunks that a search by words found, with BM25 scores, the best first.

    `known`: the share of the words of the question that any text within the scope contains.
    """

    scores: dict[int, float]
    known: float = 1.0


class StatedCounts(NamedTuple):
    """How many chunks state an entity, and how many of its relations they state."""

    mentions: int
    degree: int


@dataclass(frozen=True, slots=True)
class WalkEdges:
    """Weighted edges between entities (canonical names) and chunks (ids), and known degrees of entities."""

    edges: Mapping[tuple[str | int, str | int], float]
    degrees: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ChunkText:
    """A chunk with its key, and its pieces in order."""

    id: int
    key: str
    document: str
    text: str
    pieces: tuple[PieceText, ...]


@dataclass(frozen=True, slots=True)
class PieceText:
    """A passage of a chunk, or the part of it that is in the chunk."""

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
    """The profile of a name; stale if its facts changed since it was made."""

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
    """The profile of a pair; `ends` are the ids of its names."""

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
    """Chunks by their ids if they are few, else by a condition that only the store understands.

    `since` and `until` limit the times of facts, in microseconds since 1970. `is_past`: of a question as of a day, for
    which names, relations and words count as often as they stand in these chunks.
    """

    ids: frozenset[int] | None
    sql: str = "0"
    parameters: tuple[SqlValue, ...] = ()
    since: int | None = None
    until: int | None = None
    is_past: bool = False


@dataclass(frozen=True, slots=True)
class ResolvedFilters:
    """Chunks with a matching passage, and those with no other; names and pairs stated in these, if few."""

    matching_chunks: ChunkFilter
    fully_matching_chunks: ChunkFilter
    names: frozenset[int] | None = None
    pairs: frozenset[int] | None = None

    def listed_ids(self, kind: KeyKind) -> frozenset[int] | None:
        """The ids of a kind, if they are few."""
        return {KeyKind.CHUNK: self.matching_chunks.ids, KeyKind.NAME: self.names, KeyKind.PAIR: self.pairs}[kind]

    def list_past_ids(self, kind: KeyKind) -> frozenset[int] | None:
        """The ids of a kind as of a day, if it is a question as of a day and they are few."""
        return self.listed_ids(kind) if self.fully_matching_chunks.is_past else None


@dataclass(frozen=True, slots=True)
class LoadedScope:
    """A scope as ids, what matches its filters, and the ledger at that time: rows by space, the last change."""

    ids: ScopeIds
    filters: ResolvedFilters | None
    rows_by_space: Mapping[KeyKind, Mapping[int, int]]
    generation: int


class StatingPassage(NamedTuple):
    """A passage of a chunk that states a fact: the keys of document and passage, the room, the text."""

    document: str
    room: str
    passage: str
    text: str


class ComparedEntity(NamedTuple):
    """An entity with its space and canonical name."""

    id: int
    space: int
    canonical: str


class CandidatePair(NamedTuple):
    """Two entities of a space that may be the same; of each its names, its type, and the names of its neighbors."""

    space: str
    a: int
    b: int
    canonical: tuple[str, str]
    names: tuple[str, str]
    types: tuple[str, str]
    similarity: float
    neighbors_a: frozenset[str]
    neighbors_b: frozenset[str]


class TypedName(NamedTuple):
    """An entity with the types that several documents give it."""

    space: str
    name: str
    types: tuple[TypeEvidence, ...]


class JoinedName(NamedTuple):
    """A name that is joined automatically, and the entity that it is joined into; `chunk`: that defines it."""

    space: str
    id: int
    target: int
    canonical: str
    target_canonical: str
    name: str
    target_name: str
    reason: str
    chunk: int | None


@dataclass(frozen=True, slots=True)
class ManualCorrection:
    """A correction that a person made in a space, of an entity or, with `other`, of a relation or of two names.

    `kind`: merge (`name` into `other`; the description is `other` as the person wrote it), separate, describe (with
    this description), hide, or split (facts about `name` that follow the rule in the description, "type person" or
    "document KEY", are about `other`).
    """

    kind: str
    space: str
    name: str
    other: str
    description: str


@dataclass(frozen=True, slots=True)
class CorrectionChange:
    """The corrections that a correction made and removed. `unknown`: names of a merge that occur nowhere yet."""

    made: tuple[ManualCorrection, ...] = ()
    removed: tuple[ManualCorrection, ...] = ()
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document in a list; `error` and `hint` describe what could not be indexed.

    `omissions` and `coverage`: what of a file was not read, as in `Document`.
    """

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
    omissions: tuple[Omission, ...] = ()
    coverage: str = ""


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """Numbers of documents, facts and open work within a scope.

    `trouble`: the error of a chunk that is tried again, "" if there is none. `without_vector`: number of names and
    relations that the embedder rejects and only full text finds; `embedding_error`: the reason. `background`: one
    sentence for each failing background task of the program. `spent_budget`: that texts wait for a budget of indexing,
    "" if none does. `small_talk`: messages that were not read for facts, because they state nothing. `outdated`:
    chunks whose facts another choice of extraction gave than today's. `people`: what is told of people where they are
    no entities, "" where they are.
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
    spent_budget: str = ""
    small_talk: int = 0
    outdated: int = 0
    people: str = ""


@dataclass(frozen=True, slots=True)
class OutdatedTexts:
    """Chunks that another choice of extraction read than today's, with the tokens of those of files and of chats."""

    chunks: int
    file_tokens: int
    chat_tokens: int


@dataclass(frozen=True, slots=True)
class PeopleRemovalState:
    """How far a removal is. `number`: of the removal, 0 if there was none; `finished`: seconds since 1970, 0 before.

    `read`: chunks that were looked at, of `total`; `entities`: how many were removed.
    """

    number: int = 0
    after: int = 0
    read: int = 0
    total: int = 0
    entities: int = 0
    finished: float = 0.0

    @property
    def is_running(self) -> bool:
        """Whether facts about people may still be stored."""
        return bool(self.number) and not self.finished


@dataclass(frozen=True, slots=True)
class IndexProblem:
    """What was not read of a document: its `chunks` with one reason.

    `outcome`: what the model gave instead of facts, "" if another step failed; `unknown` with an empty key: texts of
    which a former version extracted nothing.
    """

    key: str
    title: str
    outcome: str
    error: str
    hint: str
    chunks: int


@dataclass(frozen=True, slots=True)
class DocumentStatus:
    """The progress of a document; `error` and `hint` describe what could not be indexed.

    `omissions` and `coverage`: what of a file was not read, as in `Document`.
    """

    status: str
    error: str
    hint: str
    omissions: tuple[Omission, ...] = ()
    coverage: str = ""


EMPTY_SORT_KEY = ("", "", "")


class IndexingDay(NamedTuple):
    """What indexing took on a day (ISO date, UTC): tokens of the models, and cost in US dollars."""

    day: str
    tokens: int
    cost: float
