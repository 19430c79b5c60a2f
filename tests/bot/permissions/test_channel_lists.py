"""Lists of channels: one call for many facts, and never older than what the bot was told meanwhile."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.errors import ChannelGone, PlatformError
from bot.permissions.audience import ResolvedScope
from bot.permissions.resolver import AudienceResolver
from bot.platform.models import Location, Person
from bot.store import BotStore
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
        self.listable_workspaces = {"T1"}
        self.people["ada"] = Person("ada", "Ada")
        self.happens: Callable[[], None] = lambda: None
        self.broken: set[int] = set()
        self.lists = 0
        self.now = 0.0

    async def list_channels(self, workspace: str, person: str = "") -> list[ListedChannel]:
        self.lists += 1
        found, ids = [], sorted(self.channels)
        for number, start in enumerate(range(0, len(ids), 3)):
            page = ids[start : start + 3]
            whole = {each.location.channel: each for each in await super().list_channels(workspace, person)}
            found += [whole[each] for each in page if each in whole]
            if number in self.broken:
                raise PlatformError("The page cannot be had.")
            await asyncio.sleep(0)
            self.happens()
        return found

    async def fetch_channel(self, place: Location) -> Channel:
        found = await super().fetch_channel(place)
        await asyncio.sleep(0)
        return found


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[BotStore]:
    async with BotStore.open(tmp_path / "bot.db") as opened:
        yield opened


@pytest.fixture
def slack() -> Paged:
    return Paged()


@pytest.fixture
def readers(slack: Paged, store: BotStore, monkeypatch: pytest.MonkeyPatch) -> AudienceResolver:
    monkeypatch.setattr("bot.permissions.resolver.SUSPENSION_WAIT", 0.01)
    return AudienceResolver({"slack": slack}, store, 60.0, lambda: slack.now)


async def test_somebody_in_many_channels_costs_one_list(slack: Paged, readers: AudienceResolver) -> None:
    talk = slack.add_channel("D1", "ada", kind="direct")
    vaults = [slack.add_channel(f"V{number:02}", "ada", kind="closed") for number in range(80)]
    found = await readers.resolve_scope(talk)
    assert found == ResolvedScope(Scope(ADA | {each.room for each in vaults}, frozenset()))
    assert (slack.lists, slack.calls.count("channel")) == (1, 1)
    assert await readers.resolve_scope(talk) == found
    assert (slack.lists, slack.calls.count("channel")) == (1, 1)


async def test_who_left_is_asked_about_alone(slack: Paged, readers: AudienceResolver) -> None:
    talk = slack.add_channel("D1", "ada", kind="direct")
    for name in ("CREW", "DEN"):
        slack.add_channel(name, "ada", kind="closed")
    await readers.resolve_scope(talk)
    slack.change_channel("CREW", members=frozenset({"bob"}))
    readers.invalidate(slack.place("CREW"), members_only=True)
    assert (await readers.resolve_scope(talk)).scope.spaces == ADA | {"slack:T1:DEN"}
    assert slack.lists == 1


async def test_who_came_is_found_too(slack: Paged, readers: AudienceResolver) -> None:
    talk = slack.add_channel("D1", "ada", kind="direct")
    slack.add_channel("CREW", "bob", kind="closed")
    await readers.resolve_scope(talk)
    slack.change_channel("CREW", members=frozenset({"ada", "bob"}))
    readers.invalidate(slack.place("CREW"), members_only=True)
    assert "slack:T1:CREW" in (await readers.resolve_scope(talk)).scope.spaces


async def test_many_changes_are_read_with_one_new_list(slack: Paged, readers: AudienceResolver) -> None:
    talk = slack.add_channel("D1", "ada", kind="direct")
    names = [f"V{number:02}" for number in range(20)]
    for name in names:
        slack.add_channel(name, "ada", kind="closed")
    await readers.resolve_scope(talk)
    for name in names:
        slack.change_channel(name, members=frozenset())
        readers.invalidate(slack.place(name), members_only=True)
    slack.now += 10.0
    assert (await readers.resolve_scope(talk)).scope.spaces == ADA
    assert (slack.lists, slack.calls.count("channel")) == (2, 1)


@pytest.mark.parametrize("page", [0, 1])
async def test_a_list_without_its_end_is_no_list(slack: Paged, readers: AudienceResolver, page: int) -> None:
    hall = slack.add_channel("HALL", "ada", kind="closed")
    for name in ("CREW", "DEN", "VAULT"):
        slack.add_channel(name, "ada", kind="closed")
    slack.broken = {page}
    found = await readers.resolve_scope(hall, "ada")
    assert found == ResolvedScope(Scope(ADA | {hall.room}, frozenset()), "partial")
    slack.broken = set()
    assert (await readers.resolve_scope(hall, "ada")).gap == ""


async def test_a_channel_that_is_gone_leaves_nothing_in_doubt(slack: Paged, readers: AudienceResolver) -> None:
    talk = slack.add_channel("D1", "ada", kind="direct")
    den = slack.add_channel("DEN", "ada", kind="closed")
    await readers.resolve_scope(talk)
    del slack.channels["DEN"]
    readers.invalidate(den)
    assert await readers.resolve_scope(talk) == ResolvedScope(Scope(ADA, frozenset()))


async def test_guests_are_looked_for_by_their_lists(slack: Paged, readers: AudienceResolver) -> None:
    for name in ("gil", "gus"):
        slack.people[name] = Person(name, name, is_guest=True)
    hall = slack.add_channel("HALL", "ada", "gil", "gus")
    both, one = slack.add_channel("BOTH", "gil", "gus"), slack.add_channel("ONE", "gil", "ada")
    found = await readers.resolve_scope(hall)
    assert found == ResolvedScope(Scope(frozenset(), frozenset({hall.room, both.room})))
    assert one.room not in found.scope.rooms
    assert (slack.lists, slack.calls.count("channel")) == (2, 1)


async def test_guests_whose_lists_cannot_be_had_are_told_the_room_alone(
    slack: Paged, readers: AudienceResolver
) -> None:
    slack.people["gil"] = Person("gil", "Gil", is_guest=True)
    hall = slack.add_channel("HALL", "ada", "gil")
    slack.add_channel("BOTH", "gil")
    slack.broken = {0}
    assert await readers.resolve_scope(hall) == ResolvedScope(Scope(frozenset(), frozenset({hall.room})), "partial")


async def test_what_is_one_s_own_is_told_while_shared_spaces_are_suspended(
    slack: Paged, readers: AudienceResolver
) -> None:
    talk = slack.add_channel("D1", "ada", kind="direct")
    vault = slack.add_channel("VAULT", "ada", kind="closed")
    readers.suspend(Location("slack", "", ""))
    found = await readers.resolve_scope(talk)
    assert found.gap == "checking"
    assert found.scope == Scope(ADA - {OPEN} | {vault.room}, frozenset({talk.room}))


async def test_who_left_the_place_of_the_answer_reads_nothing_of_it_even_then(
    slack: Paged, readers: AudienceResolver
) -> None:
    den = slack.add_channel("DEN", "bob", kind="closed")
    readers.suspend(Location("slack", "", ""))
    assert await readers.resolve_scope(den, "ada") == ResolvedScope(Scope(ADA - {OPEN}, frozenset()), "checking")


@pytest.mark.parametrize("seed", range(60))
async def test_nothing_is_told_that_was_not_so_at_any_time_since_it_was_asked(
    slack: Paged, readers: AudienceResolver, seed: int
) -> None:
    chance, talk = random.Random(seed), slack.add_channel("D1", "ada", kind="direct")
    names = [f"C{number}" for number in range(9)]
    for name in names:
        slack.add_channel(name, *chance.choice((("ada",), ("bob",), ())), kind=chance.choice(("open", "closed")))
    since: dict[str, set[str]] = {}

    def truth() -> None:
        for name in names:
            channel = slack.channels[name]
            since.setdefault(name, set()).add(
                OPEN if channel.kind == "open" else channel.location.room if "ada" in channel.members else ""
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
        readers.invalidate(channel.location, members_only=kind == channel.kind)
        truth()

    slack.happens = change
    for _ in range(12):
        since.clear()
        truth()
        found = (await readers.resolve_scope(talk)).scope.spaces - ADA
        assert found <= {space for spaces in since.values() for space in spaces}
        for name in names:
            since.clear()
            truth()
            try:
                home = await readers.get_home_space(slack.place(name))
            except ChannelGone:
                continue
            kinds = {OPEN if each == OPEN else slack.place(name).room for each in since[name]}
            assert home in kinds
        change()
