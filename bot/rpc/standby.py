"""Stand by while another process has the data, or keeps it from an update, or while the database takes no changes."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import structlog

from bot import bootstrap
from bot.monitoring.health import ServerState
from bot.rpc import socket
from bot.rpc.service import HolderWait
from bot.rpc.socket import HolderUnreached
from bot.store import migrate_store
from engine.data_dir import DataDir
from engine.errors import DatabaseInUse, DatabaseReadOnly, DatabaseUnreachable, DataDirInUse

if TYPE_CHECKING:
    from contextlib import AsyncExitStack
    from pathlib import Path

    from bot.context import EngineContext
    from bot.model_setup.opened import EngineModels
    from bot.monitoring.health import ServerHealth
    from bot.settings import Settings
    from engine import Clock

log = structlog.get_logger(__name__)

STANDBY_SECONDS = 1.0  # between two attempts to open the database
LEAVE_SECONDS = 60.0  # for the process that holds the data directory to close what it has open


class Holder:
    """The process that holds the data directory of a bot that starts."""

    def __init__(self, home: Path, clock: Clock) -> None:
        self._home = home
        self._clock = clock
        self._wait: HolderWait | None = None  # for one without a socket
        self._leaves_until = float("-inf")

    async def is_leaving(self) -> bool:
        """Ask it to leave the data directory to this bot; False if it does not."""
        with suppress(HolderUnreached):
            if (remote := await socket.find_service(self._home)) is not None:
                self._leaves_until = self._clock.monotonic() + LEAVE_SECONDS
                return await remote.hand_over()
        if self._clock.monotonic() < self._leaves_until:
            return True
        self._wait = self._wait or HolderWait(DataDir(self._home), self._clock)
        return not self._wait.is_over()


async def open_when_free(
    stack: AsyncExitStack,
    settings: Settings,
    models: EngineModels,
    clock: Clock,
    stop: asyncio.Event,
    health: ServerHealth,
) -> EngineContext | None:
    """Open the engine, with the bot's tables up to date; None if `stop` is set meanwhile.

    Stands by while another process is alone on the database, or uses tables that an update would change under it, while
    the server takes no changes, and while a program that is no bot leaves the data directory. Raises DataDirInUse if
    another bot or a command has it.
    """
    has_waited, holder = False, Holder(settings.data_path, clock)
    while not stop.is_set():
        try:
            if settings.database.get_secret_value():
                await migrate_store(settings.database.get_secret_value())
            return await stack.enter_async_context(bootstrap.open_engine(settings, models, clock))
        except (DatabaseReadOnly, DatabaseUnreachable, DataDirInUse) as error:
            # A server that restarts ends no stand-by; at the start its absence is reported.
            if isinstance(error, DatabaseUnreachable) and not has_waited:
                raise
            is_held = isinstance(error, DataDirInUse) and not isinstance(error, DatabaseInUse)
            if is_held and not await holder.is_leaving():
                raise
            if not has_waited:
                log.info("server.standing_by", reason=str(error))
            has_waited = True
            health.state = ServerState.STANDING_BY
            with suppress(TimeoutError):
                async with asyncio.timeout(STANDBY_SECONDS):
                    await stop.wait()
    return None
