"""Whether the API answers, and how much of what a token can read is indexed."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel

from adapters.web.models import StatusBody
from adapters.web.operations import get_result
from adapters.web.scope import OF_TOKEN
from adapters.web.security import Token  # noqa: TC001  - read at run time
from bot.admin.requests import GetStatus
from bot.admin.results import StatusResult

router = APIRouter(tags=["state"])


class HealthBody(BaseModel):
    """The API answers."""

    status: str = "ok"


@router.get("/health")
async def get_health() -> HealthBody:
    """Answer without a token."""
    return HealthBody()


@router.get("/status")
async def get_status(http: Request, token: Token) -> StatusBody:
    """Count what the token can read."""
    status = (await get_result(http, token, GetStatus(OF_TOKEN), StatusResult)).status
    return StatusBody(
        documents=status.documents,
        passages=status.passages,
        entities=status.entities,
        relations=status.relations,
        waiting=status.unextracted + status.stale,
        trouble=status.trouble,
    )
