"""The graph: an entity with its relations."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from adapters.web.models import MAX_NAME_LENGTH, EntityBody, EntityItem, RelationItem
from adapters.web.operations import get_result
from adapters.web.scope import OF_TOKEN
from adapters.web.security import Token  # noqa: TC001  - read at run time
from bot.admin.requests import GetEntity
from bot.admin.results import EntityResult

router = APIRouter(tags=["graph"])


@router.get("/entities/{name:path}")
async def get_entity(
    http: Request,
    token: Token,
    name: Annotated[str, Path(min_length=1, max_length=MAX_NAME_LENGTH)],
    limit: Annotated[int, Query(ge=1, le=200)] = 30,
) -> EntityBody:
    """Get an entity with its strongest relations, as far as the token can read them."""
    found = await get_result(http, token, GetEntity(name, OF_TOKEN, limit), EntityResult)
    return EntityBody(entity=EntityItem.of(found.entity), relations=[RelationItem.of(each) for each in found.relations])
