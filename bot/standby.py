"""Stand by while another process keeps the database to itself, or from an update, or while it takes no changes."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import structlog

from bot import bootstrap
from bot.monitoring.health import ServerState
from bot.store import migrate_store
from engine.errors import DatabaseInUse, DatabaseReadOnly, DatabaseUnreachable

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from bot.bootstrap import EngineModels
    from bot.context import EngineContext
    from bot.monitoring.health import ServerHealth
    from bot.settings import Settings
    from engine import Clock

log = structlog.get_logger(__name__)

STANDBY_SECONDS = 1.0  # between two attempts to open the database


async def open_when_free(
    stack: AsyncExitStack,
    settings: Settings,
    models: EngineModels,
    clock: Clock,
    stop: asyncio.Event,
    health: ServerHealth,
) -> EngineContext | None:
    """Open the engine, with the bot's tables up to date; None if `stop` is set meanwhile.

    Stands by while another process is alone on the database, or uses tables that an update would change under it, and
    while the server takes no changes.
    """
    has_waited = False
    while not stop.is_set():
        try:
            if settings.database.get_secret_value():
                await migrate_store(settings.database.get_secret_value())
            return await stack.enter_async_context(bootstrap.open_engine(settings, models, clock))
        except (DatabaseInUse, DatabaseReadOnly, DatabaseUnreachable) as error:
            # A server that restarts ends no stand-by; at the start its absence is reported.
            if isinstance(error, DatabaseUnreachable) and not has_waited:
                raise
            if not has_waited:
                log.info("server.standing_by", reason=str(error))
            has_waited = True
            health.state = ServerState.STANDING_BY
            with suppress(TimeoutError):
                async with asyncio.timeout(STANDBY_SECONDS):
                    await stop.wait()
    return None
