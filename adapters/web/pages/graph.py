"""The explorer of the graph: search a name, see what is around it, check where facts come from, and correct them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from adapters.web.operations import Access, get_result
from adapters.web.pages.session import PageAccess  # noqa: TC001  - read at run time
from adapters.web.pages.shell import NavigationEntry, render_page, render_part
from adapters.web.routes.documents import Offset  # noqa: TC001  - read at run time
from adapters.web.routes.graph_models import (
    CorrectedBody,
    CorrectionBody,
    CorrectionsBody,
    EntitiesBody,
    NameQuery,
    ProvenanceBody,
    SubgraphBody,
    SubgraphParameters,
)
from bot.capabilities.graph.requests import (
    CorrectionList,
    EntityList,
    GetProvenance,
    ListCorrections,
    ProvenanceResult,
    SearchEntities,
    SubgraphResult,
)
from bot.capabilities.results import Corrected
from bot.errors import InvalidToken, NotAllowed

router = APIRouter(include_in_schema=False)

ENTRY = NavigationEntry("/graph", "Graph", "graph", "read")
MAX_SUGGESTIONS, MAX_FACTS = 12, 60
MAX_CORRECTIONS = 50  # on a page
OptionalName = Annotated[str, Query(max_length=500)]


@router.get("/graph")
async def show_graph(http: Request, access: PageAccess, entity: OptionalName = "") -> Response:
    """Show the explorer, around an entity if one is named."""
    found = await get_result(http, access, SearchEntities("", MAX_SUGGESTIONS), EntityList)
    return await render_page(http, access, "graph.html", entity=entity, starts=found.entities)


@router.get("/graph/entities")
async def suggest_entities(http: Request, access: PageAccess, search: OptionalName = "") -> EntitiesBody:
    """Suggest names while one is typed."""
    found = await get_result(http, access, SearchEntities(search, MAX_SUGGESTIONS), EntityList)
    return EntitiesBody.of(found)


@router.get("/graph/around")
async def show_around(http: Request, access: PageAccess, query: Annotated[SubgraphParameters, Query()]) -> SubgraphBody:
    """What is around an entity."""
    return SubgraphBody.of((await get_result(http, access, query.to_request(), SubgraphResult)).subgraph)


@router.get("/graph/details")
async def show_details(http: Request, access: PageAccess, name: NameQuery, other: OptionalName = "") -> Response:
    """The facts of an entity, or of its relation to another one, as a part of the page."""
    found = await get_result(http, access, GetProvenance(name, other, MAX_FACTS), ProvenanceResult)
    shown = ProvenanceBody.of(found.provenance)
    correctable = (await _list_corrections(http, access, limit=1)).spaces
    spaces = [(space, name_space(space)) for space in shown.spaces if space in correctable]
    return render_part("parts/graph_details.html", found=shown, spaces=spaces, name=name, other=other)


@router.get("/graph/corrections")
async def show_corrections(http: Request, access: PageAccess, offset: Offset = 0) -> Response:
    """The corrections that may be undone, as a part of the page."""
    found = await _list_corrections(http, access, MAX_CORRECTIONS, offset)
    made = [(correction, correction.to_undo().model_dump_json()) for correction in found.corrections]
    return render_part(
        "parts/graph_corrections.html", made=made, offset=offset, size=MAX_CORRECTIONS, has_more=found.has_more
    )


@router.post("/graph/corrections")
async def correct(http: Request, access: PageAccess, body: CorrectionBody) -> CorrectedBody:
    """Make a correction; responds once it is visible."""
    done = await get_result(http, access, body.to_request(), Corrected)
    return CorrectedBody(message=done.text, undo=body.to_undo(done))


async def _list_corrections(http: Request, access: Access, limit: int, offset: int = 0) -> CorrectionsBody:
    """Corrections, and the spaces in which whoever looks may make them; none without the permission."""
    try:
        found = await get_result(http, access, ListCorrections(limit, offset), CorrectionList)
    except InvalidToken:
        raise
    except NotAllowed:
        return CorrectionsBody(spaces=[], corrections=[])
    return CorrectionsBody.of(found)


def name_space(space: str) -> str:
    """A space in words: where what is corrected can be read."""
    kind = space.split(":")[2:3]
    return {"open": "Public channels", "adult": "Age-restricted channels", "dm": "Your own files"}.get(
        "".join(kind), f"Channel {kind[0]}" if kind else "This computer"
    )
