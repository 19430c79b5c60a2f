"""A fake Discord with a guild in it, and the adapter connected to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from adapters.discord.platform import DiscordPlatform
from adapters.discord.replies.reply import EditThrottle
from bot.platform.events import MessageReceived, QuestionAsked, WorkspaceJoined
from bot.platform.models import Location, Message
from tests.adapters.discord.recording_bot import RecordingBot, connected, keep_addresses, until
from tests.support.discord_server import Channel, FakeDiscord, Guild, Person
from tests.support.discord_server import Message as Posted

EDIT_INTERVAL = 0.02  # seconds between two edits


@dataclass
class Town:
    """A guild with a channel that everyone reads, one that only Ada reads, and a forum."""

    fake: FakeDiscord
    bot: RecordingBot
    guild: Guild
    square: Channel
    cellar: Channel
    forum: Channel
    ada: Person
    bob: Person

    @property
    def platform(self) -> DiscordPlatform:
        return shard_platform(self.bot)

    @property
    def mention(self) -> str:
        return f"<@{self.fake.world.app.id}>"

    def location(self, channel: Channel | None = None, thread: str = "") -> Location:
        return Location("discord", self.guild.id, channel.id if channel else "", thread)

    async def received(self, posted: Posted) -> Message:
        """The message as the bot received it."""
        await until(lambda: any(event.message.id == posted.id for event in self.bot.all(MessageReceived)))
        return next(event.message for event in self.bot.all(MessageReceived) if event.message.id == posted.id)

    async def ask(self, text: str = "where is the key?", channel: Channel | None = None) -> Message:
        """Ada asks by a mention."""
        return await self.received(await self.ada.says(channel or self.square, f"{self.mention} {text}"))

    async def ask_by_command(self, **options: Any) -> QuestionAsked:
        count = len(self.bot.all(QuestionAsked))
        await self.ada.slash("ask", here=self.square, question="where is the key?", **options)
        return await self.bot.wait_for(QuestionAsked, count + 1)


def shard_platform(bot: RecordingBot, workspace: str = "") -> DiscordPlatform:
    """The connection of a server."""
    found: DiscordPlatform = bot.platform.get_workspace(workspace)
    return found


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No waiting for more servers, between edits, or before another attempt to connect."""
    monkeypatch.setattr("adapters.discord.client.GUILD_READY_TIMEOUT", 0.05)
    monkeypatch.setattr("discord.client.ExponentialBackoff.delay", lambda _: 0.01)
    monkeypatch.setattr("adapters.discord.shards.session_starts.IDENTIFY_SECONDS", 0.06)
    monkeypatch.setattr("adapters.discord.platform.EditThrottle", partial(EditThrottle, min_interval=EDIT_INTERVAL))
    yield from keep_addresses()


@pytest.fixture
async def fake() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as discord:
        yield discord


@pytest.fixture
async def town(fake: FakeDiscord, tmp_path: Path) -> AsyncIterator[Town]:
    guild = fake.guild("Harbour")
    ada, bob = fake.member(guild, "Ada"), fake.member(guild, "Bob")
    square, cellar = fake.channel(guild, "square"), fake.channel(guild, "cellar", only=[ada])
    forum = fake.channel(guild, "ideas", "forum")
    async with connected(fake, tmp_path) as bot:
        await until(lambda: bot.reconciled)
        await bot.wait_for(WorkspaceJoined)
        bot.events.clear()
        yield Town(fake, bot, guild, square, cellar, forum, ada, bob)
