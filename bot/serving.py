"""Serving: one process, one data folder, the bot, and the platforms whose tokens are set, until told to stop."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from bot import composition, health, socket
from bot.adapters import adapter
from bot.bot import Bot
from bot.service import Local
from bot.settings import BadSetting
from bot.store import Store
from engine.errors import EngineError
from engine.tasks import end

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from bot.desk import Desk
    from bot.settings import Settings

log = structlog.get_logger(__name__)

DRAIN = 20.0  # seconds for what is under way when the program is told to stop
NOTHING = (
    "Set THREADLORE_SLACK_BOT_TOKEN and THREADLORE_SLACK_APP_TOKEN, or THREADLORE_DISCORD_TOKEN; see .env.example."
)


async def serve(settings: Settings, stop: asyncio.Event, only: Sequence[str] = ()) -> None:
    """Serve `only` these platforms, or all that are set up, until `stop` is set; then finish what was begun.

    Raises BadSetting if none is set up, FolderInUse, and what ended the last platform.
    """
    chosen = tuple(only) or configured(settings)
    if not chosen:
        raise BadSetting("No platform is set up.", hint=NOTHING)
    adapters = {name: adapter(name) for name in chosen}
    async with AsyncExitStack() as stack:
        able = await stack.enter_async_context(composition.skills(settings))
        desk = await stack.enter_async_context(composition.desk(settings, able))
        bot = await stack.enter_async_context(hosted(desk, settings))
        for name in adapters:
            bot.expect(name)
        supervisor = bot.supervisor
        supervisor.watch(asyncio.get_running_loop())
        stack.push_async_callback(end, supervisor.spawn("warm up", able.warm()))
        if settings.health_port:
            await stack.enter_async_context(
                health.served(settings.health_host, settings.health_port, bot.metrics, bot.complaints, bot.limitations)
            )
        leaving = asyncio.Event()
        stack.push_async_callback(end, supervisor.run("drain", lambda: _drain(bot, stop, leaving)))
        running = {
            supervisor.spawn(f"adapter {name}", run(bot, settings, leaving)): name for name, run in adapters.items()
        }
        await _until_stopped(running, leaving)


@asynccontextmanager
async def hosted(desk: Desk, settings: Settings) -> AsyncIterator[Bot]:
    """The bot at a desk, and beside it whoever gives commands: what they forget, it forgets too."""
    async with (
        Store.open(settings.root / "bot.db") as store,
        Bot.open(desk, store, settings) as bot,
        socket.served(settings.root, Local(replace(desk, forget=bot.listening.forget_document)).perform),
    ):
        yield bot


def configured(settings: Settings) -> tuple[str, ...]:
    """The platforms whose tokens are set."""
    given = {
        "slack": settings.slack_bot_token.get_secret_value() and settings.slack_app_token.get_secret_value(),
        "discord": settings.discord_token.get_secret_value(),
    }
    return tuple(name for name, token in given.items() if token)


async def _drain(bot: Bot, stop: asyncio.Event, leaving: asyncio.Event) -> None:
    """Once told to stop, finish what was begun while the platforms can still be spoken to; then they may leave."""
    await stop.wait()
    log.info("stopping")
    try:
        async with asyncio.timeout(DRAIN):
            await bot.inbox.idle()
    except TimeoutError:
        log.warning("work_left", seconds=DRAIN)
    finally:
        leaving.set()


async def _until_stopped(running: Mapping[asyncio.Task[None], str], stop: asyncio.Event) -> None:
    """Let the adapters run; one that fails leaves the others alone, and the last one's failure is raised."""
    tasks = dict(running)
    failure: BaseException | None = None
    try:
        while tasks:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                name = tasks.pop(task)
                if (error := task.exception()) is not None:
                    failure = error
                    hint = error.hint if isinstance(error, EngineError) else ""
                    log.error("platform_ended", platform=name, error=str(error), hint=hint)
        if failure is not None and not stop.is_set():
            raise failure
    finally:
        await end(*tasks)
