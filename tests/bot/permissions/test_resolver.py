"""Facts about readers: looked up once, kept for a while, dropped when they change; in doubt, less is visible."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from bot.errors import NotConnected, PlatformError
from bot.permissions.audience import ResolvedScope
from bot.permissions.resolver import AudienceResolver
from bot.platform.models import Channel, Location, Person
from bot.store import BotStore
from engine.models import Scope
from tests.support.builders import HALL, ROOF
from tests.support.clock import ManualClock
from tests.support.fake_platform import FakePlatform

OPEN, VAULT = "slack:T1:open", "slack:T1:VAULT"
ADAS = {OPEN, "slack:T1:dm:ada", "slack::dm:ada"}
ROOM_ALONE = Scope(frozenset(), frozenset({HALL.room}))
WORKSPACE, EVERYWHERE = Location("slack", "T1", ""), Location("slack", "", "")
everywhere = pytest.mark.parametrize("place", [HALL, WORKSPACE, EVERYWHERE], ids=["channel", "workspace", "platform"])
DOWN = PlatformError("No.")


class ClockedPlatform(FakePlatform):
    """Its clock is set by hand; look-ups of channels wait for the gate."""

    def __init__(self, name: str = "slack", workspace: str = "T1") -> None:
        super().__init__(name, workspace, ManualClock())
        self.gate = asyncio.Event()
        self.gate.set()
        self.looking = asyncio.Event()

    async def fetch_channel(self, place: Location) -> Channel:
        found = await super().fetch_channel(place)
        self.looking.set()
        await self.gate.wait()
        return found


@pytest.fixture
def slack() -> ClockedPlatform:
    platform = ClockedPlatform()
    platform.add_channel("HALL", "ada")
    return platform


@pytest.fixture
def audience(slack: ClockedPlatform, store: BotStore, monkeypatch: pytest.MonkeyPatch) -> AudienceResolver:
    monkeypatch.setattr("bot.permissions.resolver.SUSPENSION_WAIT", 0.01)
    return AudienceResolver({"slack": slack}, store, 60.0, slack.clock)


async def join(store: BotStore, slack: FakePlatform, name: str, *members: str, kind: Any = "open") -> Location:
    """A channel that the bot is in."""
    place = slack.add_channel(name, *members, kind=kind)
    await store.channels.upsert(place, name.lower())
    return place


def spaces(*names: str) -> Scope:
    return Scope(frozenset(names), frozenset())


async def test_a_fact_is_kept_for_its_time_and_shared_by_those_who_ask_at_once(
    slack: ClockedPlatform, audience: AudienceResolver
) -> None:
    found = await asyncio.gather(*(audience.scope_for_channel(HALL) for _ in range(20)))
    assert set(found) == {spaces(OPEN)}
    slack.change_channel("HALL", kind="closed")
    slack.advance(59.9)
    assert await audience.scope_for_channel(HALL) == spaces(OPEN)
    slack.advance(0.1)
    assert await audience.scope_for_channel(HALL) == spaces(OPEN, HALL.room)
    assert slack.calls == ["channel", "channel"]


@everywhere
async def test_no_space_is_visible_until_rooms_were_moved(
    slack: ClockedPlatform, audience: AudienceResolver, place: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard = slack.add_channel("YARD", "ada")
    audience.suspend(place)
    assert await audience.scope_for_channel(yard) == Scope(frozenset(), frozenset({yard.room}))
    audience.resume(place, audience.clock.monotonic() - 1.0)
    assert (await audience.resolve_scope(yard)).gap == "checking", "that was before"
    monkeypatch.setattr("bot.permissions.resolver.SUSPENSION_WAIT", 10.0)
    waiting = asyncio.create_task(audience.scope_for_channel(yard))
    await asyncio.sleep(0)
    audience.resume(place, audience.clock.monotonic())
    assert await waiting == spaces(OPEN)


@everywhere
async def test_a_move_of_everything_ends_each_suspension_of_before(
    slack: ClockedPlatform, audience: AudienceResolver, place: Location
) -> None:
    audience.suspend(place)
    slack.advance(1.0)
    audience.resume(EVERYWHERE, 0.5)
    assert await audience.resolve_scope(HALL) == ResolvedScope(spaces(OPEN))
    audience.suspend(place)
    audience.resume(EVERYWHERE, 0.5)
    assert (await audience.resolve_scope(HALL)).gap == "checking", "that was before"
    audience.resume(Location("slack", "T2", ""), 1.0)
    audience.resume(ROOF, 1.0)
    assert (await audience.resolve_scope(HALL)).gap == "checking", "that was elsewhere"


async def test_a_suspension_elsewhere_hides_nothing(audience: AudienceResolver) -> None:
    for place in (Location("slack", "T2", ""), Location("discord", "", "")):
        audience.suspend(place)
    assert await audience.scope_for_channel(HALL) == spaces(OPEN)


@pytest.mark.parametrize(
    ("place", "scope"),
    [(HALL, spaces(HALL.room)), (WORKSPACE, spaces(HALL.room)), (EVERYWHERE, spaces(HALL.room)), (ROOF, spaces(OPEN))],
    ids=["channel", "workspace", "platform", "elsewhere"],
)
async def test_a_fact_is_dropped_where_it_changed(
    slack: ClockedPlatform, audience: AudienceResolver, place: Location, scope: Scope
) -> None:
    await audience.scope_for_channel(HALL)
    slack.change_channel("HALL", shared=True)
    audience.invalidate(place)
    assert await audience.scope_for_channel(HALL) == scope


async def test_a_fact_that_changes_while_it_is_looked_up_is_looked_up_again(
    slack: ClockedPlatform, audience: AudienceResolver
) -> None:
    slack.gate.clear()
    asked = asyncio.create_task(audience.scope_for_channel(HALL))
    await slack.looking.wait()
    slack.change_channel("HALL", shared=True)
    audience.invalidate(HALL)
    slack.gate.set()
    assert await asked == spaces(HALL.room)


@pytest.mark.parametrize(("failing", "person"), [("channel", ""), ("person", "ada")])
async def test_unknown_readers_see_the_room_alone_and_are_looked_up_again(
    slack: ClockedPlatform, audience: AudienceResolver, failing: str, person: str
) -> None:
    async def scope() -> Scope:
        return await (audience.scope_for_person(HALL, person) if person else audience.scope_for_channel(HALL))

    slack.failing[failing] = DOWN
    assert await scope() == ROOM_ALONE
    if not person:
        with pytest.raises(PlatformError):
            await audience.get_home_space(HALL)
    slack.failing.clear()
    assert await scope() == spaces(*(ADAS if person else {OPEN}))


async def test_a_person_in_a_room_of_unknown_readers_sees_it_alone_and_nothing_while_spaces_are_suspended(
    slack: ClockedPlatform, audience: AudienceResolver
) -> None:
    slack.failing |= {"channel": DOWN, "person": DOWN}
    assert await audience.resolve_scope(HALL, "ada") == ResolvedScope(ROOM_ALONE, "unknown")
    del slack.failing["person"]
    audience.suspend(WORKSPACE)
    assert await audience.resolve_scope(HALL, "ada") == ResolvedScope(spaces(*ADAS - {OPEN}), "checking")


async def test_the_space_of_a_room_that_only_an_import_knows_is_what_the_import_decided(
    audience: AudienceResolver, store: BotStore
) -> None:
    place = Location("mattermost", "town", "ROOF")
    await store.imported_spaces.set(place.room, VAULT)
    assert await audience.get_home_space(place) == VAULT
    with pytest.raises(NotConnected):
        await audience.get_home_space(Location("mattermost", "town", "HALL"))


async def test_an_unknown_person_does_not_see_a_room_that_they_are_not_in(
    slack: ClockedPlatform, audience: AudienceResolver, store: BotStore
) -> None:
    vault = await join(store, slack, "VAULT", "ada", kind="closed")
    slack.failing["person"] = DOWN
    assert await audience.resolve_scope(vault, "bob") == ResolvedScope(spaces(), "unknown")
    assert (await audience.resolve_scope(vault, "ada")).scope.rooms == {vault.room}


async def test_readers_of_a_platform_that_is_not_connected_see_the_room_alone(audience: AudienceResolver) -> None:
    place = Location("discord", "G1", "HALL")
    assert await audience.scope_for_channel(place) == Scope(frozenset(), frozenset({place.room}))


async def test_one_person_sees_the_closed_channels_they_are_in_also_in_a_direct_message(
    slack: ClockedPlatform, store: BotStore, audience: AudienceResolver
) -> None:
    await join(store, slack, "VAULT", "ada", kind="closed")
    await join(store, slack, "DEN", kind="closed")
    await store.channels.upsert(slack.place("LOST"), "lost")  # it cannot be looked up
    direct = slack.add_channel("D1", "ada", kind="direct")
    assert await audience.scope_for_person(HALL, "ada") == spaces(*ADAS, VAULT)
    assert await audience.scope_for_channel(direct) == spaces(*ADAS, VAULT)


async def test_whoever_left_the_workspace_reads_nothing_of_it_wherever_they_ask(
    slack: ClockedPlatform, store: BotStore, audience: AudienceResolver
) -> None:
    await join(store, slack, "VAULT", "ada", kind="closed")
    direct = slack.add_channel("D1", "ada", kind="direct")
    await audience.get_person("slack", "T1", "ada")
    slack.people["ada"] = replace(slack.people["ada"], is_deactivated=True)
    audience.invalidate(HALL)
    for place in (HALL, direct, Location("slack", "", "D1")):
        assert await audience.scope_for_person(place, "ada") == spaces("slack::dm:ada")
    assert await audience.scope_for_channel(direct) == spaces("slack::dm:ada")


async def test_age_restricted_channels_are_searched_only_within_what_is_known_to_be_one(
    slack: ClockedPlatform, audience: AudienceResolver
) -> None:
    slack.change_channel("HALL", adult=True)
    assert await audience.scope_for_person(HALL, "ada") == spaces(*ADAS, "slack:T1:adult")
    audience.invalidate(HALL)
    slack.failing["channel"] = DOWN
    assert await audience.scope_for_person(HALL, "ada") == spaces(*ADAS)


async def test_a_guest_narrows_a_channel_to_rooms_and_sees_their_own_alone(
    slack: ClockedPlatform, store: BotStore, audience: AudienceResolver
) -> None:
    slack.add_guest("gus")
    hall, yard = await join(store, slack, "HALL", "ada", "gus"), await join(store, slack, "YARD", "gus")
    await join(store, slack, "ROOF", "ada")
    own = frozenset({hall.room, yard.room})
    for passed in (0.0, 61.0):
        slack.advance(passed)  # later they are known to be open, but not whether the guest is still in them
        assert await audience.scope_for_channel(hall) == Scope(frozenset(), own)
        assert (await audience.scope_for_person(hall, "gus")).rooms == own


class TwoGuilds(FakePlatform):
    """Bea is in the first guild, not in the second."""

    def __init__(self) -> None:
        super().__init__("discord", "")

    async def fetch_person(self, workspace: str, person: str) -> Person:
        if workspace != "G1":
            raise PlatformError("They are not there.")
        return Person(person, person)

    async def fetch_channel(self, place: Location) -> Channel:
        if place.workspace:
            self.workspace = place.workspace
            self.add_channel(place.channel, "bea", kind="closed")
        return await super().fetch_channel(place)


async def test_a_direct_message_sees_the_guilds_that_both_are_in(store: BotStore) -> None:
    discord = TwoGuilds()
    for guild, name in (("G1", "CREW"), ("G2", "HALL")):
        await store.channels.upsert(Location("discord", guild, name), name)
    direct = discord.add_channel("D1", "bea", kind="direct")
    found = await AudienceResolver({"discord": discord}, store, 60.0, ManualClock()).scope_for_channel(direct)
    assert found == spaces("discord:G1:open", "discord:G1:CREW", "discord:G1:dm:bea", "discord::dm:bea")


async def test_only_channels_that_matter_are_looked_up_again(
    slack: ClockedPlatform, store: BotStore, audience: AudienceResolver
) -> None:
    for name in ("HALL", "VAULT", "DEN"):
        await join(store, slack, name, "ada", kind="closed")
    found = (await audience.resolve_scope(HALL, "ada", spaces(VAULT))).scope
    assert (VAULT in found.spaces, "slack:T1:DEN" in found.spaces) == (True, False)


async def test_it_is_known_what_changed_since_a_time(slack: ClockedPlatform, audience: AudienceResolver) -> None:
    slack.advance(5.0)
    audience.invalidate(Location("slack", "T1", "HALL", "thread"))
    assert audience.has_changed_since(HALL, since=5.0)
    assert not audience.has_changed_since(HALL, since=5.1)
    assert not audience.has_changed_since(ROOF, since=0.0)
    audience.invalidate(WORKSPACE)
    assert audience.has_changed_since(ROOF, since=5.0)
    slack.advance(1.0)
    audience.invalidate(EVERYWHERE)
    assert audience.has_changed_since(ROOF, since=6.0)
    assert not audience.has_changed_since(Location("discord", "T1", "ROOF"), since=0.0)


async def test_open_channels_are_not_looked_up_again_unless_they_changed(
    slack: ClockedPlatform, store: BotStore, audience: AudienceResolver
) -> None:
    await join(store, slack, "ROOF", "ada")
    await join(store, slack, "VAULT", "ada", kind="closed")
    first = await audience.scope_for_person(HALL, "ada")
    slack.advance(61.0)
    slack.calls.clear()
    assert await audience.scope_for_person(HALL, "ada") == first
    assert slack.calls.count("channel") == 2  # where it is read, and the closed one
    slack.change_channel("ROOF", kind="closed")
    audience.invalidate(ROOF)
    assert ROOF.room in (await audience.scope_for_person(HALL, "ada")).spaces


async def test_where_no_channel_is_named_none_is_looked_up(slack: ClockedPlatform, audience: AudienceResolver) -> None:
    assert OPEN in (await audience.scope_for_person(slack.place(""), "ada")).spaces
    assert slack.calls == ["person"]
