"""The graph: search of entities, what is around them, where each fact comes from, and corrections."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from adapters.web.models import MAX_NAME_LENGTH, EntityBody
from adapters.web.operations import get_result
from adapters.web.routes.documents import Offset  # noqa: TC001  - read at run time
from adapters.web.routes.graph_models import (
    MAX_ENTITIES,
    CorrectedBody,
    CorrectionBody,
    CorrectionsBody,
    DuplicatesBody,
    EntitiesBody,
    FactAddedBody,
    FactBody,
    NameQuery,
    ProvenanceBody,
    SubgraphBody,
    SubgraphParameters,
)
from adapters.web.security import Token  # noqa: TC001  - read at run time
from bot.capabilities.graph.requests import (
    CorrectionList,
    EntityList,
    GetProvenance,
    ListCorrections,
    ProvenanceResult,
    SearchEntities,
    SubgraphResult,
)
from bot.capabilities.requests import MAX_RELATIONS, FindDuplicates, GetEntity
from bot.capabilities.results import Corrected, DuplicatesResult, EntityResult, FactAdded

router = APIRouter(tags=["graph"])

MAX_FACTS = 200
FactLimit = Annotated[int, Query(ge=1, le=MAX_FACTS)]
CorrectionLimit = Annotated[int, Query(ge=1, le=200)]
DuplicateLimit = Annotated[int, Query(ge=1, le=200)]


@router.get("/entities")
async def search_entities(
    http: Request,
    token: Token,
    search: Annotated[str, Query(max_length=MAX_NAME_LENGTH)] = "",
    limit: Annotated[int, Query(ge=1, le=MAX_ENTITIES)] = 20,
) -> EntitiesBody:
    """Search entities by the beginning, the words or a similar spelling of a name; no text: the most mentioned."""
    found = await get_result(http, token, SearchEntities(search, limit), EntityList)
    return EntitiesBody.of(found)


@router.get("/entities/{name:path}")
async def get_entity(
    http: Request,
    token: Token,
    name: Annotated[str, Path(min_length=1, max_length=MAX_NAME_LENGTH)],
    limit: Annotated[int, Query(ge=1, le=200)] = MAX_RELATIONS,
) -> EntityBody:
    """Get an entity with its strongest relations, as far as the token can read them."""
    return EntityBody.of(await get_result(http, token, GetEntity(name, limit), EntityResult))


@router.get("/graph")
async def get_subgraph(http: Request, token: Token, query: Annotated[SubgraphParameters, Query()]) -> SubgraphBody:
    """Get what is around an entity, the strongest relations first; of these types, and stated in this time."""
    return SubgraphBody.of((await get_result(http, token, query.to_request(), SubgraphResult)).subgraph)


@router.get("/graph/entity")
async def get_entity_provenance(http: Request, token: Token, name: NameQuery, limit: FactLimit = 50) -> ProvenanceBody:
    """Get an entity with every fact that its sources state, down to the message or page."""
    found = await get_result(http, token, GetProvenance(name, limit=limit), ProvenanceResult)
    return ProvenanceBody.of(found.provenance)


@router.get("/graph/relation")
async def get_relation_provenance(
    http: Request, token: Token, source: NameQuery, target: NameQuery, limit: FactLimit = 50
) -> ProvenanceBody:
    """Get a relation with every fact that its sources state, down to the message or page."""
    found = await get_result(http, token, GetProvenance(source, target, limit), ProvenanceResult)
    return ProvenanceBody.of(found.provenance)


@router.get("/graph/corrections")
async def list_corrections(
    http: Request, token: Token, offset: Offset = 0, limit: CorrectionLimit = 100
) -> CorrectionsBody:
    """List the corrections where the token may make them: in its space, or where its person may in the chat."""
    return CorrectionsBody.of(await get_result(http, token, ListCorrections(limit, offset), CorrectionList))


@router.get("/graph/duplicates")
async def list_duplicates(http: Request, token: Token, limit: DuplicateLimit = 50) -> DuplicatesBody:
    """List names that may mean the same entity, and names that were joined automatically, with the evidence."""
    found = await get_result(http, token, FindDuplicates(limit, compare_all=False), DuplicatesResult)
    return DuplicatesBody.of(found.report)


@router.post("/graph/facts")
async def add_fact(http: Request, token: Token, body: FactBody) -> FactAddedBody:
    """Add a fact: to the space of the token, or to a channel as if its person had posted it there."""
    added = await get_result(http, token, body.to_request(), FactAdded)
    return FactAddedBody(message=added.text, document=added.key)


@router.post("/graph/corrections")
async def correct(http: Request, token: Token, body: CorrectionBody) -> CorrectedBody:
    """Merge two names, hide, describe, separate, split or undo; responds once the correction is visible."""
    done = await get_result(http, token, body.to_request(), Corrected)
    return CorrectedBody(message=done.text, undo=body.to_undo(done))
