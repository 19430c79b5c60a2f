"""Facts about readers: asked once, believed for a while, dropped when they change; in doubt, less is told."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bot.errors import PlatformError
from bot.permissions.resolver import Reach, Readers
from bot.platform.models import Person, Place
from bot.store import Store
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

    async def channel(self, place: Place) -> Channel:
        found = await super().channel(place)
        self.looking.set()
        await self.gate.wait()
        return found


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with Store.open(tmp_path / "bot.db") as opened:
        yield opened


@pytest.fixture
def slack() -> Watched:
    return Watched()


@pytest.fixture
def readers(slack: Watched, store: Store) -> Readers:
    return Readers({"slack": slack}, store, 60.0, lambda: slack.now)


async def known(store: Store, *places: Place) -> None:
    for place in places:
        await store.rooms.note(place, place.channel.lower())


def spaces(*names: str) -> Scope:
    return Scope(frozenset(names), frozenset())


async def test_a_fact_is_believed_for_its_time(slack: Watched, readers: Readers) -> None:
    hall = slack.open("HALL", "ada")
    assert await readers.scope_here(hall) == spaces("slack:T1:open")
    slack.change("HALL", kind="closed")
    slack.now = 59.9
    assert await readers.scope_here(hall) == spaces("slack:T1:open")
    slack.now = 60.0
    assert await readers.scope_here(hall) == spaces("slack:T1:open", "slack:T1:HALL")
    assert slack.calls == ["channel", "channel"]


@pytest.mark.parametrize("place", [Place("slack", "T1", "HALL"), Place("slack", "T1", ""), Place("slack", "", "")])
async def test_no_space_is_believed_until_rooms_were_moved(
    slack: Watched, readers: Readers, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard = slack.open("YARD", "ada")
    monkeypatch.setattr("bot.permissions.resolver.MOVING", 0.01)
    readers.doubt(place)
    assert await readers.scope_here(yard) == Scope(frozenset(), frozenset({yard.room}))
    readers.trust(place, readers.clock() - 1.0)
    assert (await readers.reach(yard)).gap == "checking", "that was before"
    monkeypatch.setattr("bot.permissions.resolver.MOVING", 10.0)
    waiting = asyncio.create_task(readers.scope_here(yard))
    await asyncio.sleep(0)
    readers.trust(place, readers.clock())
    assert await waiting == spaces("slack:T1:open")


@pytest.mark.parametrize("place", [Place("slack", "T1", "HALL"), Place("slack", "T1", ""), Place("slack", "", "")])
async def test_what_was_moved_everywhere_was_moved_there_too(
    slack: Watched, readers: Readers, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    hall, everywhere = slack.open("HALL", "ada"), Place("slack", "", "")
    monkeypatch.setattr("bot.permissions.resolver.MOVING", 0.01)
    readers.doubt(place)
    slack.now = 1.0
    readers.trust(everywhere, 0.5)
    assert await readers.reach(hall) == Reach(spaces("slack:T1:open"))
    readers.doubt(place)
    readers.trust(everywhere, 0.5)
    assert (await readers.reach(hall)).gap == "checking", "that was before"
    readers.trust(Place("slack", "T2", ""), 1.0)
    readers.trust(Place("slack", "T1", "YARD"), 1.0)
    assert (await readers.reach(hall)).gap == "checking", "that was elsewhere"


async def test_a_doubt_about_one_workspace_is_none_about_another(slack: Watched, readers: Readers) -> None:
    yard = slack.open("YARD", "ada")
    readers.doubt(Place("slack", "T2", ""))
    readers.doubt(Place("discord", "", ""))
    assert await readers.scope_here(yard) == spaces("slack:T1:open")


@pytest.mark.parametrize("place", [Place("slack", "T1", "HALL"), Place("slack", "T1", ""), Place("slack", "", "")])
async def test_but_not_once_it_is_said_to_have_changed(slack: Watched, readers: Readers, place: Place) -> None:
    hall = slack.open("HALL", "ada")
    await readers.scope_here(hall)
    slack.change("HALL", shared=True)
    readers.forget(place)
    assert await readers.scope_here(hall) == spaces("slack:T1:HALL")


async def test_a_change_elsewhere_leaves_it_alone(slack: Watched, readers: Readers) -> None:
    hall = slack.open("HALL", "ada")
    await readers.scope_here(hall)
    readers.forget(Place("slack", "T1", "YARD"))
    readers.forget(Place("slack", "T2", ""))
    await readers.scope_here(hall)
    assert slack.calls == ["channel"]


async def test_what_changes_while_it_is_looked_up_is_looked_up_again(slack: Watched, readers: Readers) -> None:
    hall = slack.open("HALL", "ada")
    slack.gate.clear()
    asked = asyncio.create_task(readers.scope_here(hall))
    await slack.looking.wait()
    slack.change("HALL", shared=True)
    readers.forget(hall)
    slack.gate.set()
    assert await asked == spaces("slack:T1:HALL")


async def test_many_who_ask_at_once_share_one_lookup(slack: Watched, readers: Readers) -> None:
    hall = slack.open("HALL", "ada")
    await asyncio.gather(*(readers.scope_here(hall) for _ in range(20)))
    assert slack.calls == ["channel"]


async def test_unknown_readers_see_the_room_alone(slack: Watched, readers: Readers) -> None:
    slack.failing["channel"] = PlatformError("No.")
    assert await readers.scope_here(slack.open("HALL", "ada")) == Scope(frozenset(), frozenset({"slack:T1:HALL"}))


async def test_so_do_those_of_a_platform_that_is_not_connected(readers: Readers) -> None:
    place = Place("discord", "G1", "HALL")
    assert await readers.scope_here(place) == Scope(frozenset(), frozenset({"discord:G1:HALL"}))


async def test_and_somebody_whom_the_platform_does_not_tell_of(slack: Watched, readers: Readers) -> None:
    hall = slack.open("HALL", "ada")
    slack.failing["person"] = PlatformError("No.")
    assert await readers.scope_alone(hall, "ada") == Scope(frozenset(), frozenset({"slack:T1:HALL"}))


async def test_a_failed_lookup_is_not_remembered(slack: Watched, readers: Readers) -> None:
    hall = slack.open("HALL", "ada")
    slack.failing["channel"] = PlatformError("No.")
    await readers.scope_here(hall)
    del slack.failing["channel"]
    assert await readers.scope_here(hall) == spaces("slack:T1:open")


async def test_where_a_channel_s_documents_live_is_an_error_if_nobody_knows(slack: Watched, readers: Readers) -> None:
    slack.failing["channel"] = PlatformError("No.")
    with pytest.raises(PlatformError):
        await readers.home(slack.place("HALL"))


async def test_one_person_sees_the_closed_channels_he_is_in(slack: Watched, store: Store, readers: Readers) -> None:
    hall, vault, den = slack.open("HALL"), slack.open("VAULT", "ada", kind="closed"), slack.open("DEN", kind="closed")
    slack.people["ada"] = Person("ada", "Ada")
    await known(store, hall, vault, den)
    found = await readers.scope_alone(hall, "ada")
    assert found == spaces("slack:T1:open", "slack:T1:VAULT", "slack:T1:dm:ada", "slack::dm:ada")


async def test_a_channel_that_cannot_be_looked_up_is_left_out(slack: Watched, store: Store, readers: Readers) -> None:
    hall, vault = slack.open("HALL", "ada"), slack.open("VAULT", "ada", kind="closed")
    await known(store, hall, vault, slack.place("LOST"))
    assert "slack:T1:VAULT" in (await readers.scope_alone(hall, "ada")).spaces


async def test_a_talk_with_the_bot_is_read_by_its_one_person(slack: Watched, store: Store, readers: Readers) -> None:
    talk, vault = slack.open("D1", "ada", kind="direct"), slack.open("VAULT", "ada", kind="closed")
    await known(store, vault)
    assert await readers.scope_here(talk) == await readers.scope_alone(talk, "ada")
    assert "slack:T1:VAULT" in (await readers.scope_here(talk)).spaces


async def test_guests_in_a_channel_narrow_it_to_rooms(slack: Watched, store: Store, readers: Readers) -> None:
    slack.people["gus"] = Person("gus", "Gus", guest=True)
    hall, yard, roof = slack.open("HALL", "ada", "gus"), slack.open("YARD", "gus"), slack.open("ROOF", "ada")
    await known(store, hall, yard, roof)
    assert await readers.scope_here(hall) == Scope(frozenset(), frozenset({"slack:T1:HALL", "slack:T1:YARD"}))


async def test_a_guest_alone_sees_the_rooms_he_is_in(slack: Watched, store: Store, readers: Readers) -> None:
    slack.people["gus"] = Person("gus", "Gus", guest=True)
    hall, roof = slack.open("HALL", "ada", "gus"), slack.open("ROOF", "ada")
    await known(store, hall, roof)
    assert (await readers.scope_alone(hall, "gus")).rooms == {"slack:T1:HALL"}


async def test_a_discord_dm_sees_the_guilds_that_both_are_in(store: Store) -> None:
    discord = Guilds()
    await known(store, Place("discord", "G1", "CREW"), Place("discord", "G2", "HALL"))
    readers = Readers({"discord": discord}, store, 60.0)
    talk = discord.open("D1", "bea", kind="direct")
    found = await readers.scope_here(Place("discord", "", talk.channel))
    assert found == spaces("discord:G1:open", "discord:G1:CREW", "discord:G1:dm:bea", "discord::dm:bea")


class Guilds(FakePlatform):
    """Bea is in the first guild, not in the second."""

    def __init__(self) -> None:
        super().__init__("discord", "")

    async def person(self, workspace: str, person: str) -> Person:
        if workspace != "G1":
            raise PlatformError("He is not there.")
        return Person(person, person)

    async def channel(self, place: Place) -> Channel:
        if place.workspace:
            self.workspace = place.workspace
            self.open(place.channel, "bea", kind="closed")
        return await super().channel(place)


async def test_only_channels_that_matter_are_looked_up_again(slack: Watched, store: Store, readers: Readers) -> None:
    hall, vault, den = (slack.open(name, "ada", kind="closed") for name in ("HALL", "VAULT", "DEN"))
    await known(store, hall, vault, den)
    found = (await readers.reach(hall, "ada", spaces("slack:T1:VAULT"))).scope
    assert "slack:T1:VAULT" in found.spaces
    assert "slack:T1:DEN" not in found.spaces


async def test_what_changed_since_is_known(slack: Watched, readers: Readers) -> None:
    slack.now = 5.0
    readers.forget(Place("slack", "T1", "HALL", "thread"))
    assert readers.changed(Place("slack", "T1", "HALL"), since=5.0)
    assert not readers.changed(Place("slack", "T1", "HALL"), since=5.1)
    assert not readers.changed(Place("slack", "T1", "YARD"), since=0.0)
    readers.forget(Place("slack", "T1", ""))
    assert readers.changed(Place("slack", "T1", "YARD"), since=5.0)


async def test_open_channels_are_not_asked_about_for_who_may_read_them_all(
    slack: Watched, store: Store, readers: Readers
) -> None:
    hall, roof, vault = slack.open("HALL", "ada"), slack.open("ROOF"), slack.open("VAULT", "ada", kind="closed")
    await known(store, hall, roof, vault)
    first = await readers.scope_alone(hall, "ada")
    slack.now = 61.0
    slack.calls.clear()
    assert await readers.scope_alone(hall, "ada") == first
    assert slack.calls.count("channel") == 2  # where it is read, and the closed one


async def test_unless_they_changed(slack: Watched, store: Store, readers: Readers) -> None:
    hall, roof = slack.open("HALL", "ada"), slack.open("ROOF", "ada")
    await known(store, hall, roof)
    await readers.scope_alone(hall, "ada")
    slack.change("ROOF", kind="closed")
    readers.forget(roof)
    assert "slack:T1:ROOF" in (await readers.scope_alone(hall, "ada")).spaces


async def test_no_channel_is_looked_for_where_none_is_named(slack: Watched, readers: Readers) -> None:
    slack.people["ada"] = Person("ada", "Ada")
    assert "slack:T1:open" in (await readers.scope_alone(slack.place(""), "ada")).spaces
    assert slack.calls == ["person"]
