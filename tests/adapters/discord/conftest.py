"""A fake Discord with a guild in it, and the adapter connected to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from bot.platform.events import WorkspaceJoined
from tests.adapters.discord.recording_bot import Ear, connected
from tests.support.discord_server import Channel, FakeDiscord, Guild, Person

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from adapters.discord.platform import DiscordPlatform
    from bot.platform.models import Location


@dataclass
class Town:
    """A guild with a channel that everyone reads, one that only Ada reads, and a forum."""

    fake: FakeDiscord
    ear: Ear
    guild: Guild
    square: Channel
    cellar: Channel
    forum: Channel
    ada: Person
    bob: Person

    @property
    def platform(self) -> DiscordPlatform:
        return self.ear.platform

    @property
    def mention(self) -> str:
        return f"<@{self.fake.world.app.id}>"

    def place(self, channel: Channel) -> Location:
        return self.platform.channel_lookup.get_cached_location(int(self.guild.id), int(channel.id))  # type: ignore[return-value]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fake tells of all its servers at once."""
    monkeypatch.setattr("adapters.discord.client.GUILD_READY_TIMEOUT", 0.05)


@pytest.fixture
async def fake() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as discord:
        yield discord


@pytest.fixture
async def town(fake: FakeDiscord, tmp_path: Path) -> AsyncIterator[Town]:
    guild = fake.guild("Harbour")
    ada, bob = fake.member(guild, "Ada"), fake.member(guild, "Bob")
    square = fake.channel(guild, "square")
    cellar = fake.channel(guild, "cellar", only=[ada])
    forum = fake.channel(guild, "ideas", "forum")
    async with connected(fake, tmp_path) as ear:
        await ear.hears(WorkspaceJoined)
        ear.heard.clear()
        yield Town(fake, ear, guild, square, cellar, forum, ada, bob)
