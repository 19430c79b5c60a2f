"""Records of background work: stale keys, facts and profiles to project, chunks to embed, cached results."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Literal, NamedTuple

from engine.usage import IndexingUsage, PausedTexts, sum_characters

if TYPE_CHECKING:
    from engine.errors import EngineError
    from engine.knowledge.merge import FactCounts
    from engine.storage.graph.base import GraphEdge, GraphNode
    from engine.storage.vectors.base import VectorTable
    from engine.usage import UsageMeter


class KeyKind(IntEnum):
    """The kinds of keys that are projected into graph and vectors."""

    CHUNK = 0
    NAME = 1
    PAIR = 2


class StaleKey(NamedTuple):
    """A key whose projection is outdated; it is removed only if `generation` is still the newest."""

    kind: KeyKind
    id: int
    generation: int


class SpaceTurn(NamedTuple):
    """The process that claims work, and the space whose turn was last. `paused`: texts that have no turn."""

    process: int = 0
    after: int = 0
    paused: PausedTexts = PausedTexts()


class ClaimedKeys(NamedTuple):
    """Stale keys that a process has claimed, and the space whose turn was last."""

    keys: tuple[StaleKey, ...]
    last_space: int


@dataclass(frozen=True, slots=True)
class EmbeddingFailure:
    """A stale key whose text cannot be embedded, and the error."""

    key: StaleKey
    error: EngineError


@dataclass(frozen=True, slots=True)
class OrphanKeys:
    """Ids of chunks, names and pairs without facts; `edges` are (id, ends) of pairs with a profile."""

    chunks: frozenset[int]
    names: frozenset[int]
    pairs: frozenset[int]
    edges: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class KeyFacts:
    """A name or a pair with its facts; `counts` is None if it has none or is hidden.

    `title` is the canonical name (or both names of a pair), `ends` the ids of a pair's names. `chosen_name`: how a name
    that a person chose in a merge is written; None for others.
    """

    id: int
    space: int
    title: str
    counts: FactCounts | None
    ends: tuple[int, int] = (0, 0)
    pinned_description: str | None = None
    exists_in_graph: bool = False
    has_profile: bool = False
    embedding_hash: bytes | None = None
    chosen_name: str | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """A merged key: a row of entity (label: name) or of relation (label: keywords)."""

    id: int
    space: int
    label: str
    description: str
    count: int
    type: str = ""
    ends: tuple[int, int] = (0, 0)
    retry_at: float | None = None
    summary_keys: frozenset[bytes] = field(default_factory=frozenset)


ProfileKind = Literal[KeyKind.NAME, KeyKind.PAIR]


EmbeddedKey = tuple[bytes | None, int]  # the hash of the text that a vector is of, None where there is none; its key


@dataclass(frozen=True, slots=True)
class ProjectionBatch:
    """Stale keys with their facts as of one moment; `end_names` are the names at the ends of pairs."""

    stale_keys: tuple[StaleKey, ...]
    names: tuple[KeyFacts, ...]
    pairs: tuple[KeyFacts, ...]
    removed_names: frozenset[int]
    removed_pairs: frozenset[int]
    end_names: dict[int, str]
    has_unextracted: bool
    generation: int


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The result of a batch: stale keys that are done or held, and the content of graph and vectors.

    `removed` are keys deleted from both; `failures` cannot be embedded and are given up after `attempts` tries.
    """

    done: list[StaleKey]
    held: list[StaleKey]
    graphed_names: list[int]
    graphed_pairs: list[int]
    embedded_entities: list[EmbeddedKey]
    embedded_relations: list[EmbeddedKey]
    failures: list[EmbeddingFailure]
    attempts: int
    removed_pairs: set[int]
    removed: list[StaleKey]
    usage: IndexingUsage


@dataclass(frozen=True, slots=True)
class FoldedBatch:
    """A batch with saved profiles: the content to write to graph and vectors, and to delete from them."""

    batch: ProjectionBatch
    held: set[tuple[KeyKind, int]]
    names: list[KeyFacts]
    pairs: list[KeyFacts]
    entities: list[Profile]
    relations: list[Profile]
    removed_names: set[int]
    removed_pairs: set[int]
    usage: UsageMeter

    @property
    def indexing_usage(self) -> IndexingUsage:
        """The model calls so far, and the profiles' characters by space."""
        profiles = (*self.entities, *self.relations)
        texts = ((profile.space, f"{profile.label}{profile.description}") for profile in profiles)
        return IndexingUsage(self.usage.items, sum_characters(texts))


@dataclass(frozen=True, slots=True)
class ChunkToEmbed:
    """A chunk whose vectors must be made or moved; it grows while its conversation is open."""

    id: int
    space: int
    room: int
    text: str
    text_hash: bytes
    attempts: int
    is_growing: bool = False


class PartialVectors(NamedTuple):
    """Vectors (float32, parts × dim) of the first `covered_chars` characters; `embedded_at_once`: in one call."""

    embedder: str
    covered_chars: int
    embedded_at_once: bool
    parts: int
    data: bytes


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """An answer as it was streamed, with the ids of the chunks, names and pairs that it used.

    `generation` is that of the ledger when they were retrieved.
    """

    key: bytes
    text: str
    generation: int
    chunks: frozenset[int] = frozenset()
    names: frozenset[int] = frozenset()
    pairs: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class ExpectedSample:
    """Some content that graph and vectors must have: vectors of chunks (float32, parts × dim), and edges.

    `spaces`: of the edges; `edge_count`: an upper limit of the edges at their ends.
    """

    chunk_vectors: dict[int, bytes]
    edges: list[GraphEdge]
    spaces: frozenset[int]
    edge_count: int


@dataclass(frozen=True, slots=True)
class ExpectedState:
    """The nodes, edges and vector locations (space, room) that the ledger expects; keys in `stale` may differ."""

    nodes: dict[int, GraphNode]
    edges: dict[int, GraphEdge]
    locations: dict[VectorTable, dict[int, tuple[int, int]]]
    stale: frozenset[tuple[KeyKind, int]]


class VectorPlaces(NamedTuple):
    """The numbers of the places of vectors in a store.

    `former`: of those by `former_embedder`, None if none are left. `changed_at`: the generation up to which all keys
    have to be embedded again; 0: no change is under way.
    """

    present: int = 0
    former: int | None = None
    former_embedder: str = ""
    changed_at: int = 0
