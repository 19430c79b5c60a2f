"""Processes share the shards: each takes its part, and what one has is taken over when it ends."""

from __future__ import annotations

import asyncio
import threading

import pytest
from discord.gateway import KeepAliveHandler
from structlog.testing import capture_logs

from adapters.discord.shards.shard import Shard
from bot.errors import NotConnected
from tests.adapters.discord.recording_bot import until
from tests.adapters.discord.shards.conftest import Cluster, Half, become
from tests.support.discord_server import FakeDiscord
from tests.support.patience import PATIENCE


async def test_one_shard_is_served_by_one_process_while_another_stands_by(
    fake: FakeDiscord, cluster: Cluster, halves: list[Half]
) -> None:
    first = cluster.join()
    await become(cluster, halves, [[0], [0]])
    second = cluster.join()  # two that begin at once may not know of each other when they look at the shards
    await become(cluster, halves, [[0], [0]])
    await until(lambda: cluster.count_processes() == 2)
    assert first.bot.expected == {"discord"}
    assert (second.bot.expected, second.bot.platforms, fake.gateway.identifies) == (set(), [], 1)
    await first.die()
    await become(cluster, halves, [[1], [1]])
    assert (second.bot.expected, fake.gateway.refused_identifies) == ({"discord"}, 0)
    await halves[0].ada.says(halves[0].square, "hello")
    await until(lambda: second.heard("hello"))


async def test_two_processes_have_a_shard_each_and_know_no_server_of_the_other(
    fake: FakeDiscord, cluster: Cluster, halves: list[Half]
) -> None:
    members = [cluster.join(shards="2"), cluster.join(shards="2")]
    await become(cluster, halves, [[0], [1]])
    assert fake.gateway.refused_identifies == 0
    await until(lambda: fake.gateway.open_sessions == 2)  # the first process may have had both for a moment
    for half in halves:
        await half.ada.says(half.square, f"hello {half.guild.name}")
    texts = [f"hello {half.guild.name}" for half in halves]
    await until(
        lambda: [[member.heard(text) for text in texts] for member in members] == [[True, False], [False, True]]
    )
    for half, has, lacks in zip(halves, members, reversed(members), strict=True):
        assert (await has.bot.platform.fetch_channel(half.location)).kind == "open"
        with pytest.raises(NotConnected):
            await lacks.bot.platform.fetch_channel(half.location)
    assert [member.bot.platform.serves("") for member in members] == [True, False]
    assert len(fake.calls_to("PUT", "/applications/{app}/commands")) == 1


async def test_the_shard_of_a_dead_process_is_taken_over(
    fake: FakeDiscord, cluster: Cluster, halves: list[Half]
) -> None:
    first, second = cluster.join(shards="2"), cluster.join(shards="2")
    await become(cluster, halves, [[0], [1]])
    first.bot.visibility.clear()
    await second.die()
    await become(cluster, halves, [[0], [0]])
    await until(lambda: ("reconcile", halves[1].guild.id) in first.bot.visibility)
    assert first.bot.visibility[0][0] == "suspend"
    assert ("suspend", halves[1].guild.id) in first.bot.visibility
    assert halves[0].guild.id not in {guild for _, guild in first.bot.visibility}
    await halves[1].ada.says(halves[1].square, "hello")
    await until(lambda: first.heard("hello"))
    assert fake.gateway.refused_identifies == 0


async def test_a_process_that_joins_gets_a_shard_without_a_gap(
    fake: FakeDiscord, cluster: Cluster, halves: list[Half]
) -> None:
    first = cluster.join(shards="2")
    await become(cluster, halves, [[0], [0]])
    second = cluster.join(shards="2")
    said = 0
    while not second.serves(halves[1]):
        assert first.serves(halves[1])
        await halves[1].ada.says(halves[1].square, f"hello {said}")
        said += 1
        await asyncio.sleep(0.01)
    await become(cluster, halves, [[0], [1]])
    await until(
        lambda: all(first.heard(f"hello {number}") or second.heard(f"hello {number}") for number in range(said))
    )
    await until(lambda: fake.gateway.open_sessions == 2)
    assert (fake.gateway.identifies, fake.gateway.refused_identifies) == (3, 0)


@pytest.mark.long
async def test_a_process_that_leaves_stays_connected_until_another_one_is(cluster: Cluster, halves: list[Half]) -> None:
    first, second = cluster.join(shards="2"), cluster.join(shards="2")
    await become(cluster, halves, [[0], [1]])
    await first.leave()
    assert second.serves(halves[0])


async def test_a_free_shard_is_taken_even_if_the_process_whose_turn_it_is_does_not(
    cluster: Cluster, halves: list[Half]
) -> None:
    first = cluster.join(shards="2")
    await become(cluster, halves, [[0], [0]])
    hung = type(first.bot.processes)(first.bot.processes)  # type: ignore[call-arg]
    async with hung.lease(f"discord process {hung.id}"):
        await until(lambda: cluster.fake.gateway.identifies >= 3)  # it gives one up, and takes it again
        await become(cluster, halves, [[0], [0]])


async def test_another_number_of_shards_is_followed_by_all_processes(
    fake: FakeDiscord, cluster: Cluster, halves: list[Half]
) -> None:
    first = cluster.join()
    await become(cluster, halves, [[0], [0]])
    second = cluster.join(shards="2")
    await until(lambda: {session.shards for session in fake.gateway.sessions.all.values() if session.connection} == {2})
    await become(cluster, halves, [[0], [1]])
    assert not first.task.done()
    assert not second.task.done()


async def test_no_session_begins_while_none_is_left(fake: FakeDiscord, cluster: Cluster, halves: list[Half]) -> None:
    fake.world.sessions_left, fake.world.sessions_reset_ms = 0, 50
    with capture_logs() as logs:
        cluster.join()
        await until(lambda: any(log["event"] == "discord.sessions_used_up" for log in logs))
    assert (fake.gateway.identifies, fake.gateway.refused_identifies) == (0, 0)
    fake.world.sessions_left = 1
    await become(cluster, halves, [[0], [0]])
    assert (fake.gateway.identifies, fake.gateway.refused_identifies) == (1, 0)


async def test_a_shard_is_served_until_the_session_of_its_next_process_has_begun(
    fake: FakeDiscord, cluster: Cluster, halves: list[Half], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.discord.shards.shard.HANDOVER_SECONDS", 0.1)
    first = cluster.join(shards="2")
    await become(cluster, halves, [[0], [0]])
    fake.world.sessions_left, fake.world.sessions_reset_ms = 0, 50
    with capture_logs() as logs:
        cluster.join(shards="2")
        await until(lambda: sum(log["event"] == "discord.sessions_used_up" for log in logs) >= 5)
    await halves[1].ada.says(halves[1].square, "hello")
    await until(lambda: first.heard("hello"))
    assert cluster.served(halves) == [[0], [0]]
    fake.world.sessions_left = 1
    await become(cluster, halves, [[0], [1]])


def list_heartbeats() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if isinstance(thread, KeepAliveHandler)]


async def test_a_connection_that_ends_before_its_session_begins_sends_no_more_heartbeats(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asyncio.Event()

    async def wait_for_turn(_: Shard, *, is_first: bool) -> None:
        assert is_first
        asked.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(Shard, "begin_session", wait_for_turn)
    member = cluster.join()
    await asyncio.wait_for(asked.wait(), PATIENCE)
    assert list_heartbeats()
    await member.die()
    await until(lambda: not list_heartbeats())
