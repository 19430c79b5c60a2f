"""The graph of an engine within a scope: find names, what is around them, and where each fact comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.boundary import MAX_RESULTS, check_number, guard_public_methods
from engine.knowledge.people import is_listed
from engine.retrieval.graph.entity_search import search_entities
from engine.text.names import normalize_name

if TYPE_CHECKING:
    from engine.boundary import OpenState
    from engine.maintenance import StoreMaintenance
    from engine.models import ContextEntity, Scope
    from engine.retrieval.graph.records import EntitySummary, FactProvenance, Subgraph, SubgraphQuery
    from engine.retrieval.retriever import Neighborhood, Retriever
    from engine.storage.ledger import LedgerStore

MAX_DEPTH = 2
MAX_FACTS = 500


@guard_public_methods
class EngineGraph:
    """The look-ups in the graph of an engine, each within the spaces of a scope. A damaged graph is rebuilt."""

    def __init__(
        self, state: OpenState, ledger: LedgerStore, retriever: Retriever, store_maintenance: StoreMaintenance
    ) -> None:
        self._state = state
        self._ledger = ledger
        self._retriever = retriever
        self._read = store_maintenance.run_with_recovery

    async def get_entity(self, name: str, scope: Scope) -> ContextEntity | None:
        """The entity of a name or alias within the scope's spaces; None if there is none."""
        return await self._read(lambda: self._retriever.get_entity(name, scope))

    async def get_neighborhood(self, name: str, scope: Scope, limit: int = 30) -> Neighborhood:
        """An entity with its heaviest relations and their other ends, within the scope's spaces."""
        check_number("limit", limit, 1, MAX_RESULTS)
        return await self._read(lambda: self._retriever.get_neighborhood(name, scope, limit))

    async def get_subgraph(self, query: SubgraphQuery) -> Subgraph:
        """The entities around one, and all relations between them; empty for an unknown name."""
        check_number("depth", query.depth, 1, MAX_DEPTH)
        check_number("limit", query.limit, 1, MAX_RESULTS)
        return await self._read(lambda: self._retriever.get_subgraph(query))

    async def get_provenance(self, name: str, scope: Scope, other: str = "", limit: int = 50) -> FactProvenance:
        """The newest facts of an entity, or of its relation to `other`, with their passages; none if unknown."""
        check_number("limit", limit, 1, MAX_FACTS)
        return await self._read(lambda: self._retriever.get_provenance(name, other, scope, limit))

    async def search(self, text: str, scope: Scope, limit: int = 20) -> list[EntitySummary]:
        """Entities by the beginning, the words or a similar spelling of a name; the most mentioned for no text."""
        check_number("limit", limit, 1, MAX_RESULTS)
        return await self._ledger.snapshot(lambda view: search_entities(view, text, scope, limit))

    async def has_people(self, scope: Scope) -> bool:
        """Whether people can be entities in all of the scope's spaces."""
        prefixes = await self._ledger.people.load_prefixes()
        return not any(is_listed(space, prefixes) for space in scope.spaces)

    async def find_names(self, prefix: str, scope: Scope, limit: int = 25) -> list[str]:
        """Names of entities that start with the prefix, the most mentioned first, within the scope's spaces."""
        check_number("limit", limit, 1, MAX_RESULTS)
        start = normalize_name(prefix) or prefix.strip().casefold()  # "1" is not a name, but may start one
        return await self._ledger.snapshot(
            lambda view: view.name_search.find_names_by_prefix(start, view.search.resolve_scope(scope), limit)
        )
