"""A workspace with many channels: who reads what is known again soon after a restart, and nothing is said too early.

The fake keeps to Slack's limits: conversations.info and users.conversations 50 a minute, conversations.members 100.
"""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import replace

import pytest
import pytest_asyncio

from bot import texts
from tests.support.patience import PATIENCE
from tests.support.slack_server import Fault, RateSettings
from tests.support.town.live_bot import LiveBot, password
from tests.support.town.protocol import Way
from tests.support.town.slack import SlackTown
from tests.support.verbatim_language import SECRETS, find_secrets

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.platforms("slack")]

LOOKUP_METHODS = ("conversations.info", "conversations.members", "users.conversations", "users.info", "users.list")


@pytest_asyncio.fixture(autouse=True, loop_scope="module")
async def _rate_limits(live: LiveBot[SlackTown]) -> None:
    """Slack's own limits."""
    live.town.slack.buckets.rates = RateSettings()


async def build_channels(live: LiveBot[SlackTown], count: int, kind: str = "public") -> None:
    """Channels of Ada that the bot has known for long, with nothing said in them."""
    for number in range(count):
        live.town.add_channel(f"room-{number}", "ada", kind)
        place = live.town.location(f"room-{number}")
        await live.bot.store.channels.upsert(place, f"room-{number}")
        await live.bot.store.channels.record_announced(place.room)


async def build_two(live: LiveBot[SlackTown]) -> None:
    """Two channels with a password each."""
    for name in ("square", "market"):
        live.town.add_channel(name, "ada")
    await live.post_passwords(square="agate", market="beryl")
    live.town.slack.calls.clear()


def count_lookups(live: LiveBot[SlackTown]) -> int:
    return len(live.town.slack.calls_to(*LOOKUP_METHODS))


@pytest.mark.long
async def test_a_thousand_channels_resume_within_ten_seconds(live: LiveBot[SlackTown]) -> None:
    await build_two(live)
    await build_channels(live, 1000)
    await live.stop()
    live.town.slack.calls.clear()
    await live.start()
    began = time.process_time()
    assert find_secrets(await live.ask("ada", "square")) == "agate beryl"
    assert time.process_time() - began < 10.0
    assert count_lookups(live) < 12
    assert not {*live.town.slack.buckets.limited} & {*LOOKUP_METHODS}


@pytest.mark.long
async def test_a_dead_socket_is_no_reason_to_ask_about_each_channel(live: LiveBot[SlackTown]) -> None:
    await build_two(live)
    await build_channels(live, 100)
    live.bot.suspend_visibility("slack")
    await live.bot.reconcile("slack")
    assert find_secrets(await live.ask("ada", "square")) == "agate beryl"
    assert count_lookups(live) < 12


@pytest.mark.long
async def test_somebody_in_eighty_private_channels_is_answered_from_all_of_them(live: LiveBot[SlackTown]) -> None:
    town = live.town
    town.add_channel("first", "ada", "private")
    town.add_channel("last", "ada bob")
    await town.make_private("last")
    await live.post_passwords(first="agate", last="beryl")
    await build_channels(live, 80, "private")
    town.slack.calls.clear()
    live.bot.context.audience.invalidate(replace(town.location("first"), channel=""))
    assert find_secrets(await live.ask("ada")) == "agate beryl"
    cold = count_lookups(live)
    assert cold < 8
    assert find_secrets(await live.ask("ada")) == "agate beryl"
    assert count_lookups(live) == cold
    await town.remove_member("ada", "last")
    await town.wait_until_received(live.bot)
    assert find_secrets(await live.ask("ada")) == "agate"
    assert find_secrets(await live.ask("bob")) == "beryl"


