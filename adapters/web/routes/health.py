"""Whether requests are answered, and how much of what a token can read is indexed."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

import structlog
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from adapters.web.models import StatusBody
from adapters.web.operations import get_result
from adapters.web.security import Token  # noqa: TC001  - read at run time
from bot.capabilities.requests import CheckHealth, GetStatus
from bot.capabilities.results import StatusResult
from bot.monitoring.report import HealthState
from engine.errors import EngineError

if TYPE_CHECKING:
    from bot.rpc.service import AdminService

log = structlog.get_logger(__name__)

REACHED, UNAVAILABLE = ("ok", "degraded"), "unavailable"

router = APIRouter(tags=["state"])


PROBE_SECONDS = 5.0  # the process that holds the data answers within 3


class HealthBody(BaseModel):
    """The state of the program: ok, degraded (something fails), failing, unavailable, or that of a start or an end."""

    status: str = "ok"


@router.get("/health", responses={503: {"model": HealthBody, "description": "Requests are not answered now."}})
async def get_health(http: Request, response: Response) -> HealthBody:
    """Answer without a token, and without reasons: `threadlore status` and the log have them."""
    found = await _check_health(http.app.state.service)
    if not found.is_ready:
        response.status_code = 503
    return HealthBody(status=found.status if found.is_ready or found.status not in REACHED else UNAVAILABLE)


async def _check_health(service: AdminService) -> HealthState:
    """The state of the process that holds the data, or that there is none within a bounded time."""
    try:
        async with asyncio.timeout(PROBE_SECONDS), aclosing(service.perform(CheckHealth())) as results:
            async for result in results:
                if isinstance(result, HealthState):
                    return result
    except (EngineError, TimeoutError) as error:
        log.warning("web.health_unknown", error=str(error) or "no answer in time")
    return HealthState(UNAVAILABLE, is_ready=False)


@router.get("/status")
async def get_status(http: Request, token: Token) -> StatusBody:
    """Count what the token can read."""
    found = await get_result(http, token, GetStatus(), StatusResult)
    status = found.status
    return StatusBody(
        documents=status.documents,
        passages=status.passages,
        entities=status.entities,
        relations=status.relations,
        waiting=status.unextracted + status.stale,
        trouble=status.trouble,
        spent_budget=status.spent_budget,
        unread_files=sum(count for _, count in found.unread_files),
    )
