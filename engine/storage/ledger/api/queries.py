"""Repositories of reading: what a question searches, numbers and lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import datetime

    from engine.knowledge.merge import FactRow
    from engine.models import Filters, Scope
    from engine.storage.graph.base import GraphEdge, GraphNode
    from engine.storage.ledger.records.content import KeyCorrection
    from engine.storage.ledger.records.projection import ExpectedSample, ExpectedState, KeyKind, ProfileKind
    from engine.storage.ledger.records.query_results import (
        ChunkFilter,
        ChunkText,
        DocumentInfo,
        DocumentStatus,
        EntityMatch,
        EntityRecord,
        IndexingDay,
        IndexStatus,
        LoadedScope,
        ManualCorrection,
        RelationRecord,
        ResolvedFilters,
        ScopeIds,
        StatingPassage,
        WalkEdges,
    )


class Search(Protocol):
    """Reading for questions. Every text leaves through a scope."""

    async def resolve_scope(self, scope: Scope) -> ScopeIds:
        """The ids of a scope's spaces and rooms; unknown ones are left out."""

    async def load_scope(self, scope: Scope, within: Filters) -> LoadedScope:
        """A scope as ids, what matches the filters in it, and the state of the ledger at the same time."""

    async def filter_ids(self, filters: ResolvedFilters, kind: KeyKind, ids: Collection[int]) -> AbstractSet[int]:
        """Those of the ids that match the filters."""

    async def list_matching_ids(self, filters: Filters, scope_ids: ScopeIds, kind: KeyKind) -> frozenset[int]:
        """Every id of a kind that matches the filters, up to a limit."""

    async def count_by_space(self, spaces: Collection[int]) -> dict[KeyKind, dict[int, int]]:
        """The number of rows of each kind in each of these spaces; one other space with rows stands for the others."""

    async def search_chunks(
        self, text: str, k: int, scope_ids: ScopeIds, filters: ResolvedFilters | None = None
    ) -> dict[int, float]:
        """The k best chunks by full text, with BM25 scores within the scope, best first."""

    async def score_passages(self, question: str, texts: Sequence[str]) -> list[float]:
        """The BM25 score of each of these texts for a question, among these texts."""

    async def find_neighbor_messages(self, ids: Collection[int], span: int) -> list[tuple[int, int]]:
        """Pairs of a chunk among `ids` and one of the next chunks of its room; conversations only."""

    async def search_entities(
        self, text: str, k: int, scope_ids: ScopeIds, filters: ResolvedFilters | None = None
    ) -> list[int]:
        """The k entities with the best names by full text, best first."""

    async def find_entities_by_name(self, names: Collection[str], scope_ids: ScopeIds) -> list[int]:
        """Entities with one of these canonical names or an alias of it."""

    async def find_named_entities(self, names: Collection[str], scope_ids: ScopeIds) -> list[EntityMatch]:
        """Entities with one of these canonical names or an alias of it, with the name that was asked for."""

    async def find_titled_chunks(
        self, titles: Collection[str], scope_ids: ScopeIds, limit: int, only: ChunkFilter | None
    ) -> dict[str, list[int]]:
        """Chunks of files with these canonical titles, at most `limit` of each title."""

    async def load_walk_edges(
        self,
        names: Collection[str],
        chunks: Collection[int],
        scope_ids: ScopeIds,
        max_degree: int,
        only: ChunkFilter | None,
    ) -> WalkEdges:
        """The edges of entities and chunks for a random walk; entities beyond `max_degree` have none."""

    async def find_names_by_prefix(self, prefix: str, scope_ids: ScopeIds, limit: int) -> list[str]:
        """Entity names that start with a canonical prefix, most mentioned first."""

    async def find_entities_by_start(self, start: str, scope_ids: ScopeIds, limit: int) -> list[int]:
        """Entities with a name that starts with a canonical text, then those with such a word, most mentioned first."""

    async def list_relations_between(self, ids: Collection[int], scope_ids: ScopeIds) -> list[int]:
        """The relations whose two ends are among these entities."""

    async def list_corrections(self, scope_ids: ScopeIds, limit: int, offset: int) -> list[ManualCorrection]:
        """Some of the corrections made by hand in the scope's spaces, by kind and name."""

    async def load_entities(self, ids: Collection[int], scope_ids: ScopeIds) -> dict[int, EntityRecord]:
        """Entity profiles within the scope's spaces."""

    async def load_relations(self, ids: Collection[int], scope_ids: ScopeIds) -> dict[int, RelationRecord]:
        """Relation profiles within the scope's spaces."""

    async def load_chunk_texts(self, ids: Sequence[int], scope_ids: ScopeIds) -> list[ChunkText]:
        """Chunks within the scope with their pieces, in the order of `ids`."""

    async def load_sort_keys(self, kind: KeyKind, ids: Collection[int]) -> dict[int, tuple[str, str, str]]:
        """Texts that order rows of equal rank; missing rows are left out."""

    async def load_recent_facts(
        self, kind: ProfileKind, ids: Collection[int], newest: int, only: ChunkFilter | None = None
    ) -> dict[int, list[FactRow]]:
        """The newest facts of each key, at most `newest` of each name, from the chunks `only` if given."""

    async def load_corrections(self, kind: KeyKind, ids: Collection[int]) -> dict[int, KeyCorrection]:
        """Pinned descriptions and hidden keys; missing rows are left out."""

    async def load_space_names(self, ids: Collection[int]) -> tuple[str, ...]:
        """The names of spaces, in order."""

    async def find_evidence_chunks(
        self, kind: KeyKind, ids: Sequence[int], newest: int, only: ChunkFilter | None
    ) -> dict[int, list[int]]:
        """The newest chunks that state each key, newest first, among `only` if given."""

    async def find_stating_passages(self, names: Collection[int], pairs: Collection[int]) -> list[StatingPassage]:
        """Passages of the newest chunks that mention these names or link these pairs."""

    async def list_latest_chunks(self, filters: Filters, scope_ids: ScopeIds, limit: int) -> list[int]:
        """The newest chunks that match the filters, newest first."""

    async def find_latest_time(self, filters: Filters, scope_ids: ScopeIds) -> datetime | None:
        """The time of the newest chunk that matches the filters."""

    async def list_authors(self, scope_ids: ScopeIds) -> list[str]:
        """The names of everybody who wrote something within the scope, in order."""

    async def has_excluded_undated(self, scope: Scope, filters: Filters) -> bool:
        """Whether a document is excluded by the filters' time span only because it has no date."""


