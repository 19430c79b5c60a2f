"""The port of the probes: served at once, or as soon as the program that has it leaves it."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import structlog

from bot.errors import BadSetting, PortInUse
from bot.monitoring.health import serve_monitoring
from engine.scheduling.supervisor import child_task

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.monitoring.health import ServerHealth
    from engine.errors import EngineError

log = structlog.get_logger(__name__)

UNSERVED = "The probes and metrics are not served"
RETRY_SECONDS = 1.0  # between two attempts to get the port
GIVE_WAY_SECONDS = 5.0  # for another program to get it


class MonitoringPort:
    """Serves the probes of a process at their port. While another program has it, their health says so."""

    def __init__(self, address: tuple[str, int], health: ServerHealth) -> None:
        self._address = address
        self._health = health
        self._asked = asyncio.Event()
        self._serving = AsyncExitStack()

    @property
    def is_served(self) -> bool:
        """Whether the probes answer."""
        return not self._health.metrics.unserved

    def give_way(self) -> None:
        """Let another program have the port, if it wants it; then try to get it back."""
        self._asked.set()

    async def open(self) -> None:
        """Serve the probes unless another program has the port. Raises BadSetting if the address cannot be used."""
        host, port = self._address
        try:
            await self._serving.enter_async_context(serve_monitoring(host, port, self._health))
        except PortInUse as error:
            self._record(error)
        else:
            if not self.is_served:
                log.info("monitoring.served", port=port)
            self._health.metrics.unserved = ""

    async def keep_open(self) -> None:
        """Try again while another program has the port, and give way when asked, until cancelled."""
        while True:
            if self.is_served:
                await self._asked.wait()
                await self._leave()
            else:
                await asyncio.sleep(RETRY_SECONDS)
            self._asked.clear()
            try:
                await self.open()
            except BadSetting as error:  # an address of the machine may be away for a while
                self._record(error)

    async def close(self) -> None:
        """Stop to listen."""
        await self._serving.aclose()

    def _record(self, error: EngineError) -> None:
        if self.is_served:
            log.warning("monitoring.not_served", error=str(error), hint=error.hint)
        self._health.metrics.unserved = f"{UNSERVED}: {error}"

    async def _leave(self) -> None:
        log.info("monitoring.gives_way", seconds=GIVE_WAY_SECONDS)
        await self.close()
        await asyncio.sleep(GIVE_WAY_SECONDS)


@asynccontextmanager
async def serving_probes(address: tuple[str, int], health: ServerHealth) -> AsyncIterator[MonitoringPort | None]:
    """Serve the probes during the block if their port is not 0. Raises BadSetting if the address cannot be used."""
    if not address[1]:
        yield None
        return
    port = MonitoringPort(address, health)
    await port.open()
    try:
        async with child_task(port.keep_open(), "monitoring port"):
            yield port
    finally:
        await port.close()
