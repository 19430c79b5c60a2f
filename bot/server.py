"""Run the bot: one process, one data directory, and all configured platforms, until stopped."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog

from bot import bootstrap
from bot.bot import Bot
from bot.capabilities.table import list_rows
from bot.dispatch.dispatcher import AttachedPlatforms
from bot.errors import BadSetting, SetupError
from bot.model_setup.checks import log_problems
from bot.monitoring.health import ServerHealth, ServerState
from bot.monitoring.metrics import Metrics
from bot.monitoring.port import serving_probes
from bot.monitoring.traces import open_tracer
from bot.plugins import list_adapter_names, load_adapter, load_door
from bot.rpc import lifecycle, socket, standby
from bot.rpc.service import LocalService
from bot.settings import PREFIX
from bot.setup.misplaced import list_misplaced
from engine.errors import LOST, DatabaseLost, EngineError
from engine.llm.client.protocol import CallObservers
from engine.scheduling.supervisor import cancel_tasks, child_task, describe_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

    from bot.capabilities.deps import Deps
    from bot.context import EngineContext
    from bot.model_setup.opened import EngineModels
    from bot.plugins import Adapter
    from bot.settings import Settings
    from engine import Clock
    from engine.scheduling.supervisor import Supervisor

log = structlog.get_logger(__name__)

DRAIN_TIMEOUT = 20.0  # seconds for what is under way when the program is told to stop
SETUP_HINT = (
    "Run `threadlore init`, or set the tokens of a platform, which .env.example lists: in the environment, in .env in"
    " the data directory, or in a file of your choice (`threadlore --env-file .env serve`)."
)


async def serve(
    settings: Settings, stop: asyncio.Event, clock: Clock, only: Sequence[str] = (), doors: Sequence[str] = ()
) -> None:
    """Serve `only` these platforms, or all configured ones, until `stop` is set; then finish work in progress.

    `doors` let programs ask, too.

    A platform that cannot be reached is retried without a limit. Raises BadSetting if none is configured, or if the
    capabilities of a package cannot be used, DataDirInUse, and SetupError once no platform accepts the configuration.
    """
    list_rows()  # a package that cannot be used is named now, and not by the first request
    chosen = tuple(only) or configured_platforms(settings)
    if not chosen:
        raise BadSetting(f"No platform is set up.{_describe_adapter_settings(settings)}", hint=SETUP_HINT)
    adapters = {name: load_adapter(name) for name in chosen}
    async with AsyncExitStack() as stack:
        metrics = Metrics(clock, await stack.enter_async_context(open_tracer(enabled=settings.traces)))
        health, observers = ServerHealth(metrics), CallObservers(metrics.record_llm_call, metrics.record_reply)
        await stack.enter_async_context(serving_probes((settings.monitoring_host, settings.monitoring_port), health))
        models = await stack.enter_async_context(bootstrap.open_models(settings, clock, observers))
        engine_context = await standby.open_when_free(stack, settings, models, clock, stop, health)
        if engine_context is None:
            return
        bot = await stack.enter_async_context(running_bot(engine_context, settings, health))
        for name in adapters:
            bot.expect_platform(name)
        await _begin_work(stack, bot, models, settings, health)
        leaving = _watch_for_end(stack, bot, stop, health)
        connections = [
            *(
                PlatformConnection(name, partial(_connect, name, run, bot, settings, leaving), leaving)
                for name, run in adapters.items()
            ),
            *_list_doors(doors, LocalService(build_deps(bot, health)), settings, leaving),
        ]
        await _run_until_stopped({connection.start(bot.supervisor): connection for connection in connections}, leaving)
        if bot.processes.lost.is_set():
            raise DatabaseLost(LOST)


async def _connect(name: str, run: Adapter, bot: Bot, settings: Settings, stop: asyncio.Event) -> None:
    """Run an adapter. Raises SetupError, before anything is sent, if a secret is in the place of another one."""
    if misplaced := list_misplaced(name, settings):
        raise SetupError("\n".join(misplaced))
    await run(bot, settings, stop)


async def _begin_work(
    stack: AsyncExitStack, bot: Bot, models: EngineModels, settings: Settings, health: ServerHealth
) -> None:
    """Measure and watch the bot from now on, and load its models."""
    bot.supervisor.watch_loop(asyncio.get_running_loop())
    stack.push_async_callback(cancel_tasks, bot.supervisor.spawn("warm up", models.warm_up()))
    checking = bot.supervisor.spawn("check models", log_problems(settings, bot.context.clock))
    stack.push_async_callback(cancel_tasks, checking)
    engine = bot.context.engine_context.engine

    async def list_limitations() -> Sequence[str]:
        counts = models.calls.prompt_counts.list_differences() if models.calls else ()
        return [*await bot.limitations(), *counts]

    health.become_ready(bot.list_health_problems, list_limitations, engine.maintenance.list_obstacles)


def _watch_for_end(stack: AsyncExitStack, bot: Bot, stop: asyncio.Event, health: ServerHealth) -> asyncio.Event:
    """The event that is set when the platforms are to disconnect: after a stop, or a loss of the database."""
    leaving = asyncio.Event()
    watching = lifecycle.watch_registration(bot.processes, partial(_leave, leaving, health))
    stack.push_async_callback(cancel_tasks, bot.supervisor.spawn("watch database", watching))
    draining = bot.supervisor.run("drain", lambda: _drain(bot, stop, leaving, health))
    stack.push_async_callback(cancel_tasks, draining)
    return leaving


def _list_doors(
    names: Sequence[str], service: LocalService, settings: Settings, leaving: asyncio.Event
) -> list[PlatformConnection]:
    """The doors through which programs ask."""

    def connect(name: str) -> PlatformConnection:
        health = service.deps.health
        listening = None if health is None else health.expect_door(name)
        opening = partial(load_door(name), service, settings, leaving, clock=service.clock, listening=listening)
        return PlatformConnection(name, opening, leaving)

    return [connect(name) for name in names]


@asynccontextmanager
async def running_bot(
    engine_context: EngineContext, settings: Settings, health: ServerHealth | None = None
) -> AsyncIterator[Bot]:
    """Open the bot, and serve commands from other processes; what they forget, the bot forgets too.

    Raises DiskError if the disk takes no writes: a bot that cannot store what it is told would lose it.
    """
    engine_context.engine.maintenance.check_writable()
    attached, metrics = AttachedPlatforms(), None if health is None else health.metrics
    async with (
        bootstrap.open_context(engine_context, settings, attached.platforms) as context,
        Bot.open(context, attached, metrics) as bot,
        socket.serve_socket(settings.data_path, LocalService(build_deps(bot, health)).perform),
    ):
        yield bot


def _leave(leaving: asyncio.Event, health: ServerHealth) -> None:
    """Stop at once: other processes may have taken over the work of this one."""
    health.state = ServerState.DRAINING
    lifecycle.end_later(DatabaseLost(LOST))
    leaving.set()


def build_deps(bot: Bot, health: ServerHealth | None = None) -> Deps:
    """The services of a bot, for what other processes and programs ask of it."""
    return replace(bot.deps, health=health)


def configured_platforms(settings: Settings) -> tuple[str, ...]:
    """The installed adapters that have a token or a client id: THREADLORE_<ADAPTER>_…TOKEN or …CLIENT_ID."""
    found = [
        name
        for name, value in settings.adapter_settings.items()
        if name.endswith(("token", "client_id")) and value.get_secret_value()
    ]
    return tuple(adapter for adapter in list_adapter_names() if any(name.startswith(f"{adapter}_") for name in found))


def _describe_adapter_settings(settings: Settings) -> str:
    """The variables that are set for adapters, because one of them may be misspelled."""
    names = ", ".join(sorted(f"{PREFIX}{name}".upper() for name in settings.adapter_settings))
    return f" None of these variables is the token of a platform: {names}." if names else ""


async def _drain(bot: Bot, stop: asyncio.Event, leaving: asyncio.Event, health: ServerHealth) -> None:
    """Finish work in progress after a stop, while the platforms are still connected; then let them disconnect."""
    await stop.wait()
    health.state = ServerState.DRAINING
    log.info("server.stop_requested")
    bot.event_queue.leave_to_others()
    try:
        async with asyncio.timeout(DRAIN_TIMEOUT):
            await bot.event_queue.wait_until_idle()
    except TimeoutError:
        log.warning("server.drain_timed_out", timeout_seconds=DRAIN_TIMEOUT)
    finally:
        leaving.set()


class PlatformConnection:
    """The connection of one platform, retried after every failure that may pass.

    `adapter` runs until the program stops; it raises SetupError for problems that only a person can fix.
    """

    def __init__(self, name: str, adapter: Callable[[], Awaitable[None]], stop: asyncio.Event) -> None:
        self.name = name
        self.adapter = adapter
        self.stop = stop
        self.is_running = False  # else it waits for the next attempt

    def start(self, supervisor: Supervisor) -> asyncio.Task[None]:
        """Start to connect; the task fails only with SetupError or BadSetting."""
        return supervisor.run(f"adapter {self.name}", self._run_adapter, fatal=(SetupError, BadSetting))

    async def _run_adapter(self) -> None:
        self.is_running = True
        try:
            await self.adapter()
        except Exception as error:
            if not self.stop.is_set():
                raise
            log.warning("server.adapter_shutdown_failed", platform=self.name, error=describe_error(error))
        finally:
            self.is_running = False


async def _run_until_stopped(running: Mapping[asyncio.Task[None], PlatformConnection], stop: asyncio.Event) -> None:
    """Run the adapters; one that fails does not stop the others, and the last failure is raised."""
    tasks, failure = dict(running), None
    async with child_task(stop.wait(), "stop") as stopping:
        try:
            while tasks:
                waits: set[asyncio.Task[Any]] = {*tasks} if stopping.done() else {*tasks, stopping}
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                for task in [task for task in tasks if task.done()]:
                    failure = _adapter_failure(tasks.pop(task).name, task) or failure
                if stop.is_set():
                    await cancel_tasks(*(task for task, each in tasks.items() if not each.is_running))
            if failure is not None and not stop.is_set():
                raise failure
        finally:
            await cancel_tasks(*tasks)


def _adapter_failure(name: str, task: asyncio.Task[None]) -> BaseException | None:
    """Log and return the failure of an adapter, if it failed."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        hint = error.hint if isinstance(error, EngineError) else ""
        log.error("server.adapter_stopped", platform=name, error=str(error), hint=hint)
    return error
