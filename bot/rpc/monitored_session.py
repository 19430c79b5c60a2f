"""Sessions of the commands that run for long, with the probes of their process."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import structlog

from bot.errors import PortInUse
from bot.monitoring.health import ServerHealth, ServerState, serve_monitoring
from bot.monitoring.metrics import Metrics
from bot.rpc.session import open_session

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.rpc.session import ServiceSession
    from bot.settings import Settings
    from engine import Clock

log = structlog.get_logger(__name__)


@asynccontextmanager
async def open_monitored_session(
    settings: Settings, clock: Clock, *, lazily: bool = False
) -> AsyncIterator[tuple[ServiceSession, ServerHealth]]:
    """A session as `open_session` gives it, and what the probes say, which are served if their port is set.

    Raises BadSetting if they cannot be, unless another program serves its own on that port.
    """
    health = ServerHealth(Metrics(clock))
    async with AsyncExitStack() as stack:
        await _serve_probes(stack, settings, health)
        session = await stack.enter_async_context(open_session(settings, clock, health.metrics, lazily=lazily))
        health.become_ready(
            health.metrics, list_limitations=session.list_problems, list_obstacles=session.list_obstacles
        )
        try:
            yield session, health
        finally:
            health.state = ServerState.DRAINING


async def _serve_probes(stack: AsyncExitStack, settings: Settings, health: ServerHealth) -> None:
    """Serve the probes if their port is set, and no program that runs beside this one has it. Raises BadSetting."""
    if not settings.monitoring_port:
        return
    try:
        await stack.enter_async_context(serve_monitoring(settings.monitoring_host, settings.monitoring_port, health))
    except PortInUse as error:
        log.warning("monitoring.not_served", error=str(error))
