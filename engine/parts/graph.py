"""Explore the graph within a scope: find names, see what is around them, and where each fact comes from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, TypeVar

from engine.boundary import MAX_RESULTS, Closable, check_number, guard_public_methods
from engine.retrieval.graph.entity_search import search_entities

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from engine.models import ContextEntity, Scope
    from engine.retrieval.graph.records import EntitySummary, FactProvenance, Subgraph, SubgraphQuery
    from engine.retrieval.retriever import Neighborhood, Retriever
    from engine.storage.ledger.api import LedgerStore
    from engine.storage.ledger.records import ManualCorrection

Result = TypeVar("Result")

MAX_DEPTH = 2
MAX_FACTS = 500


@guard_public_methods
class GraphLookup(Closable, ABC):
    """The look-ups in the graph of an engine, each within the spaces of a scope."""

    _ledger: LedgerStore
    _retriever: Retriever

    @abstractmethod
    async def _read_graph(self, read: Callable[[], Awaitable[Result]]) -> Result:
        """Read from the graph, which is rebuilt if it is damaged."""

    async def get_entity(self, name: str, scope: Scope) -> ContextEntity | None:
        """The entity of a name or alias within the scope's spaces; None if there is none."""
        return await self._read_graph(lambda: self._retriever.get_entity(name, scope))

    async def get_neighborhood(self, name: str, scope: Scope, limit: int = 30) -> Neighborhood:
        """An entity with its heaviest relations and their other ends, within the scope's spaces."""
        check_number("limit", limit, 1, MAX_RESULTS)
        return await self._read_graph(lambda: self._retriever.get_neighborhood(name, scope, limit))

    async def get_subgraph(self, query: SubgraphQuery) -> Subgraph:
        """The entities around one, and all relations between them; empty for an unknown name."""
        check_number("depth", query.depth, 1, MAX_DEPTH)
        check_number("limit", query.limit, 1, MAX_RESULTS)
        return await self._read_graph(lambda: self._retriever.get_subgraph(query))

    async def get_provenance(self, name: str, scope: Scope, other: str = "", limit: int = 50) -> FactProvenance:
        """The newest facts of an entity, or of its relation to `other`, with their passages; none if unknown."""
        check_number("limit", limit, 1, MAX_FACTS)
        return await self._read_graph(lambda: self._retriever.get_provenance(name, other, scope, limit))

    async def search_entities(self, text: str, scope: Scope, limit: int = 20) -> list[EntitySummary]:
        """Entities by the beginning, the words or a similar spelling of a name; the most mentioned for no text."""
        check_number("limit", limit, 1, MAX_RESULTS)
        async with self._ledger.snapshot() as view:
            return await search_entities(view, text, scope, limit)

    async def list_corrections(self, scope: Scope, limit: int = 100, offset: int = 0) -> list[ManualCorrection]:
        """Some of the corrections that people made in the scope's spaces, by kind and name."""
        check_number("limit", limit, 1, MAX_RESULTS)
        async with self._ledger.snapshot() as view:
            return await view.search.list_corrections(await view.search.resolve_scope(scope), limit, offset)
