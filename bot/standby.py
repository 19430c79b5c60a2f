"""Stand by while another process works on the database, take over when it ends, and leave when the database is lost."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import structlog

from bot import bootstrap
from engine.errors import DatabaseInUse

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from bot.bootstrap import EngineModels
    from bot.context import EngineContext
    from bot.settings import Settings

log = structlog.get_logger(__name__)

STANDBY_SECONDS = 1.0  # between two attempts to take over the database


async def open_when_free(
    stack: AsyncExitStack, settings: Settings, models: EngineModels, stop: asyncio.Event
) -> EngineContext | None:
    """Open the engine. While another process works on the database, stand by; None if `stop` is set meanwhile."""
    log_once = log.info
    while not stop.is_set():
        try:
            return await stack.enter_async_context(bootstrap.open_engine(settings, models))
        except DatabaseInUse:
            log_once("server.standing_by")
            log_once = log.debug
            with suppress(TimeoutError):
                async with asyncio.timeout(STANDBY_SECONDS):
                    await stop.wait()
    return None


async def leave_when_lost(lost: asyncio.Event, leaving: asyncio.Event) -> None:
    """Leave at once when another process may have taken over the database: nothing more may be written."""
    await lost.wait()
    leaving.set()
