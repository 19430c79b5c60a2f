"""The readers of a reply decide what it may draw on: situation → scope."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any, Literal

import pytest

from bot.permissions import audience
from bot.permissions.audience import (
    SoleReader,
    find_grant,
    home_space,
    join_grants,
    list_grants,
    parse_workspace_space,
    scope_covers,
    scope_for_channel,
    scope_for_person,
    scope_for_room,
    workspace_space,
)
from bot.platform.models import Channel, ListedChannel, Location
from engine.models import Scope

Kind = Literal["open", "closed", "direct"]


def channel(
    name: str, members: str = "", kind: Kind = "open", *, guests: str = "", team: str = "slack:T1", **facts: Any
) -> Channel:
    """A channel with these members; words separated by spaces."""
    platform, workspace = team.split(":")
    everyone, known_guests = frozenset(f"{members} {guests}".split()), frozenset(guests.split())
    return Channel(Location(platform, workspace, name), name.lower(), kind, everyone, known_guests, **facts)


def discord(name: str, members: str = "", kind: Kind = "open", guild: str = "G1", **facts: Any) -> Channel:
    return channel(name, members, kind, team=f"discord:{guild}", **facts)


def spaces(*names: str) -> Scope:
    return Scope(frozenset(names), frozenset())


def rooms(*names: str) -> Scope:
    return Scope(frozenset(), frozenset(names))


OPEN, SECRET, DM = "slack:T1:open", "slack:T1:SECRET", "slack:T1:dm:ADA"
HALL_ROOM, BRIDGE = "slack:T1:HALL", "slack:T1:BRIDGE"
GUILD, ADULT, CREW, DEN = "discord:G1:open", "discord:G1:adult", "discord:G1:CREW", "discord:G1:DEN"
HALL = channel("HALL", guests="GUS")
NIGHT_CLUB = channel("CLUB", "ADA", guests="GUS", adult=True)


@pytest.mark.parametrize(
    ("of", "space"),
    [
        pytest.param(channel("HALL", "ADA"), OPEN, id="open"),
        pytest.param(channel("HALL", "ADA", guests="GUS"), OPEN, id="open with guests"),
        pytest.param(channel("SECRET", "ADA", "closed"), SECRET, id="closed"),
        pytest.param(channel("BRIDGE", "ADA", shared=True), BRIDGE, id="shared with another workspace"),
        pytest.param(channel("D1", "ADA", "direct"), DM, id="direct message"),
        pytest.param(channel("D1", kind="direct"), "slack:T1:D1", id="direct message of an unknown person"),
        pytest.param(discord("D1", "BEA", "direct", ""), "discord::dm:BEA", id="direct message without a guild"),
        pytest.param(discord("NIGHT", adult=True), ADULT, id="age-restricted"),
        pytest.param(discord("DEN", "BEA", "closed", adult=True), DEN, id="closed and age-restricted"),
        pytest.param(channel("OLD", space=SECRET), SECRET, id="where an import decided it"),
        pytest.param(ListedChannel(Location("slack", "T1", "HALL"), "hall", "open"), OPEN, id="open, of a list"),
        pytest.param(
            ListedChannel(Location("slack", "T1", "SECRET"), "secret", "closed"), SECRET, id="closed, of a list"
        ),
    ],
)
def test_each_channel_has_a_home_space(of: Channel | ListedChannel, space: str) -> None:
    assert home_space(of) == space


@pytest.mark.parametrize(
    ("of", "others", "scope"),
    [
        pytest.param(channel("HALL", "ADA"), [], spaces(OPEN), id="open"),
        pytest.param(
            channel("HALL", "ADA", guests="GUS GIL"),
            [
                *(channel("YARD", "ADA", guests="GUS GIL"), channel("ROOF", "ADA", guests="GUS")),
                *(channel("ATTIC", "ADA"), channel("HALL", "ADA", guests="GUS GIL")),
            ],
            rooms(HALL_ROOM, "slack:T1:YARD"),
            id="open with guests: open rooms of every guest",
        ),
        pytest.param(
            HALL,
            [channel("SECRET", "ADA", "closed", guests="GUS"), channel("BRIDGE", guests="GUS", shared=True)],
            rooms(HALL_ROOM),
            id="open with guests: no private space",
        ),
        pytest.param(HALL, [channel("YARD", guests="GUS", team="slack:T2")], rooms(HALL_ROOM), id="no other workspace"),
        pytest.param(HALL, [NIGHT_CLUB], rooms(HALL_ROOM), id="open with guests: nothing age-restricted"),
        pytest.param(
            NIGHT_CLUB,
            [HALL, channel("CASINO", guests="GUS", adult=True)],
            rooms("slack:T1:CLUB", "slack:T1:CASINO"),
            id="age-restricted with guests: only such rooms",
        ),
        pytest.param(HALL, [], rooms(HALL_ROOM), id="the own room without a list"),
        pytest.param(channel("SECRET", "ADA BOB", "closed"), [], spaces(OPEN, SECRET), id="closed"),
        pytest.param(channel("SECRET", "ADA", "closed", guests="GUS"), [], spaces(SECRET), id="closed with a guest"),
        pytest.param(
            channel("SECRET", "ADA", "closed"),
            [channel("OTHER", "ADA", "closed")],
            spaces(OPEN, SECRET),
            id="closed: no other private channel of the same people",
        ),
        pytest.param(channel("BRIDGE", "ADA", shared=True), [], spaces(BRIDGE), id="shared, open"),
        pytest.param(channel("BRIDGE", "ADA", "closed", shared=True), [], spaces(BRIDGE), id="shared, closed"),
        pytest.param(
            channel("BRIDGE", "ADA", guests="GUS", shared=True), [HALL], spaces(BRIDGE), id="shared with guests"
        ),
        pytest.param(channel("D1", "ADA BOB", "direct"), [], spaces("slack:T1:D1"), id="direct message of two"),
        pytest.param(discord("HALL"), [], spaces(GUILD), id="discord, open"),
        pytest.param(discord("CREW", "BEA", "closed"), [], spaces(GUILD, CREW), id="discord, restricted"),
        pytest.param(discord("1234", "BEA", "closed"), [], spaces(GUILD, "discord:G1:1234"), id="a private thread"),
        pytest.param(discord("NIGHT", adult=True), [], spaces(ADULT), id="age-restricted"),
        pytest.param(
            discord("DEN", "BEA", "closed", adult=True), [], spaces(ADULT, DEN), id="restricted and age-restricted"
        ),
    ],
)
def test_a_channel_draws_on_what_all_its_readers_may_read(of: Channel, others: list[Channel], scope: Scope) -> None:
    assert scope_for_channel(of, others) == scope


ADA = SoleReader("ADA", "slack", frozenset({"T1"}))
GUEST = SoleReader("GUS", "slack", frozenset({"T1"}), is_guest=True)
BEA = SoleReader("BEA", "discord", frozenset({"G1"}))
BEA_OF_BOTH = SoleReader("BEA", "discord", frozenset({"G1", "G2"}))
ADULT_BEA = SoleReader("BEA", "discord", frozenset({"G1"}), adult=True)
NIGHT = [discord("NIGHT", adult=True), discord("DEN", "BEA", "closed", adult=True)]


@pytest.mark.parametrize(
    ("reader", "known", "more"),
    [
        pytest.param(
            ADA,
            [channel("HALL", "BOB"), channel("SECRET", "ADA BOB", "closed"), channel("OTHER", "BOB", "closed")],
            spaces(OPEN, SECRET),
            id="a member: the open space and their private channels",
        ),
        pytest.param(
            ADA,
            [channel("BRIDGE", "ADA", shared=True), channel("FAR", "BOB", shared=True)],
            spaces(OPEN, BRIDGE),
            id="a member: shared channels they are in",
        ),
        pytest.param(
            ADA,
            [channel("D2", "ADA", "direct"), channel("D3", "BOB", "direct")],
            spaces(OPEN),
            id="a member: no direct message of others",
        ),
        pytest.param(
            ADA,
            [channel("D4", "ADA BOB", "direct", shared=True)],
            spaces(OPEN),
            id="a member: no shared direct message",
        ),
        pytest.param(
            ADA,
            [
                channel("SECRET", "ADA", "closed", team="slack:T2"),
                channel("SECRET", "ADA", "closed", team="discord:T1"),
            ],
            spaces(OPEN),
            id="a member: no other workspace or platform",
        ),
        pytest.param(
            GUEST,
            [channel("HALL", "ADA", guests="GUS"), channel("YARD", "ADA")],
            rooms(HALL_ROOM),
            id="a guest: rooms of open channels they are in",
        ),
        pytest.param(
            GUEST,
            [channel("SECRET", "ADA", "closed", guests="GUS"), channel("OTHER", "ADA", "closed")],
            spaces(SECRET),
            id="a guest: private channels they are in",
        ),
        pytest.param(
            GUEST,
            [channel("BRIDGE", "ADA", guests="GUS", shared=True), channel("HALL", "ADA")],
            spaces(BRIDGE),
            id="a person of another workspace: the shared channel",
        ),
        pytest.param(
            BEA,
            [discord("HALL"), discord("CREW", "BEA", "closed"), discord("STAFF", "CAL", "closed")],
            spaces(GUILD, CREW),
            id="discord: channels they can see",
        ),
        pytest.param(
            replace(GUEST, workspaces=frozenset({"T1", "T2"})),
            [HALL, channel("YARD", guests="GUS", team="slack:T2"), channel("ATTIC", guests="GUS", team="slack:T3")],
            Scope(frozenset({"slack:T2:dm:GUS"}), frozenset({HALL_ROOM, "slack:T2:YARD"})),
            id="a guest of two workspaces",
        ),
        pytest.param(GUEST, [HALL, NIGHT_CLUB], rooms(HALL_ROOM), id="a guest: nothing age-restricted either"),
        pytest.param(
            replace(GUEST, adult=True),
            [HALL, NIGHT_CLUB],
            rooms(HALL_ROOM, "slack:T1:CLUB"),
            id="a guest within an age-restricted channel",
        ),
        pytest.param(BEA, NIGHT, spaces(GUILD), id="nothing age-restricted outside of such channels"),
        pytest.param(ADULT_BEA, NIGHT, spaces(GUILD, ADULT, DEN), id="everything within one"),
        pytest.param(
            BEA_OF_BOTH,
            [
                discord(name, member, "closed", guild)
                for name, member, guild in (("CREW", "BEA", "G2"), ("STAFF", "CAL", "G2"), ("VAULT", "BEA", "G3"))
            ],
            spaces(GUILD, "discord:G2:open", "discord:G2:CREW", "discord:G2:dm:BEA"),
            id="the guilds that both are in",
        ),
    ],
)
def test_one_person_draws_on_what_they_may_read_and_their_own(
    reader: SoleReader, known: list[Channel], more: Scope
) -> None:
    first = "T1" if reader.platform == "slack" else "G1"
    own = {f"{reader.platform}:{first}:dm:{reader.id}", f"{reader.platform}::dm:{reader.id}"}
    assert scope_for_person(reader, known) == Scope(more.spaces | own, more.rooms)


@pytest.mark.parametrize(
    ("space", "workspace"),
    [
        (workspace_space("slack", "T1"), ("slack", "T1")),
        (ADULT, ("discord", "G1")),
        (HALL_ROOM, None),
        (DM, None),
        ("console:local", None),
    ],
)
def test_the_space_of_a_workspace_names_it(space: str, workspace: tuple[str, str] | None) -> None:
    assert parse_workspace_space(space) == workspace
    assert workspace_space("slack", "T1") == OPEN


def test_unknown_readers_draw_on_the_room_alone() -> None:
    assert scope_for_room(Location("slack", "T1", "HALL", "t")) == rooms(HALL_ROOM)


@pytest.mark.parametrize(
    ("scope", "drawn", "homes", "covered"),
    [
        (spaces(OPEN, SECRET), spaces(OPEN), {}, True),
        (spaces(OPEN), spaces(OPEN, SECRET), {}, False),
        (rooms(HALL_ROOM), spaces(OPEN), {HALL_ROOM: OPEN}, False),
        (spaces(OPEN), rooms(HALL_ROOM), {HALL_ROOM: OPEN}, True),
        (rooms(HALL_ROOM), rooms(HALL_ROOM), {}, True),
        (spaces(SECRET), rooms(SECRET), {}, True),
        (spaces(OPEN), rooms(HALL_ROOM), {}, False),  # nobody knows where the room is
        (spaces(), spaces(), {}, True),
    ],
)
def test_a_scope_covers_its_spaces_and_rooms(
    scope: Scope, drawn: Scope, homes: dict[str, str], *, covered: bool
) -> None:
    assert scope_covers(scope, drawn, homes) is covered


def test_the_rooms_that_a_scope_names_are_also_those_of_its_spaces() -> None:
    scope = Scope(frozenset({SECRET}), frozenset({HALL_ROOM}))
    assert set(audience.named_rooms(scope)) == {SECRET, HALL_ROOM}


@pytest.mark.parametrize("seed", range(40))
def test_each_rule_is_that_of_brute_force_over_all_members_and_channels(seed: int) -> None:
    chance = random.Random(seed)
    people = [f"P{number}" for number in range(5)]
    guests = frozenset(chance.sample(people, 2))
    channels = [_make_channel(chance, number, people, guests) for number in range(8)]
    for person in people:
        reader = SoleReader(person, "slack", frozenset({"T1"}), person in guests, chance.random() < 0.5)
        grants = list_grants(reader, channels)
        scope = scope_for_person(reader, channels)
        assert join_grants(grants) == scope
        for each in channels:
            room, space = each.location.room, home_space(each)
            found = find_grant(grants, space, room)
            assert (found.rule if found else None) == _decide(reader, each)
            assert (found is not None) == scope_covers(scope, Scope(frozenset(), frozenset({room})), {room: space})


def _make_channel(chance: random.Random, number: int, people: list[str], guests: frozenset[str]) -> Channel:
    members = frozenset(chance.sample(people, chance.randrange(1, 5)))
    kind: Kind = chance.choice(("open", "open", "closed"))
    facts: dict[str, Any] = {"shared": chance.random() < 0.2, "adult": chance.random() < 0.3}
    return channel(f"C{number}", " ".join(members), kind, guests=" ".join(members & guests), **facts)


def _decide(reader: SoleReader, each: Channel) -> str | None:
    """The rule in plain words, without spaces and scopes."""
    is_member = reader.id in each.members and (reader.adult or not each.adult)
    if is_member and (each.kind == "closed" or each.shared or reader.is_guest):
        return "member"
    if each.kind == "closed" or each.shared or reader.is_guest:
        return None
    if each.adult:
        return "adult" if reader.adult else None
    return "workspace"
