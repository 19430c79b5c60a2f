"""A workspace with many channels: who reads what is known again soon after a restart, and nothing is said too early.

The fake keeps to Slack's limits: conversations.info and users.conversations 50 a minute, conversations.members 100.
"""

from __future__ import annotations

import asyncio
import random
import time
from typing import TYPE_CHECKING

import pytest

from bot import texts
from bot.platform.models import Location
from tests.support.slack_server import Fault
from tests.support.verbatim_language import find_secrets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.slack_server import FakeSlack, Person, Room
    from tests.support.slack_server.state import ChannelKind
    from tests.support.town.slack_bot import SlackBotFixture

pytestmark = pytest.mark.asyncio(loop_scope="module")

LOOKUP_METHODS = ("conversations.info", "conversations.members", "users.conversations", "users.info", "users.list")


async def build_channels(
    house: SlackBotFixture, count: int, members: Sequence[Person], kind: ChannelKind = "public"
) -> list[Room]:
    """So many channels that the bot has known for long, with nothing said in them."""
    rooms = [house.slack.channel(f"room-{number}", members=members, kind=kind) for number in range(count)]
    for each in rooms:
        place = place_of(house, each)
        await house.bot.store.channels.upsert(place, each.name)
        await house.bot.store.channels.record_announced(place.room)
    return rooms


def place_of(house: SlackBotFixture, room: Room) -> Location:
    return Location("slack", house.slack.space.team, room.id)


def count_lookups(house: SlackBotFixture) -> int:
    return len(house.slack.calls_to(*LOOKUP_METHODS))


async def test_a_thousand_channels_resume_within_ten_seconds(house: SlackBotFixture) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada])
    await house.post_passwords({square: "agate", market: "beryl"})
    await build_channels(house, 1000, [ada])
    await house.stop()
    slack.calls.clear()
    await house.start()
    began = time.process_time()
    assert find_secrets(await house.ask_by_mention(ada, square)) == "agate beryl"
    assert time.process_time() - began < 10.0
    assert count_lookups(house) < 12
    assert not {*slack.buckets.limited} & {*LOOKUP_METHODS}


async def test_a_dead_socket_is_no_reason_to_ask_about_each_channel(house: SlackBotFixture) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada])
    await house.post_passwords({square: "agate", market: "beryl"})
    await build_channels(house, 300, [ada])
    slack.calls.clear()
    house.bot.suspend_visibility("slack")
    await house.bot.reconcile("slack")
    assert find_secrets(await house.ask_by_mention(ada, square)) == "agate beryl"
    assert count_lookups(house) < 12


async def test_somebody_in_eighty_private_channels_is_answered_from_all_of_them(house: SlackBotFixture) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    first, last = slack.channel("first", members=[ada], kind="private"), slack.channel("last", members=[ada, bob])
    await slack.converts(last, ada)
    await house.post_passwords({first: "agate", last: "beryl"})
    await build_channels(house, 80, [ada], kind="private")
    slack.calls.clear()
    house.bot.context.audience.invalidate(Location("slack", slack.space.team, ""))
    assert find_secrets(await house.ask_in_dm(ada)) == "agate beryl"
    cold = count_lookups(house)
    assert cold < 8
    assert find_secrets(await house.ask_in_dm(ada)) == "agate beryl"
    assert count_lookups(house) == cold
    await ada.leaves(last)
    await slack.wait_until_delivered()
    assert find_secrets(await house.ask_in_dm(ada)) == "agate"
    assert find_secrets(await house.ask_in_dm(bob)) == "beryl"


async def test_channel_joined_during_downtime_is_greeted_and_indexed(house: SlackBotFixture) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada])
    await house.post_passwords({square: "agate"})
    market = slack.channel("market", members=[ada], bot=False)
    cellar = slack.channel("cellar", members=[ada], kind="private", bot=False)
    await ada.says(market, "The password of the safe is beryl.")
    await house.stop()
    for room in (market, cellar):
        await ada.invites(room, slack.bot)
    slack.socket.stop_retries()
    for _ in range(2):
        await house.start()
        await slack.wait_for(
            lambda: slack.sees(ada, cellar).all_entries() and slack.sees(ada, market).all_entries(), 20
        )
        await house.bot.ingest_service.run_sync()
        await house.wait_until_idle()
        assert find_secrets(await house.ask_by_mention(ada, square)) == "agate beryl"
        for room in (market, cellar):
            hellos = [
                each for each in slack.sees(ada, room).all_entries() if "Hello! I read" in "\n".join(each.lines())
            ]
            assert len(hellos) == 1
        await house.stop()
    await house.start()


