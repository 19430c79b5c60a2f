"""Serving: one process, one data folder, the bot, and the platforms whose tokens are set, until told to stop."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import structlog

from bot import composition, health, socket
from bot.adapters import adapter
from bot.bot import Bot
from bot.service import Local
from bot.settings import BadSetting
from bot.store import Store
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence

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
        warming = asyncio.create_task(able.warm())
        stack.callback(warming.cancel)
        if settings.health_port:
            await stack.enter_async_context(
                health.served(settings.health_host, settings.health_port, bot.metrics, bot.complaints)
            )
        leaving = asyncio.Event()
        draining = asyncio.create_task(_drain(bot, stop, leaving))
        stack.callback(draining.cancel)
        await _until_stopped({name: run(bot, settings, leaving) for name, run in adapters.items()}, leaving)


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
    with suppress(TimeoutError):
        await asyncio.wait_for(bot.inbox.idle(), DRAIN)
    leaving.set()


async def _until_stopped(running: Mapping[str, Coroutine[Any, Any, None]], stop: asyncio.Event) -> None:
    """Let the adapters run; one that fails leaves the others alone, and the last one's failure is raised."""
    tasks = {asyncio.create_task(work, name=f"adapter {name}"): name for name, work in running.items()}
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
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
