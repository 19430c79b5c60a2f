"""Serve the probes /healthz and /readyz, and the metrics at /metrics, from the start of the process to its end."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from enum import StrEnum
from typing import TYPE_CHECKING

from aiohttp import web
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from bot.listeners.admission import TrustedProxies, plan_connections
from bot.listeners.aiohttp_server import GuardedServer, running
from bot.listeners.ports import port_error
from bot.monitoring.probes import LimitedProbe
from bot.monitoring.report import HealthState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence

    from bot.monitoring.metrics import Metrics

MAX_INACTIVITY_SECONDS = 300.0  # without an event or ping, after which a platform counts as disconnected
MAX_CONNECTIONS, PART_OF_FILES = 64, 1 / 32
SHUTDOWN_SECONDS = 1.0
NO_ANSWER = "The database did not answer within 3 seconds."
UNKNOWN_LIMITATIONS = "What waits and what has failed could not be found out within 3 seconds."
UNAVAILABLE = "unavailable"  # the process is ready, but its doors or its database are not


class ServerState(StrEnum):
    """What a process is doing."""

    STARTING = "starting"
    STANDING_BY = "standing by"  # until another process leaves the database
    READY = "ready"
    DRAINING = "draining"  # finishes running work before it ends


async def _find_nothing() -> Sequence[str]:
    return ()


class ServerHealth:
    """What the probes of a process say. All of it takes a bounded time."""

    def __init__(self, metrics: Metrics, state: ServerState = ServerState.STARTING) -> None:
        self.metrics = metrics
        self.state = state
        self.doors: dict[str, asyncio.Event] = {}
        self._list_problems: Callable[[], Sequence[str]] = list
        self._limitations = LimitedProbe(_find_nothing, UNKNOWN_LIMITATIONS)
        self._obstacles = LimitedProbe(_find_nothing, NO_ANSWER)

    def become_ready(
        self,
        list_problems: Callable[[], Sequence[str]] = list,
        list_limitations: Callable[[], Awaitable[Sequence[str]]] = _find_nothing,
        list_obstacles: Callable[[], Awaitable[Sequence[str]]] = _find_nothing,
    ) -> None:
        """Record that the process works.

        `list_problems`: reasons to restart it; `list_obstacles`: why requests cannot be answered at the moment;
        `list_limitations`: other failures.
        """
        self._list_problems = list_problems
        self._limitations = LimitedProbe(list_limitations, UNKNOWN_LIMITATIONS)
        self._obstacles = LimitedProbe(list_obstacles, NO_ANSWER)
        self.state = ServerState.READY

    def expect_door(self, name: str) -> asyncio.Event:
        """Count as ready only while the returned event is set: while a server for programs listens."""
        return self.doors.setdefault(name, asyncio.Event())

    async def describe(self) -> HealthState:
        """The state with its reasons."""
        obstacles, limitations = await asyncio.gather(self.list_obstacles(), self._limitations.list_problems())
        failing = list(self._list_problems())
        unserved = [self.metrics.unserved] if self.metrics.unserved else []
        degraded = [*obstacles, *self.metrics.failed_questions.list_problems(), *unserved, *limitations]
        reasons = tuple(dict.fromkeys([*failing, *degraded]))
        is_ready = self.state is ServerState.READY and not obstacles
        if failing:
            return HealthState("failing", reasons, is_ready)
        if self.state is not ServerState.READY:
            return HealthState(self.state.value, reasons, is_ready)
        return HealthState("degraded" if reasons else "ok", reasons, is_ready)

    async def list_obstacles(self) -> list[str]:
        """Why the process takes no requests at the moment, although it is ready: its doors and its database."""
        closed = [
            f"The door “{name}” is closed." for name, listens in sorted(self.doors.items()) if not listens.is_set()
        ]
        return [*closed, *await self._obstacles.list_problems()]


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
    """Serve the pages until the context exits; yields the port (port 0 lets the system choose).

    Raises BadSetting, or PortInUse.

    /healthz answers 503 if the process should be restarted; /readyz answers 503 unless it takes requests: its doors
    are open, its database answers, and it does not leave.
    """

    async def show_health(_: web.BaseRequest) -> web.Response:
        found = await health.describe()
        page = {"status": found.status, "reasons": list(found.reasons)}
        return web.json_response(page, status=503 if found.status == "failing" else 200)

    async def show_readiness(_: web.BaseRequest) -> web.Response:
        obstacles = await health.list_obstacles()
        is_ready = health.state is ServerState.READY and not obstacles
        status = UNAVAILABLE if health.state is ServerState.READY and obstacles else health.state.value
        return web.json_response({"status": status, "reasons": obstacles}, status=200 if is_ready else 503)

    async def show_metrics(_: web.BaseRequest) -> web.Response:
        page = generate_latest(health.metrics.registry)
        return web.Response(body=page, headers={"Content-Type": CONTENT_TYPE_LATEST})

    routes = [web.get("/healthz", show_health), web.get("/readyz", show_readiness), web.get("/metrics", show_metrics)]
    server = GuardedServer(routes, plan_connections(MAX_CONNECTIONS, PART_OF_FILES), TrustedProxies(()))
    async with AsyncExitStack() as stack:
        try:
            bound = await stack.enter_async_context(running(server, host, port, SHUTDOWN_SECONDS))
        except OSError as error:
            raise port_error(
                "THREADLORE_MONITORING_HOST and THREADLORE_MONITORING_PORT cannot be used", error
            ) from error
        yield bound
