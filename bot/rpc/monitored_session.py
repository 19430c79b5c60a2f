"""Sessions of the commands that run for long, with the probes of their process."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from bot.monitoring.health import ServerHealth, ServerState
from bot.monitoring.metrics import Metrics
from bot.monitoring.port import serving_probes
from bot.rpc import socket
from bot.rpc.session import open_session
from engine.scheduling.supervisor import child_task

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.monitoring.port import MonitoringPort
    from bot.rpc.session import ServiceSession
    from bot.rpc.socket import RemoteService
    from bot.settings import Settings
    from engine import Clock

CHECK_SECONDS = 2.0  # between two looks for a process that took over the data directory


@asynccontextmanager
async def open_monitored_session(
    settings: Settings, clock: Clock, *, lazily: bool = False
) -> AsyncIterator[tuple[ServiceSession, ServerHealth]]:
    """A session as `open_session` gives it, and what the probes say, which are served if their port is set.

    A process that comes to hold the data directory gets the port, too, if it wants it. Raises BadSetting if the address
    of the probes cannot be used.
    """
    health = ServerHealth(Metrics(clock))
    async with AsyncExitStack() as stack:
        before = await socket.find_service(settings.data_path) if settings.monitoring_port else None
        port = await stack.enter_async_context(
            serving_probes((settings.monitoring_host, settings.monitoring_port), health)
        )
        session = await stack.enter_async_context(open_session(settings, clock, health.metrics, lazily=lazily))
        health.become_ready(list_limitations=session.list_problems, list_obstacles=session.list_obstacles)
        if port is not None:
            watching = _give_way_to_holders(port, session, settings.data_path, before)
            await stack.enter_async_context(child_task(watching, "watch for a holder"))
        try:
            yield session, health
        finally:
            health.state = ServerState.DRAINING


async def _give_way_to_holders(
    port: MonitoringPort, session: ServiceSession, home: Path, known: RemoteService | None
) -> None:
    """Let each process that comes to hold the data directory have the port: what it says is about the data."""
    while True:
        found = None if session.holds_data else await socket.find_service(home)
        if found not in {None, known}:
            port.give_way()
            known = found
        await asyncio.sleep(CHECK_SECONDS)
