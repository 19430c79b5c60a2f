"""Lists of channels: one call for many facts, and never older than the changes that the bot was told of."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bot.errors import ChannelGone, PlatformError
from bot.permissions.audience import ResolvedScope
from bot.permissions.resolver import AudienceResolver
from bot.platform.models import Channel, ListedChannel, Location, Person
from bot.store import BotStore
from engine.models import Scope
from tests.support.clock import ManualClock
from tests.support.fake_platform import FakePlatform

OPEN, ADA = "slack:T1:open", frozenset({"slack:T1:open", "slack:T1:dm:ada", "slack::dm:ada"})


class PagedPlatform(FakePlatform):
    """Its lists come in pages of three channels, between which something `happens`. `broken`: pages that fail."""

    def __init__(self) -> None:
        super().__init__(clock=ManualClock())
        self.listable_workspaces = {"T1"}
        self.people["ada"] = Person("ada", "Ada")
        self.happens: Callable[[], None] = lambda: None
        self.broken: set[int] = set()
        self.lists = 0

    async def list_channels(self, workspace: str, person: str = "") -> list[ListedChannel]:
        self.lists += 1
        found, ids = [], sorted(self.channels)
        for number, start in enumerate(range(0, len(ids), 3)):
            page = ids[start : start + 3]
            whole = {channel.location.channel: channel for channel in await super().list_channels(workspace, person)}
            found += [whole[message] for message in page if message in whole]
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
def slack() -> PagedPlatform:
    return PagedPlatform()


@pytest.fixture
def audience(slack: PagedPlatform, store: BotStore, monkeypatch: pytest.MonkeyPatch) -> AudienceResolver:
    monkeypatch.setattr("bot.permissions.resolver.SUSPENSION_WAIT", 0.01)
    return AudienceResolver({"slack": slack}, store, 60.0, slack.clock)


@pytest.fixture
def direct(slack: PagedPlatform) -> Location:
    """Ada's direct messages."""
    return slack.add_channel("D1", "ada", kind="direct")


async def test_the_channels_of_a_person_cost_one_list(
    slack: PagedPlatform, audience: AudienceResolver, direct: Location
) -> None:
    vaults = {slack.add_channel(f"V{number:02}", "ada", kind="closed").room for number in range(80)}
    for _ in range(2):
        assert await audience.resolve_scope(direct) == ResolvedScope(Scope(ADA | vaults, frozenset()))
        assert (slack.lists, slack.calls.count("channel")) == (1, 1)


async def test_a_change_of_members_is_looked_up_alone_and_many_are_one_list(
    slack: PagedPlatform, audience: AudienceResolver, direct: Location
) -> None:
    rooms = [slack.add_channel(f"V{number:02}", "ada", kind="closed").room for number in range(20)]
    crew = slack.add_channel("CREW", "bob", kind="closed")
    await audience.resolve_scope(direct)
    for place, members in ((slack.place("V00"), {"bob"}), (crew, {"ada", "bob"})):
        slack.change_channel(place.channel, members=frozenset(members))
        audience.invalidate(place, members_only=True)
    assert (await audience.resolve_scope(direct)).scope.spaces == ADA | {*rooms[1:], crew.room}
    assert slack.lists == 1
    for number in range(1, 20):
        slack.change_channel(f"V{number:02}", members=frozenset())
        audience.invalidate(slack.place(f"V{number:02}"), members_only=True)
    slack.advance(10.0)
    slack.calls.clear()
    assert (await audience.resolve_scope(direct)).scope.spaces == ADA | {crew.room}
    assert (slack.lists, slack.calls.count("channel")) == (2, 0)


async def test_up_to_four_changes_since_a_list_are_looked_up_alone(
    slack: PagedPlatform, audience: AudienceResolver, direct: Location
) -> None:
    places = [slack.add_channel(f"V{number}", "ada", kind="closed") for number in range(9)]
    for place in places:
        audience.invalidate(place, members_only=True)  # the list may lack these changes, but is no older
    await audience.resolve_scope(direct)
    for place, lists in zip(places[:5], (1, 1, 1, 1, 2), strict=True):
        audience.invalidate(place, members_only=True)
        await audience.resolve_scope(direct)
        assert slack.lists == lists


@pytest.mark.parametrize(("later", "lookups"), [(1.9, 1), (2.0, 0)])
async def test_a_list_may_lack_the_changes_of_two_seconds_before_it(
    slack: PagedPlatform, audience: AudienceResolver, direct: Location, later: float, lookups: int
) -> None:
    vault = slack.add_channel("VAULT", "ada", kind="closed")
    slack.advance(100.0)
    audience.invalidate(vault, members_only=True)
    slack.advance(later)
    assert vault.room in (await audience.resolve_scope(direct)).scope.spaces
    assert slack.calls.count("channel") == 1 + lookups  # that of the direct message


@pytest.mark.parametrize(
    ("place", "lists"),
    [(("slack", "T1"), 2), (("slack", ""), 2), (("slack", "T2"), 1), (("discord", ""), 1)],
    ids=["workspace", "platform", "another workspace", "another platform"],
)
async def test_a_change_of_a_workspace_or_a_platform_ends_its_lists(
    slack: PagedPlatform, audience: AudienceResolver, place: tuple[str, str], lists: int
) -> None:
    hall = slack.add_channel("HALL", "ada")
    await audience.get_home_space(hall)
    audience.channel_lists.record_change(Location(*place, ""))
    await audience.get_home_space(hall)
    assert slack.lists == lists


async def test_a_change_of_members_leaves_the_list_of_the_bot_as_it_is(
    slack: PagedPlatform, audience: AudienceResolver
) -> None:
    hall = slack.add_channel("HALL", "ada")
    for _ in range(2):
        assert await audience.get_home_space(hall) == OPEN
        assert (slack.lists, slack.calls.count("channel")) == (1, 0)
        audience.invalidate(hall, members_only=True)


