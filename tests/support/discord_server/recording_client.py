"""The vendor's own client library, pointed at the fake."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import discord
import yarl
from discord import app_commands
from discord.gateway import DiscordWebSocket
from discord.http import Route

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.discord_server.server import FakeDiscord


class RecordingClient(discord.Client):
    """A client that keeps the events it hears."""

    def __init__(self, intents: discord.Intents, **options: Any) -> None:
        super().__init__(intents=intents, **options)
        self.tree = app_commands.CommandTree(self)
        self.events: list[tuple[str, tuple[Any, ...]]] = []
        self.stirred = asyncio.Event()

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        if event != "socket_event_type":
            self.events.append((event, args))
            self.stirred.set()
        super().dispatch(event, *args, **kwargs)

    def event_names(self) -> list[str]:
        """The events in order."""
        return [name for name, _ in self.events]

    async def wait_for_event(self, event: str, count: int = 1) -> tuple[Any, ...]:
        """Wait for the so-many-th event of a name; gives its arguments."""
        async with asyncio.timeout(10):
            while len(found := [args for name, args in self.events if name == event]) < count:
                self.stirred.clear()
                await self.stirred.wait()
        return found[count - 1]


def build_all_intents() -> discord.Intents:
    """The intents of a bot that reads along."""
    intents = discord.Intents.default()
    intents.message_content = True
    intents.members = True
    return intents


@contextlib.asynccontextmanager
async def open_client(
    fake: FakeDiscord, intents: discord.Intents | None = None, **options: Any
) -> AsyncIterator[RecordingClient]:
    """A client that has logged in and is ready; the library's addresses are put back afterwards."""
    base, gateway = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = fake.api, yarl.URL(fake.gateway_url)
    client = RecordingClient(intents or build_all_intents(), **{"guild_ready_timeout": 0.1, **options})
    task = asyncio.create_task(client.start(fake.token))
    try:
        ready = asyncio.create_task(client.wait_for_event("ready"))
        await asyncio.wait({ready, task}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            ready.cancel()
            task.result()
        await ready
        yield client
    finally:
        await client.close()
        with contextlib.suppress(Exception, asyncio.CancelledError):
            await task
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = base, gateway
