"""Make routes of the rows of capabilities that say enough."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from pydantic import create_model

from adapters.web.models import Body
from adapters.web.operations import perform
from adapters.web.security import Token
from bot.capabilities.fields import build_request, list_fields
from bot.capabilities.results import ProgressUpdate
from bot.capabilities.row import Surface
from bot.capabilities.table import list_rows
from bot.rpc.codec import dump_fields
from bot.text.signature import build_parameter, give_signature

if TYPE_CHECKING:
    from bot.capabilities.row import Capability


def build_router() -> APIRouter:
    """The routes of all rows that HTTP derives: `POST /NAME`, with the fields of the request as a body."""
    router = APIRouter(tags=["capabilities"])
    for row in list_rows():
        if Surface.HTTP in row.derived:
            add_route(router, row)
    return router


def add_route(router: APIRouter, row: Capability) -> None:
    """Add the route of a row; its response is the last result."""

    async def endpoint(http: Request, token: str, body: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        async with aclosing(perform(http, token, build_request(row, body.model_dump()))) as results:
            async for result in results:
                if not isinstance(result, ProgressUpdate):
                    found = dump_fields(result)
        return found

    endpoint.__name__, endpoint.__doc__ = row.name.replace("-", "_"), row.request.__doc__
    kinds = {"http": Request, "token": Token, "body": _build_body(row)}
    give_signature(endpoint, [build_parameter(name, kind) for name, kind in kinds.items()])
    router.add_api_route(f"/{row.name}", endpoint, methods=["POST"], summary=row.summary, response_model=dict[str, Any])


def _build_body(row: Capability) -> type[Body]:
    """The body of a request, with its fields and their checks."""
    fields: dict[str, Any] = {
        field.name: (field.type, ... if field.is_required else field.default) for field in list_fields(row)
    }
    return create_model(f"{row.request.__name__}Body", __base__=Body, __doc__=row.request.__doc__, **fields)
