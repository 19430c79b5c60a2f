"""Services that perform requests: this process with its own engine, or a running process over the local socket."""

from __future__ import annotations

import asyncio
import importlib
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import structlog

from bot.rpc import socket
from bot.rpc.lifecycle import failing_when_lost
from engine.data_dir import DataDir
from engine.errors import DataDirInUse
from engine.memory import pause_garbage_collection
from engine.scheduling.supervisor import cancel_tasks

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator

    from bot.capabilities.deps import Deps, PartsSource
    from bot.capabilities.requests import OperationRequest
    from bot.capabilities.results import OperationResult
    from bot.context import EngineContext
    from bot.monitoring.health import ServerHealth
    from bot.monitoring.metrics import Metrics
    from bot.settings import Settings
    from engine import Clock, Engine

# For another process to answer after it locked the data directory; a program of somebody else never will.
START_SECONDS, FOREIGN_SECONDS, POLL_SECONDS = 6.0, 1.0, 0.1
SOURCES_TASK, WAIT_SECONDS = "sources", 15.0  # seconds between two looks for the bot's database


log = structlog.get_logger(__name__)


class AdminService(Protocol):
    """Performs requests."""

    def perform(self, request: OperationRequest) -> AsyncGenerator[OperationResult]:
        """Perform a request and yield its results; closing the generator stops the work. Raises EngineError."""


