"""Facts about readers: asked once, believed for a while, dropped when they change; in doubt, less is told."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot.errors import PlatformError
from bot.permissions.audience import ResolvedScope
from bot.permissions.resolver import AudienceResolver
from bot.platform.models import Location, Person
from bot.store import BotStore
from engine.models import Scope
from tests.support.fake_platform import FakePlatform

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.platform.models import Channel


class Watched(FakePlatform):
    """Its clock is set by hand; while `gate` is closed, lookups of channels wait."""

    def __init__(self, name: str = "slack", workspace: str = "T1") -> None:
        super().__init__(name, workspace)
        self.now = 0.0
        self.gate = asyncio.Event()
        self.gate.set()
        self.looking = asyncio.Event()

    async def fetch_channel(self, place: Location) -> Channel:
        found = await super().fetch_channel(place)
        self.looking.set()
        await self.gate.wait()
        return found


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[BotStore]:
    async with BotStore.open(tmp_path / "bot.db") as opened:
        yield opened


@pytest.fixture
def slack() -> Watched:
    return Watched()


@pytest.fixture
def readers(slack: Watched, store: BotStore) -> AudienceResolver:
    return AudienceResolver({"slack": slack}, store, 60.0, lambda: slack.now)


async def known(store: BotStore, *places: Location) -> None:
    for place in places:
        await store.channels.upsert(place, place.channel.lower())


def spaces(*names: str) -> Scope:
    return Scope(frozenset(names), frozenset())


async def test_a_fact_is_believed_for_its_time(slack: Watched, readers: AudienceResolver) -> None:
    hall = slack.add_channel("HALL", "ada")
    assert await readers.scope_for_channel(hall) == spaces("slack:T1:open")
    slack.change_channel("HALL", kind="closed")
    slack.now = 59.9
    assert await readers.scope_for_channel(hall) == spaces("slack:T1:open")
    slack.now = 60.0
    assert await readers.scope_for_channel(hall) == spaces("slack:T1:open", "slack:T1:HALL")
    assert slack.calls == ["channel", "channel"]


@pytest.mark.parametrize(
    "place", [Location("slack", "T1", "HALL"), Location("slack", "T1", ""), Location("slack", "", "")]
)
async def test_no_space_is_believed_until_rooms_were_moved(
    slack: Watched, readers: AudienceResolver, place: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard = slack.add_channel("YARD", "ada")
    monkeypatch.setattr("bot.permissions.resolver.SUSPENSION_WAIT", 0.01)
    readers.suspend(place)
    assert await readers.scope_for_channel(yard) == Scope(frozenset(), frozenset({yard.room}))
    readers.resume(place, readers.clock() - 1.0)
    assert (await readers.resolve_scope(yard)).gap == "checking", "that was before"
    monkeypatch.setattr("bot.permissions.resolver.SUSPENSION_WAIT", 10.0)
    waiting = asyncio.create_task(readers.scope_for_channel(yard))
    await asyncio.sleep(0)
    readers.resume(place, readers.clock())
    assert await waiting == spaces("slack:T1:open")


@pytest.mark.parametrize(
    "place", [Location("slack", "T1", "HALL"), Location("slack", "T1", ""), Location("slack", "", "")]
)
async def test_what_was_moved_everywhere_was_moved_there_too(
    slack: Watched, readers: AudienceResolver, place: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    hall, everywhere = slack.add_channel("HALL", "ada"), Location("slack", "", "")
    monkeypatch.setattr("bot.permissions.resolver.SUSPENSION_WAIT", 0.01)
    readers.suspend(place)
    slack.now = 1.0
    readers.resume(everywhere, 0.5)
    assert await readers.resolve_scope(hall) == ResolvedScope(spaces("slack:T1:open"))
    readers.suspend(place)
    readers.resume(everywhere, 0.5)
    assert (await readers.resolve_scope(hall)).gap == "checking", "that was before"
    readers.resume(Location("slack", "T2", ""), 1.0)
    readers.resume(Location("slack", "T1", "YARD"), 1.0)
    assert (await readers.resolve_scope(hall)).gap == "checking", "that was elsewhere"


async def test_a_doubt_about_one_workspace_is_none_about_another(slack: Watched, readers: AudienceResolver) -> None:
    yard = slack.add_channel("YARD", "ada")
    readers.suspend(Location("slack", "T2", ""))
    readers.suspend(Location("discord", "", ""))
    assert await readers.scope_for_channel(yard) == spaces("slack:T1:open")


@pytest.mark.parametrize(
    "place", [Location("slack", "T1", "HALL"), Location("slack", "T1", ""), Location("slack", "", "")]
)
async def test_but_not_once_it_is_said_to_have_changed(
    slack: Watched, readers: AudienceResolver, place: Location
) -> None:
    hall = slack.add_channel("HALL", "ada")
    await readers.scope_for_channel(hall)
    slack.change_channel("HALL", shared=True)
    readers.invalidate(place)
    assert await readers.scope_for_channel(hall) == spaces("slack:T1:HALL")


async def test_a_change_elsewhere_leaves_it_alone(slack: Watched, readers: AudienceResolver) -> None:
    hall = slack.add_channel("HALL", "ada")
    await readers.scope_for_channel(hall)
    readers.invalidate(Location("slack", "T1", "YARD"))
    readers.invalidate(Location("slack", "T2", ""))
    await readers.scope_for_channel(hall)
    assert slack.calls == ["channel"]


async def test_what_changes_while_it_is_looked_up_is_looked_up_again(slack: Watched, readers: AudienceResolver) -> None:
    hall = slack.add_channel("HALL", "ada")
    slack.gate.clear()
    asked = asyncio.create_task(readers.scope_for_channel(hall))
    await slack.looking.wait()
    slack.change_channel("HALL", shared=True)
    readers.invalidate(hall)
    slack.gate.set()
    assert await asked == spaces("slack:T1:HALL")


async def test_many_who_ask_at_once_share_one_lookup(slack: Watched, readers: AudienceResolver) -> None:
    hall = slack.add_channel("HALL", "ada")
    await asyncio.gather(*(readers.scope_for_channel(hall) for _ in range(20)))
    assert slack.calls == ["channel"]


async def test_unknown_readers_see_the_room_alone(slack: Watched, readers: AudienceResolver) -> None:
    slack.failing["channel"] = PlatformError("No.")
    assert await readers.scope_for_channel(slack.add_channel("HALL", "ada")) == Scope(
        frozenset(), frozenset({"slack:T1:HALL"})
    )


async def test_so_do_those_of_a_platform_that_is_not_connected(readers: AudienceResolver) -> None:
    place = Location("discord", "G1", "HALL")
    assert await readers.scope_for_channel(place) == Scope(frozenset(), frozenset({"discord:G1:HALL"}))


async def test_and_somebody_whom_the_platform_does_not_tell_of(slack: Watched, readers: AudienceResolver) -> None:
    hall = slack.add_channel("HALL", "ada")
    slack.failing["person"] = PlatformError("No.")
    assert await readers.scope_for_person(hall, "ada") == Scope(frozenset(), frozenset({"slack:T1:HALL"}))


async def test_a_failed_lookup_is_not_remembered(slack: Watched, readers: AudienceResolver) -> None:
    hall = slack.add_channel("HALL", "ada")
    slack.failing["channel"] = PlatformError("No.")
    await readers.scope_for_channel(hall)
    del slack.failing["channel"]
    assert await readers.scope_for_channel(hall) == spaces("slack:T1:open")


async def test_where_a_channel_s_documents_live_is_an_error_if_nobody_knows(
    slack: Watched, readers: AudienceResolver
) -> None:
    slack.failing["channel"] = PlatformError("No.")
    with pytest.raises(PlatformError):
        await readers.get_home_space(slack.place("HALL"))


async def test_one_person_sees_the_closed_channels_he_is_in(
    slack: Watched, store: BotStore, readers: AudienceResolver
) -> None:
    hall, vault, den = (
        slack.add_channel("HALL"),
        slack.add_channel("VAULT", "ada", kind="closed"),
        slack.add_channel("DEN", kind="closed"),
    )
    slack.people["ada"] = Person("ada", "Ada")
    await known(store, hall, vault, den)
    found = await readers.scope_for_person(hall, "ada")
    assert found == spaces("slack:T1:open", "slack:T1:VAULT", "slack:T1:dm:ada", "slack::dm:ada")


async def test_a_channel_that_cannot_be_looked_up_is_left_out(
    slack: Watched, store: BotStore, readers: AudienceResolver
) -> None:
    hall, vault = slack.add_channel("HALL", "ada"), slack.add_channel("VAULT", "ada", kind="closed")
    await known(store, hall, vault, slack.place("LOST"))
    assert "slack:T1:VAULT" in (await readers.scope_for_person(hall, "ada")).spaces


async def test_a_talk_with_the_bot_is_read_by_its_one_person(
    slack: Watched, store: BotStore, readers: AudienceResolver
) -> None:
    talk, vault = slack.add_channel("D1", "ada", kind="direct"), slack.add_channel("VAULT", "ada", kind="closed")
    await known(store, vault)
    assert await readers.scope_for_channel(talk) == await readers.scope_for_person(talk, "ada")
    assert "slack:T1:VAULT" in (await readers.scope_for_channel(talk)).spaces


async def test_guests_in_a_channel_narrow_it_to_rooms(
    slack: Watched, store: BotStore, readers: AudienceResolver
) -> None:
    slack.people["gus"] = Person("gus", "Gus", is_guest=True)
    hall, yard, roof = (
        slack.add_channel("HALL", "ada", "gus"),
        slack.add_channel("YARD", "gus"),
        slack.add_channel("ROOF", "ada"),
    )
    await known(store, hall, yard, roof)
    assert await readers.scope_for_channel(hall) == Scope(frozenset(), frozenset({"slack:T1:HALL", "slack:T1:YARD"}))


async def test_a_guest_alone_sees_the_rooms_he_is_in(
    slack: Watched, store: BotStore, readers: AudienceResolver
) -> None:
    slack.people["gus"] = Person("gus", "Gus", is_guest=True)
    hall, roof = slack.add_channel("HALL", "ada", "gus"), slack.add_channel("ROOF", "ada")
    await known(store, hall, roof)
    assert (await readers.scope_for_person(hall, "gus")).rooms == {"slack:T1:HALL"}


async def test_a_discord_dm_sees_the_guilds_that_both_are_in(store: BotStore) -> None:
    discord = Guilds()
    await known(store, Location("discord", "G1", "CREW"), Location("discord", "G2", "HALL"))
    readers = AudienceResolver({"discord": discord}, store, 60.0)
    talk = discord.add_channel("D1", "bea", kind="direct")
    found = await readers.scope_for_channel(Location("discord", "", talk.channel))
    assert found == spaces("discord:G1:open", "discord:G1:CREW", "discord:G1:dm:bea", "discord::dm:bea")


class Guilds(FakePlatform):
    """Bea is in the first guild, not in the second."""

    def __init__(self) -> None:
        super().__init__("discord", "")

    async def fetch_person(self, workspace: str, person: str) -> Person:
        if workspace != "G1":
            raise PlatformError("He is not there.")
        return Person(person, person)

    async def fetch_channel(self, place: Location) -> Channel:
        if place.workspace:
            self.workspace = place.workspace
            self.add_channel(place.channel, "bea", kind="closed")
        return await super().fetch_channel(place)


async def test_only_channels_that_matter_are_looked_up_again(
    slack: Watched, store: BotStore, readers: AudienceResolver
) -> None:
    hall, vault, den = (slack.add_channel(name, "ada", kind="closed") for name in ("HALL", "VAULT", "DEN"))
    await known(store, hall, vault, den)
    found = (await readers.resolve_scope(hall, "ada", spaces("slack:T1:VAULT"))).scope
    assert "slack:T1:VAULT" in found.spaces
    assert "slack:T1:DEN" not in found.spaces


async def test_what_changed_since_is_known(slack: Watched, readers: AudienceResolver) -> None:
    slack.now = 5.0
    readers.invalidate(Location("slack", "T1", "HALL", "thread"))
    assert readers.has_changed_since(Location("slack", "T1", "HALL"), since=5.0)
    assert not readers.has_changed_since(Location("slack", "T1", "HALL"), since=5.1)
    assert not readers.has_changed_since(Location("slack", "T1", "YARD"), since=0.0)
    readers.invalidate(Location("slack", "T1", ""))
    assert readers.has_changed_since(Location("slack", "T1", "YARD"), since=5.0)


async def test_open_channels_are_not_asked_about_for_who_may_read_them_all(
    slack: Watched, store: BotStore, readers: AudienceResolver
) -> None:
    hall, roof, vault = (
        slack.add_channel("HALL", "ada"),
        slack.add_channel("ROOF"),
        slack.add_channel("VAULT", "ada", kind="closed"),
    )
    await known(store, hall, roof, vault)
    first = await readers.scope_for_person(hall, "ada")
    slack.now = 61.0
    slack.calls.clear()
    assert await readers.scope_for_person(hall, "ada") == first
    assert slack.calls.count("channel") == 2  # where it is read, and the closed one


async def test_unless_they_changed(slack: Watched, store: BotStore, readers: AudienceResolver) -> None:
    hall, roof = slack.add_channel("HALL", "ada"), slack.add_channel("ROOF", "ada")
    await known(store, hall, roof)
    await readers.scope_for_person(hall, "ada")
    slack.change_channel("ROOF", kind="closed")
    readers.invalidate(roof)
    assert "slack:T1:ROOF" in (await readers.scope_for_person(hall, "ada")).spaces


async def test_no_channel_is_looked_for_where_none_is_named(slack: Watched, readers: AudienceResolver) -> None:
    slack.people["ada"] = Person("ada", "Ada")
    assert "slack:T1:open" in (await readers.scope_for_person(slack.place(""), "ada")).spaces
    assert slack.calls == ["person"]