def test_channels_of_a_platform_that_is_not_connected_are_not_listed(audience: AudienceResolver) -> None:
    assert audience.channel_lists.is_listable("slack", "T1")
    assert not audience.channel_lists.is_listable("discord", "T1")


@pytest.mark.parametrize("page", [0, 1])
async def test_a_list_without_its_end_is_no_list(slack: PagedPlatform, audience: AudienceResolver, page: int) -> None:
    hall = slack.add_channel("HALL", "ada", kind="closed")
    for name in ("CREW", "DEN", "VAULT"):
        slack.add_channel(name, "ada", kind="closed")
    slack.broken = {page}
    assert await audience.resolve_scope(hall, "ada") == ResolvedScope(Scope(ADA | {hall.room}, frozenset()), "partial")
    slack.broken = set()
    assert (await audience.resolve_scope(hall, "ada")).gap == ""


async def test_a_channel_that_is_gone_leaves_nothing_in_doubt(
    slack: PagedPlatform, audience: AudienceResolver, direct: Location
) -> None:
    den = slack.add_channel("DEN", "ada", kind="closed")
    await audience.resolve_scope(direct)
    del slack.channels["DEN"]
    audience.invalidate(den)
    assert await audience.resolve_scope(direct) == ResolvedScope(Scope(ADA, frozenset()))


@pytest.mark.parametrize("broken", [False, True])
async def test_rooms_of_guests_are_found_by_their_lists(
    slack: PagedPlatform, audience: AudienceResolver, *, broken: bool
) -> None:
    for name in ("gil", "gus"):
        slack.add_guest(name)
    hall, both = slack.add_channel("HALL", "ada", "gil", "gus"), slack.add_channel("BOTH", "gil", "gus")
    slack.add_channel("ONE", "gil", "ada")
    slack.broken = {0} if broken else set()
    rooms = frozenset({hall.room} if broken else {hall.room, both.room})
    expected = ResolvedScope(Scope(frozenset(), rooms), "partial" if broken else "")
    assert await audience.resolve_scope(hall) == expected
    assert broken or (slack.lists, slack.calls.count("channel")) == (2, 1)


@pytest.mark.parametrize(("others", "is_complete"), [(1, True), (2, False)])
async def test_with_too_many_guests_a_channel_sees_itself_alone(
    slack: PagedPlatform, audience: AudienceResolver, monkeypatch: pytest.MonkeyPatch, *, others: int, is_complete: bool
) -> None:
    monkeypatch.setattr("bot.permissions.resolver.MAX_GUESTS", 2)
    guests = [slack.add_guest(name) for name in ("gus", "gil", "gem")[: 1 + others]]
    hall, both = slack.add_channel("HALL", "ada", *guests), slack.add_channel("BOTH", *guests)
    rooms = frozenset({hall.room, both.room} if is_complete else {hall.room})
    assert await audience.resolve_scope(hall) == ResolvedScope(
        Scope(frozenset(), rooms), "" if is_complete else "partial"
    )


@pytest.mark.parametrize("facts", [{"kind": "closed"}, {"shared": True}], ids=["closed", "shared"])
async def test_guests_of_a_channel_with_a_space_of_its_own_cost_no_list(
    slack: PagedPlatform, audience: AudienceResolver, facts: dict[str, Any]
) -> None:
    hall = slack.add_channel("HALL", "ada", slack.add_guest("gus"), **facts)
    assert await audience.resolve_scope(hall) == ResolvedScope(Scope(frozenset({hall.room}), frozenset()))
    assert slack.lists == 0


async def test_while_shared_spaces_are_suspended_a_person_sees_their_own_and_where_they_are_members(
    slack: PagedPlatform, audience: AudienceResolver, direct: Location
) -> None:
    vault, den = slack.add_channel("VAULT", "ada", kind="closed"), slack.add_channel("DEN", "bob", kind="closed")
    audience.suspend(Location("slack", "", ""))
    found = await audience.resolve_scope(direct)
    assert found == ResolvedScope(Scope(ADA - {OPEN} | {vault.room}, frozenset({direct.room})), "checking")
    outside = await audience.resolve_scope(den, "ada")
    assert (outside.gap, outside.scope.rooms, den.room in outside.scope.spaces) == ("checking", frozenset(), False)


@pytest.mark.parametrize("seed", range(20))
async def test_no_scope_holds_what_was_not_so_at_any_time_since_it_was_asked(
    slack: PagedPlatform, audience: AudienceResolver, direct: Location, seed: int
) -> None:
    chance = random.Random(seed)
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
        slack.advance(chance.choice((0.0, 0.0, 1.0, 70.0)))
        if chance.random() < 0.5:
            return
        name = chance.choice(names)
        channel = slack.channels[name]
        members = channel.members ^ {"ada"} if chance.random() < 0.7 else channel.members
        kind = channel.kind if members != channel.members else "open" if channel.kind == "closed" else "closed"
        slack.channels[name] = replace(channel, members=members, kind=kind)
        audience.invalidate(channel.location, members_only=kind == channel.kind)
        truth()

    slack.happens = change
    for _ in range(12):
        since.clear()
        truth()
        found = (await audience.resolve_scope(direct)).scope.spaces - ADA
        assert found <= {space for spaces in since.values() for space in spaces}
        for name in names:
            since.clear()
            truth()
            try:
                home = await audience.get_home_space(slack.place(name))
            except ChannelGone:
                continue
            kinds = {OPEN if each == OPEN else slack.place(name).room for each in since[name]}
            assert home in kinds
        change()
