"""Operations that explore the graph: search names, get a subgraph, the provenance of a fact, and corrections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.access.home import find_correctable
from bot.capabilities.graph.requests import CorrectionList, EntityList, ProvenanceResult, SubgraphResult
from engine import SubgraphQuery
from engine.errors import NotFound
from engine.text.names import normalize_name

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.graph.requests import GetProvenance, GetSubgraph, ListCorrections, SearchEntities
    from bot.capabilities.results import OperationResult
    from engine import Engine, Scope

MAX_SIMILAR_NAMES = 5
NO_PEOPLE = "People are not in the graph here."


async def search_entities(deps: Deps, caller: Caller, request: SearchEntities) -> AsyncGenerator[OperationResult]:
    """Yield the entities."""
    yield EntityList(tuple(await deps.engine.graph.search(request.text, caller.scope, request.limit)))


async def get_subgraph(deps: Deps, caller: Caller, request: GetSubgraph) -> AsyncGenerator[OperationResult]:
    """Yield what is around an entity. Raises NotFound."""
    query = SubgraphQuery(
        request.name, caller.scope, request.depth, request.limit, request.types, request.since, request.until
    )
    found = await deps.engine.graph.get_subgraph(query)
    if not found.nodes:
        raise await _build_subgraph_error(deps.engine, request, caller.scope)
    yield SubgraphResult(found)


async def get_provenance(deps: Deps, caller: Caller, request: GetProvenance) -> AsyncGenerator[OperationResult]:
    """Yield the facts of an entity or a relation with their passages. Raises NotFound."""
    engine, other = deps.engine, request.other
    found = await engine.graph.get_provenance(request.name, caller.scope, other, request.limit)
    if found.relation is None and found.entity is None:
        if other:
            raise NotFound(f"There is no relation of “{request.name}” and “{other}”.", hint="Check both names.")
        raise await build_not_found(engine, request.name, caller.scope)
    yield ProvenanceResult(found)


async def list_corrections(deps: Deps, caller: Caller, request: ListCorrections) -> AsyncGenerator[OperationResult]:
    """Yield the corrections of the spaces that the caller may correct."""
    scope = await find_correctable(deps, caller)
    found = await deps.engine.corrections.list(scope, request.limit + 1, request.offset)
    shown, has_more = found[: request.limit], len(found) > request.limit
    yield CorrectionList(tuple(sorted(scope.spaces)), tuple(shown), has_more)


async def _build_subgraph_error(engine: Engine, request: GetSubgraph, scope: Scope) -> NotFound:
    """The error for a name that is not in scope, or about which nothing of the time that was asked for is known."""
    is_timed = request.since is not None or request.until is not None
    if is_timed and await engine.graph.get_entity(request.name, scope) is not None:
        return NotFound(f"Nothing of this time is known about “{request.name}”.", hint="Choose a longer time.")
    return await build_not_found(engine, request.name, scope)


async def build_not_found(engine: Engine, name: str, scope: Scope) -> NotFound:
    """The error for a name that is not in scope, with similar names that are."""
    alike = await engine.graph.find_names(normalize_name(name)[:3], scope, MAX_SIMILAR_NAMES)
    if alike:
        return NotFound(f"There is no entity “{name}”.", hint=f"Similar names: {', '.join(alike)}.")
    hint = "Use a name as it is spelled in a document, or ask a question."
    if not await engine.graph.has_people(scope):
        hint = f"{NO_PEOPLE} {hint}"
    return NotFound(f"There is no entity “{name}”.", hint=hint)
