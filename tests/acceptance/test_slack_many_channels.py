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
from bot.platform.models import Place
from tests.support.gossip import told
from tests.support.slack_server import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.slack_server import FakeSlack, Person, Room
    from tests.support.slack_server.state import ChannelKind
    from tests.support.town.slack import House

pytestmark = pytest.mark.asyncio(loop_scope="module")

FACTS = ("conversations.info", "conversations.members", "users.conversations", "users.info", "users.list")


async def crowd(house: House, count: int, members: Sequence[Person], kind: ChannelKind = "public") -> list[Room]:
    """So many channels that the bot has known for long, with nothing said in them."""
    rooms = [house.slack.channel(f"room-{number}", members=members, kind=kind) for number in range(count)]
    for each in rooms:
        place = place_of(house, each)
        await house.bot.store.rooms.note(place, each.name)
        await house.bot.store.rooms.note_announced(place.room)
    return rooms


def place_of(house: House, room: Room) -> Place:
    return Place("slack", house.slack.space.team, room.id)


def facts_asked(house: House) -> int:
    return len(house.slack.called(*FACTS))


async def test_a_thousand_channels_are_trusted_again_within_ten_seconds(house: House) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada])
    await house.safe({square: "agate", market: "beryl"})
    await crowd(house, 1000, [ada])
    await house.end()
    slack.calls.clear()
    await house.start()
    began = time.process_time()
    assert told(await house.asks(ada, square)) == "agate beryl"
    assert time.process_time() - began < 10.0
    assert facts_asked(house) < 12
    assert not {*slack.buckets.limited} & {*FACTS}


async def test_a_dead_socket_is_no_reason_to_ask_about_each_channel(house: House) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada])
    await house.safe({square: "agate", market: "beryl"})
    await crowd(house, 300, [ada])
    slack.calls.clear()
    house.bot.doubt("slack")
    await house.bot.catch_up("slack")
    assert told(await house.asks(ada, square)) == "agate beryl"
    assert facts_asked(house) < 12


async def test_somebody_in_eighty_private_channels_is_answered_from_all_of_them(house: House) -> None:
    slack = house.slack
    ada, bob = slack.user("Ada"), slack.user("Bob")
    first, last = slack.channel("first", members=[ada], kind="private"), slack.channel("last", members=[ada, bob])
    await slack.converts(last, ada)
    await house.safe({first: "agate", last: "beryl"})
    await crowd(house, 80, [ada], kind="private")
    slack.calls.clear()
    house.bot.house.readers.forget(Place("slack", slack.space.team, ""))
    assert told(await house.in_private(ada)) == "agate beryl"
    cold = facts_asked(house)
    assert cold < 8
    assert told(await house.in_private(ada)) == "agate beryl"
    assert facts_asked(house) == cold
    await ada.leaves(last)
    await slack.delivered()
    assert told(await house.in_private(ada)) == "agate"
    assert told(await house.in_private(bob)) == "beryl"


async def test_a_channel_that_the_bot_was_invited_to_while_it_was_off_is_told_once_and_read(house: House) -> None:
    slack = house.slack
    ada = slack.user("Ada")
    square = slack.channel("square", members=[ada])
    await house.safe({square: "agate"})
    market = slack.channel("market", members=[ada], bot=False)
    cellar = slack.channel("cellar", members=[ada], kind="private", bot=False)
    await ada.says(market, "The password of the safe is beryl.")
    await house.end()
    for room in (market, cellar):
        await ada.invites(room, slack.bot)
    slack.socket.gives_up()
    for _ in range(2):
        await house.start()
        await slack.until(lambda: slack.sees(ada, cellar).all() and slack.sees(ada, market).all(), 20)
        await house.bot.listening.past()
        await house.settled()
        assert told(await house.asks(ada, square)) == "agate beryl"
        for room in (market, cellar):
            hellos = [each for each in slack.sees(ada, room).all() if "Hello! I read" in "\n".join(each.lines())]
            assert len(hellos) == 1
        await house.end()
    await house.start()


async def test_while_the_end_of_a_list_is_lacking_nothing_is_said_to_be_unknown(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.permissions.resolver.MOVING_FOR_QUESTIONS", 0.2)
    monkeypatch.setattr("bot.bot.REFRESH", 0.1)
    slack = house.slack
    ada = slack.user("Ada")
    square, market = slack.channel("square", members=[ada]), slack.channel("market", members=[ada])
    await house.safe({market: "beryl"})
    for number in range(4):
        slack.channel(f"room-{number}", members=[ada])
    await house.end()
    slack.page = 3
    await slack.converts(market, ada)
    slack.socket.gives_up()
    slack.fails("users.conversations", Fault("slow", seconds=0))
    slack.fails("users.conversations", "internal_error", times=1000)
    await house.start()
    answer = await house.asks(ada, square)
    assert told(answer) == ""
    assert "still checking who can read what" in answer
    assert texts.NOTHING_FOUND not in answer
    slack.faults.clear()
    async with asyncio.timeout(20):
        while (await house.bot.house.readers.reach(place_of(house, square))).gap:  # noqa: ASYNC110 - it has no news
            await asyncio.sleep(0.02)
    assert told(await house.asks(ada, square)) == "", "it is private by now"
    assert told(await house.asks(ada, market)) == "beryl"


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_changes_while_lists_are_read_nobody_is_told_more_than_they_may_read(
    house: House, seed: int
) -> None:
    slack, chance = house.slack, random.Random(seed)
    ada, bob = slack.user("Ada"), slack.user("Bob")
    words = ("agate", "beryl", "coral", "diamond", "emerald")
    rooms = [
        slack.channel(f"room-{each}", members=[ada, bob], kind=chance.choice(("public", "private"))) for each in words
    ]
    await house.safe(dict(zip(rooms, words, strict=True)))
    hall = slack.channel("hall", members=[ada, bob])
    slack.page = 2
    for _ in range(4):
        slack.fails("users.conversations", Fault("slow", seconds=chance.random() / 5), times=3)
        house.bot.doubt("slack")
        looking = asyncio.create_task(house.bot.catch_up("slack"))
        could = {person: readable(slack, person, rooms, words) for person in (ada, bob)}
        public = {word for room, word in zip(rooms, words, strict=True) if room.channel.kind == "public"}
        for _ in range(3):
            await asyncio.sleep(chance.random() / 20)
            await change(house, chance, chance.choice(rooms), chance.choice((ada, bob)), ada)
        whispered = {person: {*told(await house.whispers(person, hall)).split()} for person in (ada, bob)}
        asked = {*told(await house.asks(ada, hall)).split()}
        for person, found in whispered.items():
            assert found <= could[person] | readable(slack, person, rooms, words)
        assert asked <= public | {w for r, w in zip(rooms, words, strict=True) if r.channel.kind == "public"}
        await looking
    for person in (ada, bob):
        assert {*told(await house.whispers(person, hall)).split()} == readable(slack, person, rooms, words)


async def change(house: House, chance: random.Random, room: Room, person: Person, admin: Person) -> None:
    """Somebody comes or goes, or a channel turns private or public."""
    if chance.random() < 0.4:
        await house.slack.converts(room, admin, private=room.channel.kind == "public")
    elif person.id in room.channel.members:
        await person.leaves(room)
    else:
        await person.joins(room)


def readable(slack: FakeSlack, person: Person, rooms: Sequence[Room], words: Sequence[str]) -> set[str]:
    """The words in the channels that somebody may read now."""
    pairs = zip(rooms, words, strict=True)
    return {word for room, word in pairs if room.channel.kind == "public" or person.id in room.channel.members}