@pytest.mark.long
async def test_channel_joined_during_downtime_is_greeted_and_indexed(live: LiveBot[SlackTown]) -> None:
    town = live.town
    town.add_channel("square", "ada")
    await live.post_passwords(square="agate")
    town.add_channel("market", "ada", bot=False)
    town.add_channel("cellar", "ada", "private", bot=False)
    await town.say_fact("market", password("beryl"))
    await live.stop()
    for name in ("market", "cellar"):
        await town.person("ada").invites(town.channels[name], town.slack.bot)
    town.slack.socket.stop_retries()
    for _ in range(2):
        await live.start()
        await live.wait_for(lambda: town.bot_posts("ada", "cellar") and town.bot_posts("ada", "market"))
        await live.bot.ingest_service.run_sync()
        await live.wait_until_idle()
        assert find_secrets(await live.ask("ada", "square")) == "agate beryl"
        for name in ("market", "cellar"):
            assert len([post for post in town.bot_posts("ada", name) if "Hello! I read" in post.text]) == 1
        await live.stop()
    await live.start()


@pytest.mark.long
async def test_partial_channel_list_is_not_reported_as_missing(
    live: LiveBot[SlackTown], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.permissions.resolver.QUESTION_SUSPENSION_WAIT", 0.2)
    monkeypatch.setattr("bot.bot.REFRESH_INTERVAL", 0.1)
    town = live.town
    for name in ("square", "market", "room-1", "room-2", "room-3"):
        town.add_channel(name, "ada")
    await live.post_passwords(market="beryl")
    await live.stop()
    town.slack.page = 3
    await town.make_private("market")
    town.slack.socket.stop_retries()
    town.slack.fail_next("users.conversations", Fault("slow", seconds=0))
    town.slack.fail_next("users.conversations", "internal_error", times=1000)
    await live.start()
    answer = await live.ask("ada", "square")
    assert find_secrets(answer) == ""
    assert "still checking who can read what" in answer
    assert texts.NOTHING_FOUND not in answer
    town.clear_faults()
    async with asyncio.timeout(PATIENCE):
        while (await live.bot.context.audience.resolve_scope(town.location("square"))).gap:  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0.02)
    assert find_secrets(await live.ask("ada", "square")) == "", "it is private by now"
    assert find_secrets(await live.ask("ada", "market")) == "beryl"


WORDS = {f"room-{word}": word for word in SECRETS[:5]}


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
async def test_changes_during_listing_never_widen_answers(live: LiveBot[SlackTown], seed: int) -> None:
    town, chance = live.town, random.Random(seed)
    for name in WORDS:
        town.add_channel(name, "ada bob", chance.choice(("public", "private")))
    await live.post_passwords(**WORDS)
    town.add_channel("hall", "ada bob")
    town.slack.page = 2

    async def ask(person: str, way: Way) -> set[str]:
        return {*find_secrets(await live.ask(person, "hall", way=way)).split()}

    for _ in range(3):
        town.slack.fail_next("users.conversations", Fault("slow", seconds=chance.random() / 5), times=3)
        live.bot.suspend_visibility("slack")
        looking = asyncio.create_task(live.bot.reconcile("slack"))
        before = {person: readable_words(town, person) for person in ("ada", "bob", "")}
        for _ in range(3):
            await asyncio.sleep(chance.random() / 20)
            await change_membership(town, chance)
        alone = {person: await ask(person, "private") for person in ("ada", "bob")}
        asked = await ask("ada", "mention")
        for person, found in alone.items():
            assert found <= before[person] | readable_words(town, person)
        assert asked <= before[""] | readable_words(town, "")
        await looking
    for person in ("ada", "bob"):
        assert await ask(person, "private") == readable_words(town, person)


async def change_membership(town: SlackTown, chance: random.Random) -> None:
    """Somebody comes or goes, or a channel turns private or public."""
    name, person = chance.choice([*WORDS]), chance.choice(("ada", "bob"))
    room = town.channels[name]
    if chance.random() < 0.4:
        await town.slack.converts(room, town.person("ada"), private=room.channel.kind == "public")
    elif town.person(person).id in room.channel.members:
        await town.remove_member(person, name)
    else:
        await town.add_member(person, name)


def readable_words(town: SlackTown, person: str) -> set[str]:
    """The words in the channels that somebody may read now; in public ones for ""."""
    own = town.person(person).id if person else ""
    channels = {name: town.channels[name].channel for name in WORDS}
    return {WORDS[name] for name, each in channels.items() if each.kind == "public" or own in each.members}
