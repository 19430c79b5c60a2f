"""A bot that only listens, and the adapter connected to a fake Discord."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar, cast

from discord.gateway import DiscordWebSocket
from discord.http import Route
from pydantic import SecretStr

from adapters.discord import run
from bot.settings import Settings
from engine.errors import StoreError
from engine.scheduling.supervisor import Supervisor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from adapters.discord.platform import DiscordPlatform
    from bot.bot import Bot
    from bot.platform.events import PlatformEvent
    from bot.platform.models import Location
    from tests.support.discord_server import FakeDiscord

T = TypeVar("T")


class Ear:
    """Keeps what it hears, once by key; `names` are what it suggests; `broken`: it can keep nothing."""

    def __init__(self) -> None:
        self.heard: list[PlatformEvent] = []
        self.keys: set[str] = set()
        self.names: list[str] = []
        self.asked_for: list[tuple[str, Location, str]] = []
        self.platforms: list[DiscordPlatform] = []
        self.caught_up = 0
        self.doubted = 0
        self.signs = 0
        self.broken = False
        self.supervisor = Supervisor()
        self._stirred = asyncio.Event()

    @property
    def platform(self) -> DiscordPlatform:
        return self.platforms[-1]

    def attach(self, platform: DiscordPlatform) -> None:
        self.platforms.append(platform)
        self._stirred.set()

    def suspend_visibility(self, platform: str) -> None:
        assert platform == "discord"
        self.doubted += 1

    async def reconcile(self, platform: str) -> None:
        assert platform == "discord"
        self.caught_up += 1

    async def receive(self, happening: PlatformEvent, *keys: str) -> bool:
        if self.broken:
            raise StoreError("The disk is away.")
        if self.keys & {*keys}:
            return False
        self.keys |= {*keys}
        self.heard.append(happening)
        self._stirred.set()
        return True

    async def suggest_names(self, person: str, place: Location, prefix: str) -> list[str]:
        self.asked_for.append((person, place, prefix))
        return self.names

    def record_activity(self, platform: str) -> None:
        assert platform == "discord"
        self.signs += 1

    def all(self, kind: type[T]) -> list[T]:
        return [each for each in self.heard if isinstance(each, kind)]

    async def hears(self, kind: type[T], count: int = 1) -> T:
        """Wait for the so-many-th happening of a kind."""
        async with asyncio.timeout(10):
            while len(found := self.all(kind)) < count:
                self._stirred.clear()
                await self._stirred.wait()
        return found[count - 1]

    async def attached(self) -> None:
        async with asyncio.timeout(10):
            while not self.platforms:
                self._stirred.clear()
                await self._stirred.wait()


def settings_for(fake: FakeDiscord, home: Path, **given: str) -> Settings:
    api = given.pop("discord_api_base", fake.api)
    gateway = given.pop("discord_gateway_url", fake.gateway_url)
    return Settings(
        data_dir=home,
        adapter_settings={
            "discord_bot_token": SecretStr(given.pop("token", fake.token)),
            "discord_api_base": SecretStr(api),
            "discord_gateway_url": SecretStr(gateway),
        },
    )


@asynccontextmanager
async def connected(fake: FakeDiscord, home: Path, ear: Ear | None = None, **given: str) -> AsyncIterator[Ear]:
    """The adapter, connected; the library's addresses are put back afterwards."""
    base, gateway = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    ear, stop = ear or Ear(), asyncio.Event()
    running = asyncio.create_task(run(cast("Bot", ear), settings_for(fake, home, **given), stop))
    try:
        attached = asyncio.create_task(ear.attached())
        await asyncio.wait({attached, running}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            attached.cancel()
            await running
        await attached
        yield ear
    finally:
        stop.set()
        try:
            await running
        finally:
            Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = base, gateway
