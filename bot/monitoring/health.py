"""Serve the probes /healthz and /readyz, and the metrics at /metrics, from the start of the process to its end."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from aiohttp import web
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from bot.errors import BadSetting
from bot.listeners.addresses import TrustedProxies
from bot.listeners.aiohttp_server import GuardedServer, running
from bot.listeners.limits import plan_connections
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence

    from bot.monitoring.metrics import Metrics

MAX_INACTIVITY_SECONDS = 300.0  # without an event or ping, after which a platform counts as disconnected
MAX_CONNECTIONS, PART_OF_FILES = 64, 1 / 32
SHUTDOWN_SECONDS = 1.0


class ServerState(StrEnum):
    """What a process is doing."""

    STARTING = "starting"
    STANDING_BY = "standing by"  # until another process leaves the database
    READY = "ready"
    DRAINING = "draining"  # finishes running work before it ends


@dataclass(slots=True)
class ServerHealth:
    """What the probes of a process say. `list_problems`: reasons to restart it; `list_limitations`: others."""

    metrics: Metrics
    state: ServerState = ServerState.STARTING
    list_problems: Callable[[], Sequence[str]] = list
    list_limitations: Callable[[], Awaitable[Sequence[str]]] | None = None

    def become_ready(
        self,
        metrics: Metrics,
        list_problems: Callable[[], Sequence[str]] = list,
        list_limitations: Callable[[], Awaitable[Sequence[str]]] | None = None,
    ) -> None:
        """Record that the bot works, its metrics, and how its problems are found."""
        self.metrics, self.list_problems, self.list_limitations = metrics, list_problems, list_limitations
        self.state = ServerState.READY

    async def describe(self) -> tuple[str, list[str]]:
        """The status (ok, degraded, failing, or the state of a process that is not ready) with its reasons."""
        failing, degraded = list(self.list_problems()), await self._load_limitations()
        if failing:
            return "failing", failing + degraded
        if self.state is not ServerState.READY:
            return self.state.value, degraded
        return ("degraded" if degraded else "ok"), degraded

    async def _load_limitations(self) -> list[str]:
        try:
            return list(await self.list_limitations()) if self.list_limitations is not None else []
        except EngineError as error:
            return [str(error)]


def list_health_problems(metrics: Metrics, platforms: Iterable[str], *, working: bool) -> list[str]:
    """Reasons why the bot is unhealthy; empty if it is healthy. `working`: whether the event queue is processed."""
    problems = [] if working else ["The event queue is not being processed."]
    for platform in sorted(platforms):
        age = metrics.seconds_since_activity(platform)
        if age == float("inf"):
            problems.append(f"No event has been received from {platform} yet.")
        elif age > MAX_INACTIVITY_SECONDS:
            problems.append(f"No event has been received from {platform} for {age:.0f} seconds.")
    return problems


@asynccontextmanager
async def serve_monitoring(host: str, port: int, health: ServerHealth) -> AsyncIterator[int]:
    """Serve the pages until the context exits; yields the port (port 0 lets the system choose). Raises BadSetting.

    /healthz answers 503 if the process should be restarted; /readyz answers 503 unless it takes requests.
    """

    async def show_health(_: web.BaseRequest) -> web.Response:
        status, reasons = await health.describe()
        return web.json_response({"status": status, "reasons": reasons}, status=503 if status == "failing" else 200)

    async def show_readiness(_: web.BaseRequest) -> web.Response:
        is_ready = health.state is ServerState.READY
        return web.json_response({"status": health.state.value}, status=200 if is_ready else 503)

    async def show_metrics(_: web.BaseRequest) -> web.Response:
        page = generate_latest(health.metrics.registry)
        return web.Response(body=page, headers={"Content-Type": CONTENT_TYPE_LATEST})

    routes = [web.get("/healthz", show_health), web.get("/readyz", show_readiness), web.get("/metrics", show_metrics)]
    server = GuardedServer(routes, plan_connections(MAX_CONNECTIONS, PART_OF_FILES), TrustedProxies(()))
    async with AsyncExitStack() as stack:
        try:
            bound = await stack.enter_async_context(running(server, host, port, SHUTDOWN_SECONDS))
        except OSError as error:
            raise BadSetting(
                f"THREADLORE_MONITORING_HOST and THREADLORE_MONITORING_PORT cannot be used: {error.strerror or error}."
            ) from error
        yield bound
