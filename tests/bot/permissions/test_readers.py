"""Who could find something equals who is told it: all people of random workspaces, asking everywhere."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Literal

import pytest

from bot.permissions.audience import Readers, scope_covers
from bot.permissions.resolver import AudienceResolver
from engine.models import Scope
from tests.support.clock import ManualClock
from tests.support.fake_platform import FakePlatform

if TYPE_CHECKING:
    from bot.platform.models import Location
    from bot.store import BotStore

KINDS: tuple[Literal["open", "closed", "direct"], ...] = ("open", "open", "closed", "closed", "direct")
MEMBERS, GUESTS = ("ada", "bob", "cleo", "dora"), ("gil", "gus")


async def build_workspace(store: BotStore, seed: int) -> tuple[AudienceResolver, list[Location]]:
    """Channels of all kinds with some of these people."""
    chance = random.Random(seed)
    platform = FakePlatform(chance.choice(["slack", "discord"]), "T1", ManualClock())
    for person in MEMBERS:
        platform.add_channel("ALL", *MEMBERS)
        assert person in platform.people
    for guest in GUESTS:
        platform.add_guest(guest)
    places = [platform.place("ALL")]
    for number in range(6):
        kind = chance.choice(KINDS)
        people = chance.sample([*MEMBERS, *GUESTS], chance.randint(1, 5))
        shared, adult = kind != "direct" and chance.random() < 0.2, kind != "direct" and chance.random() < 0.2
        places.append(platform.add_channel(f"C{number}", *people, kind=kind, shared=shared, adult=adult))
    for place in places:
        await store.channels.upsert(place, place.channel.lower())
    if chance.random() < 0.3:
        platform.listable_workspaces.add("T1")
    return AudienceResolver({platform.name: platform}, store, 60.0, platform.clock), places


async def list_told(resolver: AudienceResolver, places: list[Location], used: Scope, homes: dict[str, str]) -> set[str]:
    """Everybody to whom a private or public reply anywhere may say it."""
    told = set[str]()
    for place in places:
        channel = await resolver.get_channel(place)
        everybody = {*MEMBERS, *channel.guests} if channel.kind == "open" and not channel.shared else channel.members
        if scope_covers((await resolver.resolve_scope(place)).scope, used, homes):
            told |= everybody
        for person in (*MEMBERS, *GUESTS):
            if scope_covers((await resolver.resolve_scope(place, person)).scope, used, homes):
                told.add(person)
    return told


def list_named(readers: Readers) -> set[str]:
    return {*readers.people, *(MEMBERS if readers.everyone else ())}


@pytest.mark.share(3)
@pytest.mark.parametrize("seed", range(12))
async def test_the_readers_of_rooms_are_those_who_are_told_what_is_in_them(store: BotStore, seed: int) -> None:
    resolver, places = await build_workspace(store, seed)
    homes = {place.room: await resolver.get_home_space(place) for place in places}
    chosen = [{place.room} for place in places] + [set(random.Random(seed).sample(sorted(homes), 2)) for _ in range(3)]
    for rooms in chosen:
        used, lie = Scope(frozenset(), frozenset(rooms)), {room: homes[room] for room in rooms}
        found = await resolver.find_readers(used, lie, {"T1"})
        assert list_named(found) == await list_told(resolver, places, used, lie), (rooms, found)


@pytest.mark.parametrize("seed", range(5))
async def test_the_readers_of_spaces_are_those_who_are_told_what_is_in_them(store: BotStore, seed: int) -> None:
    resolver, places = await build_workspace(store, seed)
    homes = sorted({await resolver.get_home_space(place) for place in places})
    for space in (*homes, f"{places[0].platform}:T1:dm:ada"):
        used = Scope.of(space)
        found = await resolver.find_readers(used, {}, {"T1"})
        assert list_named(found) == await list_told(resolver, places, used, {}), (space, found)
