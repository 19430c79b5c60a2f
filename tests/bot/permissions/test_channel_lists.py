"""Lists of channels: one call for many facts, and never older than what the bot was told meanwhile."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.errors import NotThere, PlatformError
from bot.permissions.resolver import Reach, Readers
from bot.platform.models import Person, Place
from bot.store import Store
from engine.models import Scope
from tests.support.fake_platform import FakePlatform

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from bot.platform.models import Channel, ListedChannel

OPEN, ADA = "slack:T1:open", frozenset({"slack:T1:open", "slack:T1:dm:ada", "slack::dm:ada"})


class Paged(FakePlatform):
    """A list is read a few channels at a time; in between, something `happens`. `broken`: pages that fail."""

    def __init__(self) -> None:
        super().__init__("slack", "T1")
        self.listable = {"T1"}
        self.people["ada"] = Person("ada", "Ada")
        self.happens: Callable[[], None] = lambda: None
        self.broken: set[int] = set()
        self.lists = 0
        self.now = 0.0

    async def channel_list(self, workspace: str, person: str = "") -> list[ListedChannel]:
        self.lists += 1
        found, ids = [], sorted(self.channels)
        for number, start in enumerate(range(0, len(ids), 3)):
            page = ids[start : start + 3]
            whole = {each.place.channel: each for each in await super().channel_list(workspace, person)}
            found += [whole[each] for each in page if each in whole]
            if number in self.broken:
                raise PlatformError("The page cannot be had.")
            await asyncio.sleep(0)
            self.happens()
        return found

    async def channel(self, place: Place) -> Channel:
        found = await super().channel(place)
        await asyncio.sleep(0)
        return found


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with Store.open(tmp_path / "bot.db") as opened:
        yield opened


@pytest.fixture
def slack() -> Paged:
    return Paged()


@pytest.fixture
def readers(slack: Paged, store: Store, monkeypatch: pytest.MonkeyPatch) -> Readers:
    monkeypatch.setattr("bot.permissions.resolver.MOVING", 0.01)
    return Readers({"slack": slack}, store, 60.0, lambda: slack.now)


async def test_somebody_in_many_channels_costs_one_list(slack: Paged, readers: Readers) -> None:
    talk = slack.open("D1", "ada", kind="direct")
    vaults = [slack.open(f"V{number:02}", "ada", kind="closed") for number in range(80)]
    found = await readers.reach(talk)
    assert found == Reach(Scope(ADA | {each.room for each in vaults}, frozenset()))
    assert (slack.lists, slack.calls.count("channel")) == (1, 1)
    assert await readers.reach(talk) == found
    assert (slack.lists, slack.calls.count("channel")) == (1, 1)


async def test_who_left_is_asked_about_alone(slack: Paged, readers: Readers) -> None:
    talk = slack.open("D1", "ada", kind="direct")
    for name in ("CREW", "DEN"):
        slack.open(name, "ada", kind="closed")
    await readers.reach(talk)
    slack.change("CREW", members=frozenset({"bob"}))
    readers.forget(slack.place("CREW"), members_only=True)
    assert (await readers.reach(talk)).scope.spaces == ADA | {"slack:T1:DEN"}
    assert slack.lists == 1


async def test_who_came_is_found_too(slack: Paged, readers: Readers) -> None:
    talk = slack.open("D1", "ada", kind="direct")
    slack.open("CREW", "bob", kind="closed")
    await readers.reach(talk)
    slack.change("CREW", members=frozenset({"ada", "bob"}))
    readers.forget(slack.place("CREW"), members_only=True)
    assert "slack:T1:CREW" in (await readers.reach(talk)).scope.spaces


async def test_many_changes_are_read_with_one_new_list(slack: Paged, readers: Readers) -> None:
    talk = slack.open("D1", "ada", kind="direct")
    names = [f"V{number:02}" for number in range(20)]
    for name in names:
        slack.open(name, "ada", kind="closed")
    await readers.reach(talk)
    for name in names:
        slack.change(name, members=frozenset())
        readers.forget(slack.place(name), members_only=True)
    slack.now += 10.0
    assert (await readers.reach(talk)).scope.spaces == ADA
    assert (slack.lists, slack.calls.count("channel")) == (2, 1)


@pytest.mark.parametrize("page", [0, 1])
async def test_a_list_without_its_end_is_no_list(slack: Paged, readers: Readers, page: int) -> None:
    hall = slack.open("HALL", "ada", kind="closed")
    for name in ("CREW", "DEN", "VAULT"):
        slack.open(name, "ada", kind="closed")
    slack.broken = {page}
    found = await readers.reach(hall, "ada")
    assert found == Reach(Scope(ADA | {hall.room}, frozenset()), "partial")
    slack.broken = set()
    assert (await readers.reach(hall, "ada")).gap == ""


async def test_a_channel_that_is_gone_leaves_nothing_in_doubt(slack: Paged, readers: Readers) -> None:
    talk = slack.open("D1", "ada", kind="direct")
    den = slack.open("DEN", "ada", kind="closed")
    await readers.reach(talk)
    del slack.channels["DEN"]
    readers.forget(den)
    assert await readers.reach(talk) == Reach(Scope(ADA, frozenset()))


async def test_guests_are_looked_for_by_their_lists(slack: Paged, readers: Readers) -> None:
    for name in ("gil", "gus"):
        slack.people[name] = Person(name, name, guest=True)
    hall = slack.open("HALL", "ada", "gil", "gus")
    both, one = slack.open("BOTH", "gil", "gus"), slack.open("ONE", "gil", "ada")
    found = await readers.reach(hall)
    assert found == Reach(Scope(frozenset(), frozenset({hall.room, both.room})))
    assert one.room not in found.scope.rooms
    assert (slack.lists, slack.calls.count("channel")) == (2, 1)


async def test_guests_whose_lists_cannot_be_had_are_told_the_room_alone(slack: Paged, readers: Readers) -> None:
    slack.people["gil"] = Person("gil", "Gil", guest=True)
    hall = slack.open("HALL", "ada", "gil")
    slack.open("BOTH", "gil")
    slack.broken = {0}
    assert await readers.reach(hall) == Reach(Scope(frozenset(), frozenset({hall.room})), "partial")


async def test_what_is_one_s_own_is_told_while_shared_spaces_are_suspended(slack: Paged, readers: Readers) -> None:
    talk = slack.open("D1", "ada", kind="direct")
    vault = slack.open("VAULT", "ada", kind="closed")
    readers.doubt(Place("slack", "", ""))
    found = await readers.reach(talk)
    assert found.gap == "checking"
    assert found.scope == Scope(ADA - {OPEN} | {vault.room}, frozenset({talk.room}))


async def test_who_left_the_place_of_the_answer_reads_nothing_of_it_even_then(slack: Paged, readers: Readers) -> None:
    den = slack.open("DEN", "bob", kind="closed")
    readers.doubt(Place("slack", "", ""))
    assert await readers.reach(den, "ada") == Reach(Scope(ADA - {OPEN}, frozenset()), "checking")


@pytest.mark.parametrize("seed", range(60))
async def test_nothing_is_told_that_was_not_so_at_any_time_since_it_was_asked(
    slack: Paged, readers: Readers, seed: int
) -> None:
    chance, talk = random.Random(seed), slack.open("D1", "ada", kind="direct")
    names = [f"C{number}" for number in range(9)]
    for name in names:
        slack.open(name, *chance.choice((("ada",), ("bob",), ())), kind=chance.choice(("open", "closed")))
    since: dict[str, set[str]] = {}

    def truth() -> None:
        for name in names:
            channel = slack.channels[name]
            since.setdefault(name, set()).add(
                OPEN if channel.kind == "open" else channel.place.room if "ada" in channel.members else ""
            )

    def change() -> None:
        slack.now += chance.choice((0.0, 0.0, 1.0, 70.0))
        if chance.random() < 0.5:
            return
        name = chance.choice(names)
        channel = slack.channels[name]
        members = channel.members ^ {"ada"} if chance.random() < 0.7 else channel.members
        kind = channel.kind if members != channel.members else "open" if channel.kind == "closed" else "closed"
        slack.channels[name] = replace(channel, members=members, kind=kind)
        readers.forget(channel.place, members_only=kind == channel.kind)
        truth()

    slack.happens = change
    for _ in range(12):
        since.clear()
        truth()
        found = (await readers.reach(talk)).scope.spaces - ADA
        assert found <= {space for spaces in since.values() for space in spaces}
        for name in names:
            since.clear()
            truth()
            try:
                home = await readers.home(slack.place(name))
            except NotThere:
                continue
            kinds = {OPEN if each == OPEN else slack.place(name).room for each in since[name]}
            assert home in kinds
        change()
