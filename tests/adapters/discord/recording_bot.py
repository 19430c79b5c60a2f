"""A bot that only records, and the adapter connected to a fake Discord."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar, cast

from discord.gateway import DiscordWebSocket
from discord.http import Route
from pydantic import SecretStr

from adapters.discord import run
from bot.bot import Bot
from bot.settings import Settings
from tests.adapters import recording_bot
from tests.support.discord_server import FakeDiscord
from tests.support.patience import PATIENCE

T = TypeVar("T")


class RecordingBot(recording_bot.RecordingBot):
    async def wait_for(self, kind: type[T], count: int = 1) -> T:
        """Wait for the event of a kind with this number."""
        await until(lambda: len(self.all(kind)) >= count)
        return self.all(kind)[count - 1]


async def until(predicate: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not predicate():  # noqa: ASYNC110 - what changes has no events
            await asyncio.sleep(0.002)


def settings_for(fake: FakeDiscord, home: Path, **given: str) -> Settings:
    usual = {"bot_token": fake.token, "api_base": fake.api, "gateway_url": fake.gateway_url}
    own = {f"discord_{name}": SecretStr(value) for name, value in (usual | given).items()}
    return Settings(data_dir=home, adapter_settings=own)


def keep_addresses() -> Iterator[None]:
    """The addresses of the library, which the adapter changes, are restored."""
    base, gateway = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    yield
    Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = base, gateway


@asynccontextmanager
async def connected(
    fake: FakeDiscord,
    home: Path,
    store: recording_bot.MemoryStore | None = None,
    bot: RecordingBot | None = None,
    **given: str,
) -> AsyncIterator[RecordingBot]:
    """The adapter, connected. Raises what ends it."""
    bot, stop = bot or RecordingBot(fake.clock), asyncio.Event()
    bot.store = store or bot.store
    running = asyncio.create_task(run(cast("Bot", bot), settings_for(fake, home, **given), stop))
    try:
        await until(lambda: running.done() or bot.platforms)
        if not running.done():
            yield bot
    finally:
        stop.set()
        await running