class Stats(Protocol):
    """Numbers and lists: of a scope, and of the whole ledger to compare graph and vectors with."""

    async def load_index_status(self, scope: Scope) -> IndexStatus:
        """Numbers of documents, facts and open work within the scope."""

    async def load_document_status(self, key: str, scope: Scope) -> DocumentStatus:
        """The progress of a document. Raises NotFound."""

    async def list_documents(self, scope: Scope) -> list[DocumentInfo]:
        """The documents within the scope, by title."""

    async def list_nodes(self) -> list[GraphNode]:
        """Every entity."""

    async def list_edges(self) -> list[GraphEdge]:
        """Every relation."""

    async def list_last_graphed(self) -> tuple[list[int], list[GraphEdge]]:
        """The entities and relations that were written to the graph last."""

    async def find_last_chunk_id(self) -> int:
        """The highest id that any chunk ever had; 0 if there was none."""

    async def load_expected(self) -> ExpectedState:
        """The content that graph and vectors should have."""

    async def load_sample(self, embedder: str, limit: int) -> ExpectedSample:
        """The newest chunk vectors and edges that were written to vectors and graph, at most `limit` of each."""

    async def list_chunk_vectors(self, embedder: str, after: int, limit: int) -> list[tuple[int, bytes]]:
        """The vectors (float32, parts × dim) that chunks with ids above one should have, at most `limit` by id."""

    async def list_indexing_usage(self, space: str, prefix: str, since: str) -> list[IndexingDay]:
        """What indexing took on each day since one (ISO dates): of a space, or of those with a prefix."""
