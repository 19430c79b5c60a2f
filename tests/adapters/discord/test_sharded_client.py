from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.discord.platform import DiscordPlatform
from bot.errors import PlatformError, SetupError
from bot.platform.events import MessageReceived, WorkspaceJoined
from bot.platform.models import Location
from engine.errors import StoreError
from tests.adapters.discord.recording_bot import RecordingBot, connected, until
from tests.support.discord_server import Channel, FakeDiscord, Guild, Person


class Half:
    """A guild of one of two shards, with a channel and a member."""

    def __init__(self, fake: FakeDiscord, shard: int) -> None:
        self.guild: Guild = fake.guild(f"Half {shard}")
        while (int(self.guild.id) >> 22) % 2 != shard:
            self.guild = fake.guild(f"Half {shard}")
        self.ada: Person = fake.member(self.guild, "Ada")
        self.square: Channel = fake.channel(self.guild, "square")
        self.location = Location("discord", self.guild.id, self.square.id)


@pytest.fixture
def halves(fake: FakeDiscord) -> list[Half]:
    return [Half(fake, shard) for shard in range(2)]


@pytest.fixture
async def bot(fake: FakeDiscord, halves: list[Half], tmp_path: Path) -> AsyncIterator[RecordingBot]:
    """The adapter with two shards, once both are ready."""
    async with connected(fake, tmp_path, shards="2") as opened:
        await until(lambda: ("reconcile", "") in opened.visibility)
        opened.visibility.clear()
        yield opened


def replace_session(fake: FakeDiscord, shard: int) -> None:
    """End the session of a shard, so that it must begin a new one."""
    sessions = fake.gateway.sessions.all
    [session] = [each for each in sessions.values() if each.shard == shard]
    assert session.connection is not None
    session.connection.send({"op": 9, "d": False})
    del sessions[session.id]


async def test_each_guild_sends_its_events_over_its_shard(
    fake: FakeDiscord, halves: list[Half], bot: RecordingBot
) -> None:
    assert {each.shard for each in fake.gateway.sessions.all.values()} == {0, 1}
    for half in halves:
        await half.ada.says(half.square, f"hello {half.guild.name}")
    await bot.wait_for(MessageReceived, 2)
    assert {each.message.location for each in bot.all(MessageReceived)} == {half.location for half in halves}
    assert [(await bot.platform.fetch_channel(half.location)).kind for half in halves] == ["open", "open"]


async def test_a_shard_with_a_new_session_suspends_and_reconciles_its_own_guilds(
    fake: FakeDiscord, halves: list[Half], bot: RecordingBot
) -> None:
    own = {guild.id for guild in fake.world.guilds.values() if (int(guild.id) >> 22) % 2 == 1}
    replace_session(fake, 1)
    await until(lambda: ("reconcile", halves[1].guild.id) in bot.visibility)
    assert {workspace for _, workspace in bot.visibility} == own
    assert bot.visibility.index(("suspend", halves[1].guild.id)) < bot.visibility.index(
        ("reconcile", halves[1].guild.id)
    )


async def test_a_guild_that_removed_the_bot_unnoticed_is_forgotten_by_the_cache_and_reconciled(
    fake: FakeDiscord, halves: list[Half], bot: RecordingBot
) -> None:
    gone = halves[1].guild
    del gone.members[fake.world.app.id]
    replace_session(fake, 1)
    await until(lambda: ("reconcile", gone.id) in bot.visibility)
    platform: DiscordPlatform = bot.platform
    assert platform.client.get_guild(int(gone.id)) is None
    with pytest.raises(PlatformError):
        await platform.fetch_channel(halves[1].location)


async def test_a_guild_that_added_the_bot_unnoticed_is_welcomed(
    fake: FakeDiscord, halves: list[Half], bot: RecordingBot
) -> None:
    before = len(bot.all(WorkspaceJoined))
    replace_session(fake, 1)
    await until(lambda: len(bot.all(WorkspaceJoined)) > before or ("reconcile", halves[1].guild.id) in bot.visibility)
    assert halves[1].guild.id in {each.location.workspace for each in bot.all(WorkspaceJoined)}


async def test_a_guild_that_cannot_be_reconciled_keeps_no_other_waiting(
    fake: FakeDiscord, halves: list[Half], bot: RecordingBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = sorted(guild.id for guild in fake.world.guilds.values() if (int(guild.id) >> 22) % 2 == 1)
    reconcile = bot.reconcile

    async def fail_first(platform: str, workspace: str = "") -> None:
        await reconcile(platform, workspace)
        if workspace == own[0]:
            raise StoreError("The disk is away.")

    monkeypatch.setattr(bot, "reconcile", fail_first)
    replace_session(fake, 1)
    await until(lambda: {("reconcile", each) for each in own} <= set(bot.visibility))


async def test_a_lost_shard_makes_its_own_audiences_unknown_alone(halves: list[Half], bot: RecordingBot) -> None:
    platform: DiscordPlatform = bot.platform
    platform.disconnected_at[1] = time.monotonic() - 61
    assert (await platform.fetch_channel(halves[0].location)).kind == "open"
    with pytest.raises(PlatformError):
        await platform.fetch_channel(halves[1].location)


async def test_zero_opens_as_many_shards_as_discord_recommends(
    fake: FakeDiscord, halves: list[Half], tmp_path: Path
) -> None:
    fake.world.recommended_shards = 3
    async with connected(fake, tmp_path, shards="0") as bot:
        await until(lambda: ("reconcile", "") in bot.visibility)
        assert {each.shard for each in fake.gateway.sessions.all.values()} == {0, 1, 2}


async def test_a_bot_that_needs_shards_fails_with_the_setting(fake: FakeDiscord, tmp_path: Path) -> None:
    fake.world.recommended_shards = 2
    fake.world.requires_shards = True
    with pytest.raises(SetupError) as refused:
        async with connected(fake, tmp_path):
            pass
    assert "THREADLORE_DISCORD_SHARDS" in (refused.value.hint or "")
