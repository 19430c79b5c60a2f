from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.errors import PlatformError, SetupError
from bot.platform.events import MessageReceived, WorkspaceJoined
from engine.errors import StoreError
from tests.adapters.discord.conftest import shard_platform
from tests.adapters.discord.recording_bot import RecordingBot, connected, until
from tests.adapters.discord.shards.conftest import Half
from tests.support.discord_server import FakeDiscord


@pytest.fixture
async def bot(fake: FakeDiscord, halves: list[Half], tmp_path: Path) -> AsyncIterator[RecordingBot]:
    """The adapter with two shards, once both are ready."""
    async with connected(fake, tmp_path, shards="2") as opened:
        await until(lambda: {("reconcile", guild.id) for guild in fake.world.guilds.values()} <= {*opened.visibility})
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
    assert {session.shard for session in fake.gateway.sessions.all.values()} == {0, 1}
    for half in halves:
        await half.ada.says(half.square, f"hello {half.guild.name}")
    await bot.wait_for(MessageReceived, 2)
    assert {event.message.location for event in bot.all(MessageReceived)} == {half.location for half in halves}
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
    bot.known_workspaces = {half.guild.id for half in halves}
    del gone.members[fake.world.app.id]
    replace_session(fake, 1)
    await until(lambda: ("reconcile", gone.id) in bot.visibility)
    with pytest.raises(PlatformError):
        await bot.platform.fetch_channel(halves[1].location)


async def test_a_guild_that_added_the_bot_unnoticed_is_welcomed(
    fake: FakeDiscord, halves: list[Half], bot: RecordingBot
) -> None:
    before = len(bot.all(WorkspaceJoined))
    replace_session(fake, 1)
    await until(lambda: len(bot.all(WorkspaceJoined)) > before or ("reconcile", halves[1].guild.id) in bot.visibility)
    assert halves[1].guild.id in {event.location.workspace for event in bot.all(WorkspaceJoined)}


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


async def test_a_lost_shard_makes_its_own_audiences_unknown_alone(
    fake: FakeDiscord, halves: list[Half], bot: RecordingBot
) -> None:
    shard_platform(bot, halves[1].guild.id).record_disconnect()
    fake.clock.advance(61)
    assert (await bot.platform.fetch_channel(halves[0].location)).kind == "open"
    with pytest.raises(PlatformError):
        await bot.platform.fetch_channel(halves[1].location)


async def test_direct_messages_come_over_the_first_shard(halves: list[Half], bot: RecordingBot) -> None:
    await halves[1].ada.dms("psst")
    place = (await bot.wait_for(MessageReceived)).message.location
    assert (place.workspace, bot.platform.serves("")) == ("", True)
    assert (await bot.platform.fetch_channel(place)).members == frozenset({halves[1].ada.id})


async def test_as_many_shards_as_discord_recommends_by_default(
    fake: FakeDiscord, halves: list[Half], tmp_path: Path
) -> None:
    fake.world.recommended_shards = 3
    async with connected(fake, tmp_path):
        await until(lambda: {session.shard for session in fake.gateway.sessions.all.values()} == {0, 1, 2})
        assert fake.gateway.refused_identifies == 0


async def test_sessions_of_different_buckets_begin_at_once(
    fake: FakeDiscord, halves: list[Half], tmp_path: Path
) -> None:
    fake.world.max_concurrency = 2
    fake.world.identify_seconds = 30.0
    async with connected(fake, tmp_path, shards="2"):
        await until(lambda: fake.gateway.identifies == 2)
    assert fake.gateway.refused_identifies == 0


async def test_a_number_that_is_too_small_fails_with_the_setting(fake: FakeDiscord, tmp_path: Path) -> None:
    fake.world.recommended_shards = 2
    fake.world.requires_shards = True
    with pytest.raises(SetupError) as refused:
        async with connected(fake, tmp_path, shards="1"):
            pass
    assert "THREADLORE_DISCORD_SHARDS" in (refused.value.hint or "")


async def test_discord_s_recommendation_is_followed_once_more_are_required(
    fake: FakeDiscord, halves: list[Half], tmp_path: Path
) -> None:
    async with connected(fake, tmp_path) as bot:
        fake.world.recommended_shards = 2
        fake.world.requires_shards = True
        fake.gateway.invalidate()
        await until(lambda: [session.shards for session in fake.gateway.sessions.all.values()] == [2, 2])
        await until(lambda: all(bot.platform.serves(half.guild.id) for half in halves))


async def test_servers_are_served_before_their_members_are_loaded_and_compared_afterwards(
    fake: FakeDiscord, halves: list[Half], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.discord.reconciliation.LOAD_TIMEOUT", 0.2)
    monkeypatch.setattr("adapters.discord.reconciliation.LOAD_RETRY_SECONDS", 0.01)
    fake.gateway.lost_member_requests = 1
    async with connected(fake, tmp_path) as bot:
        ids = sorted(fake.world.guilds)
        assert (bot.platform.serves(ids[0]), bot.visibility[: len(ids)]) == (True, [("suspend", id_) for id_ in ids])
        await until(lambda: {("reconcile", id_) for id_ in ids} <= {*bot.visibility})
        assert fake.gateway.lost_member_requests == 0
        assert (await bot.platform.fetch_channel(halves[0].location)).kind == "open"


async def test_each_server_is_released_by_itself_and_one_with_a_waiting_question_first(
    fake: FakeDiscord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.discord.reconciliation.LOADED_AT_ONCE", 1)
    monkeypatch.setattr("adapters.discord.reconciliation.LOAD_INTERVAL", 0.01)
    ids = [fake.guild(f"Guild {number}").id for number in range(6)]
    fake.gateway.slow_guilds = {ids[0], ids[1], ids[4]}
    bot = RecordingBot(fake.clock)
    async with connected(fake, tmp_path, bot=bot):
        bot.wanted_workspaces = {ids[5]}
        await until(lambda: len(bot.all_reconciled) == 3)
        assert bot.all_reconciled[0] in {ids[2], ids[5]}
        assert set(bot.all_reconciled) == {ids[2], ids[3], ids[5]}
        assert bot.all_reconciled.index(ids[5]) < bot.all_reconciled.index(ids[3])