class RunningRequests:
    """How many requests a service performs now; `idle` is set while there is none."""

    def __init__(self) -> None:
        self._count = 0
        self.idle = asyncio.Event()
        self.idle.set()

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count one more meanwhile."""
        self._count += 1
        self.idle.clear()
        try:
            yield
        finally:
            self._count -= 1
            if not self._count:
                self.idle.set()


@dataclass(frozen=True, slots=True)
class LocalService:
    """Performs requests in this process."""

    deps: Deps
    running: RunningRequests = field(default_factory=RunningRequests, compare=False)

    @property
    def clock(self) -> Clock:
        """The clock of the engine."""
        return self.deps.clock

    async def perform(self, request: OperationRequest) -> AsyncGenerator[OperationResult]:
        """Perform a request on the own engine."""
        from bot.capabilities.run import run  # noqa: PLC0415  - a client does not need it

        with self.running.counting():
            async with aclosing(run(self.deps, request)) as results:
                async for result in results:
                    yield result


@asynccontextmanager
async def connect_or_open(
    settings: Settings, clock: Clock, *, replace_embedder: bool = False
) -> AsyncIterator[AdminService]:
    """Connect to the process that holds the data directory, or open the engine and serve the commands of others.

    For a single command: if others may have taken over the work of this process meanwhile, the block is cancelled, and
    DatabaseLost is raised. Raises DataDirInUse if another program holds the data directory and does not answer.
    """
    async with open_service(settings, clock, replace_embedder=replace_embedder) as service:
        if not isinstance(service, LocalService):
            yield service
            return
        async with failing_when_lost(service.deps.engine.processes):
            yield service


@asynccontextmanager
async def open_service(
    settings: Settings,
    clock: Clock,
    *,
    replace_embedder: bool = False,
    metrics: Metrics | None = None,
    hand_over: Callable[[], None] | None = None,
) -> AsyncIterator[AdminService]:
    """As `connect_or_open`, for a caller that watches the registration itself.

    `metrics`: of a program that runs for long, whose health they count for. `hand_over`: called when a bot that starts
    asks for the data directory; None if this program does not leave it to one.
    """
    async with AsyncExitStack() as stack:
        if (remote := await socket.find_service(settings.data_path)) is not None:
            yield remote
        else:
            yield await _ServiceOpener(settings, clock, stack, metrics, hand_over).open(replace_embedder)


@dataclass(frozen=True, slots=True)
class _ServiceOpener:
    """Opens the engine and serves its socket, until the stack is closed."""

    settings: Settings
    clock: Clock
    stack: AsyncExitStack
    metrics: Metrics | None
    hand_over: Callable[[], None] | None

    async def open(self, replace_embedder: bool) -> AdminService:  # noqa: FBT001  - of `open_service`
        """The service of this process, or of one that was faster."""
        bootstrap = await _load("bot.bootstrap")
        models = await self.stack.enter_async_context(bootstrap.open_models(self.settings, self.clock))
        holder = HolderWait(DataDir(self.settings.data_path), self.clock)
        while True:
            opened = bootstrap.open_engine(self.settings, models, self.clock, replace_embedder=replace_embedder)
            try:
                engine_context = await self.stack.enter_async_context(opened)
            except DataDirInUse:
                if remote := await socket.find_service(self.settings.data_path):
                    return remote
                if holder.is_over():
                    raise
                await asyncio.sleep(POLL_SECONDS)
            else:
                return await self._serve(engine_context)

    async def _serve(self, engine_context: EngineContext) -> LocalService:
        """The service of an engine; others reach it over the socket, unless the disk takes no socket."""
        service = LocalService(await self._build_deps(engine_context))
        if engine_context.engine.maintenance.file_access.refusal is None:
            serving = socket.serve_socket(self.settings.data_path, service.perform, self.hand_over)
            await self.stack.enter_async_context(serving)
        if self.metrics is not None and self.settings.backup_seconds:
            await self._start_backups(engine_context.engine)
        return service

    async def _start_backups(self, engine: Engine) -> None:
        """Write scheduled backups in a program that runs for long without a bot."""
        module = await _load("bot.capabilities.maintenance.scheduled")
        task = engine.supervisor.run(module.TASK, module.ScheduledBackups(engine, self.settings).run)
        self.stack.push_async_callback(cancel_tasks, task)

    async def _build_deps(self, engine_context: EngineContext) -> Deps:
        """The services of an engine beside which no bot runs."""
        metrics, bootstrap = self.metrics, await _load("bot.bootstrap")
        capabilities = await _load("bot.capabilities.deps")
        parts = bootstrap.LazyParts(engine_context, self.settings)
        self.stack.push_async_callback(parts.close)
        if metrics is not None:  # a program that runs for long
            reading = engine_context.engine.supervisor.run(SOURCES_TASK, lambda: _read_sources(parts))
            self.stack.push_async_callback(cancel_tasks, reading)
        health = None if metrics is None else await _build_health(metrics, engine_context.engine)
        deps: Deps = capabilities.Deps(engine_context, parts, metrics, health, ends_soon=metrics is None)
        return deps


async def _read_sources(parts: PartsSource) -> None:
    """Synchronize the sources that are due, once the bot's database exists, until cancelled."""
    while (found := await parts.find()) is None:  # noqa: ASYNC110 - a request makes the database
        await asyncio.sleep(WAIT_SECONDS)
    await found.ingest.sources.run()


async def _load(module: str) -> Any:
    """A module that takes long to import, which a client of another process does not need."""
    return await asyncio.to_thread(_import, module)


def _import(module: str) -> Any:
    with pause_garbage_collection():
        return importlib.import_module(module)


class HolderWait:
    """How long to wait for a process that holds a data directory without a socket: it starts, or it stops."""

    def __init__(self, folder: DataDir, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._since = clock.monotonic()
        self._owner: int | None = None

    def is_over(self) -> bool:
        """Whether it took too long; a program of somebody else never answers."""
        found = self._folder.find_owner()
        if self._clock.monotonic() - self._since >= (START_SECONDS if found else FOREIGN_SECONDS):
            return True
        if found != self._owner:
            log.info("data_dir.waiting", process=found)
        self._owner = found
        return False


async def _build_health(metrics: Metrics, engine: Engine) -> ServerHealth:
    """What an engine without a bot says of its health."""
    module = await _load("bot.monitoring.health")
    metrics.register_supervisor(engine.supervisor)
    health: ServerHealth = module.ServerHealth(metrics)
    health.become_ready(
        list_limitations=engine.maintenance.list_problems, list_obstacles=engine.maintenance.list_obstacles
    )
    return health
