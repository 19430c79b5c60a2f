"""A fake Discord with a guild in it, and the adapter connected to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from bot.platform.events import Installed
from tests.adapters.discord.ears import Ear, connected
from tests.support.discord_server import Channel, FakeDiscord, Guild, Person

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from adapters.discord.platform import Discord
    from bot.platform.models import Place


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
    def platform(self) -> Discord:
        return self.ear.platform

    @property
    def mention(self) -> str:
        return f"<@{self.fake.world.app.id}>"

    def place(self, channel: Channel) -> Place:
        return self.platform.whereabouts.known(int(self.guild.id), int(channel.id))  # type: ignore[return-value]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fake tells of all its servers at once."""
    monkeypatch.setattr("adapters.discord.client.QUIET", 0.05)


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
        await ear.hears(Installed)
        ear.heard.clear()
        yield Town(fake, ear, guild, square, cellar, forum, ada, bob)