async def test_partial_channel_list_is_not_reported_as_missing(
    house: SlackBotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.permissions.resolver.QUESTION_SUSPENSION_WAIT", 0.2)
    monkeypatch.setattr("bot.bot.REFRESH_INTERVAL", 0.1)
    slack = house.slack
    ada = slack.user("Ada")
    square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada])
    await house.post_passwords({market: "beryl"})
    for number in range(4):
        slack.channel(f"room-{number}", members=[ada])
    await house.stop()
    slack.page = 3
    await slack.converts(market, ada)
    slack.socket.stop_retries()
    slack.fail_next("users.conversations", Fault("slow", seconds=0))
    slack.fail_next("users.conversations", "internal_error", times=1000)
    await house.start()
    answer = await house.ask_by_mention(ada, square)
    assert find_secrets(answer) == ""
    assert "still checking who can read what" in answer
    assert texts.NOTHING_FOUND not in answer
    slack.faults.clear()
    async with asyncio.timeout(20):
        while (await house.bot.context.audience.resolve_scope(place_of(house, square))).gap:  # noqa: ASYNC110 - it has no news
            await asyncio.sleep(0.02)
    assert find_secrets(await house.ask_by_mention(ada, square)) == "", "it is private by now"
    assert find_secrets(await house.ask_by_mention(ada, market)) == "beryl"


@pytest.mark.parametrize("seed", range(3))
async def test_changes_during_listing_never_widen_answers(house: SlackBotFixture, seed: int) -> None:
    slack, chance = house.slack, random.Random(seed)
    ada, bob = slack.user("Ada"), slack.user("Bob")
    words = ("agate", "beryl", "coral", "diamond", "emerald")
    rooms = [
        slack.channel(f"room-{each}", members=[ada, bob], kind=chance.choice(("public", "private"))) for each in words
    ]
    await house.post_passwords(dict(zip(rooms, words, strict=True)))
    hall = slack.channel("hall", members=[ada, bob])
    slack.page = 2
    for _ in range(4):
        slack.fail_next("users.conversations", Fault("slow", seconds=chance.random() / 5), times=3)
        house.bot.suspend_visibility("slack")
        looking = asyncio.create_task(house.bot.reconcile("slack"))
        could = {person: readable_secrets(slack, person, rooms, words) for person in (ada, bob)}
        public = {word for room, word in zip(rooms, words, strict=True) if room.channel.kind == "public"}
        for _ in range(3):
            await asyncio.sleep(chance.random() / 20)
            await change_membership(house, chance, chance.choice(rooms), chance.choice((ada, bob)), ada)
        whispered = {person: {*find_secrets(await house.ask_privately(person, hall)).split()} for person in (ada, bob)}
        asked = {*find_secrets(await house.ask_by_mention(ada, hall)).split()}
        for person, found in whispered.items():
            assert found <= could[person] | readable_secrets(slack, person, rooms, words)
        assert asked <= public | {w for r, w in zip(rooms, words, strict=True) if r.channel.kind == "public"}
        await looking
    for person in (ada, bob):
        assert {*find_secrets(await house.ask_privately(person, hall)).split()} == readable_secrets(
            slack, person, rooms, words
        )


async def change_membership(
    house: SlackBotFixture, chance: random.Random, room: Room, person: Person, admin: Person
) -> None:
    """Somebody comes or goes, or a channel turns private or public."""
    if chance.random() < 0.4:
        await house.slack.converts(room, admin, private=room.channel.kind == "public")
    elif person.id in room.channel.members:
        await person.leaves(room)
    else:
        await person.joins(room)


def readable_secrets(slack: FakeSlack, person: Person, rooms: Sequence[Room], words: Sequence[str]) -> set[str]:
    """The words in the channels that somebody may read now."""
    pairs = zip(rooms, words, strict=True)
    return {word for room, word in pairs if room.channel.kind == "public" or person.id in room.channel.members}
