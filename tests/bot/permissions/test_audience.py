"""Who reads a reply decides what it may draw on: the whole table, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from bot.permissions import audience
from bot.permissions.audience import (
    SoleReader,
    home_space,
    scope_covers,
    scope_for_channel,
    scope_for_person,
    scope_for_room,
)
from bot.platform.models import Channel, Location
from engine.models import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable

Kind = Literal["open", "closed", "direct"]


def slack(
    channel: str, *members: str, kind: Kind = "open", guests: Iterable[str] = (), shared: bool = False
) -> Channel:
    everybody = frozenset({*members, *guests})
    return Channel(Location("slack", "T1", channel), channel.lower(), kind, everybody, frozenset(guests), shared)


def discord(channel: str, *members: str, guild: str = "G1", kind: Kind = "open", adult: bool = False) -> Channel:
    return Channel(Location("discord", guild, channel), channel.lower(), kind, frozenset(members), adult=adult)


def spaces(*names: str) -> Scope:
    return Scope(frozenset(names), frozenset())


def rooms(*names: str) -> Scope:
    return Scope(frozenset(), frozenset(names))


OPEN, SECRET, DM = "slack:T1:open", "slack:T1:SECRET", "slack:T1:dm:ADA"
ADA = SoleReader("ADA", "slack", frozenset({"T1"}))
GUEST = SoleReader("GUS", "slack", frozenset({"T1"}), is_guest=True)
BEA = SoleReader("BEA", "discord", frozenset({"G1"}))


class TestWhereDocumentsLive:
    def test_an_open_channel_s_in_the_open_space(self) -> None:
        assert home_space(slack("HALL", "ADA")) == OPEN

    def test_also_while_guests_are_in_it(self) -> None:
        assert home_space(slack("HALL", "ADA", guests=["GUS"])) == OPEN

    def test_a_closed_channel_s_in_one_of_its_own(self) -> None:
        assert home_space(slack("SECRET", "ADA", kind="closed")) == SECRET

    def test_a_channel_s_that_is_shared_with_others_in_one_of_its_own(self) -> None:
        assert home_space(slack("BRIDGE", "ADA", shared=True)) == "slack:T1:BRIDGE"

    def test_what_somebody_gave_the_bot_alone_in_his_own(self) -> None:
        assert home_space(slack("D1", "ADA", kind="direct")) == DM

    def test_a_discord_dm_belongs_to_no_guild(self) -> None:
        assert home_space(discord("D1", "BEA", guild="", kind="direct")) == "discord::dm:BEA"

    def test_a_talk_whose_person_is_not_known_in_its_room_s(self) -> None:
        assert home_space(slack("D1", kind="direct")) == "slack:T1:D1"

    def test_what_every_member_may_read_but_is_age_restricted_stands_apart(self) -> None:
        assert home_space(discord("NIGHT", adult=True)) == "discord:G1:adult"

    def test_a_closed_age_restricted_channel_s_in_one_of_its_own(self) -> None:
        assert home_space(discord("DEN", "BEA", kind="closed", adult=True)) == "discord:G1:DEN"


class TestSlackOpenChannel:
    def test_without_guests_it_draws_on_the_open_space(self) -> None:
        assert scope_for_channel(slack("HALL", "ADA")) == spaces(OPEN)

    def test_with_guests_it_draws_on_open_rooms_that_every_one_of_them_is_in(self) -> None:
        hall = slack("HALL", "ADA", guests=["GUS", "GIL"])
        others = [
            hall,
            slack("YARD", "ADA", guests=["GUS", "GIL"]),
            slack("ROOF", "ADA", guests=["GUS"]),
            slack("ATTIC", "ADA"),
        ]
        assert scope_for_channel(hall, others) == rooms("slack:T1:HALL", "slack:T1:YARD")

    def test_with_guests_it_draws_on_no_private_space(self) -> None:
        hall = slack("HALL", guests=["GUS"])
        others = [slack("SECRET", "ADA", guests=["GUS"], kind="closed"), slack("BRIDGE", guests=["GUS"], shared=True)]
        assert scope_for_channel(hall, others) == rooms("slack:T1:HALL")

    def test_with_guests_it_draws_on_nothing_of_another_workspace(self) -> None:
        other = Channel(Location("slack", "T2", "YARD"), "yard", "open", frozenset({"GUS"}), frozenset({"GUS"}))
        assert scope_for_channel(slack("HALL", guests=["GUS"]), [other]) == rooms("slack:T1:HALL")

    def test_the_own_room_is_there_even_if_nobody_tells_of_it(self) -> None:
        assert scope_for_channel(slack("HALL", guests=["GUS"])) == rooms("slack:T1:HALL")


class TestSlackPrivateChannelOrGroupDM:
    def test_it_draws_on_the_open_space_and_its_own(self) -> None:
        assert scope_for_channel(slack("SECRET", "ADA", "BOB", kind="closed")) == spaces(OPEN, SECRET)

    def test_with_a_guest_in_it_only_on_its_own(self) -> None:
        assert scope_for_channel(slack("SECRET", "ADA", guests=["GUS"], kind="closed")) == spaces(SECRET)

    def test_never_on_another_private_channel_with_the_same_people(self) -> None:
        assert "slack:T1:OTHER" not in scope_for_channel(slack("SECRET", "ADA", kind="closed")).spaces


class TestSlackConnect:
    @pytest.mark.parametrize("kind", ["open", "closed"])
    def test_a_shared_channel_draws_on_its_own_space_only(self, kind: Kind) -> None:
        assert scope_for_channel(slack("BRIDGE", "ADA", kind=kind, shared=True)) == spaces("slack:T1:BRIDGE")

    def test_with_guests_too(self) -> None:
        assert scope_for_channel(
            slack("BRIDGE", "ADA", guests=["GUS"], shared=True), [slack("HALL", guests=["GUS"])]
        ) == spaces("slack:T1:BRIDGE")


class TestOneFullMemberOfSlack:
    def test_draws_on_the_open_space_his_own_and_the_private_channels_he_is_in(self) -> None:
        known = [
            slack("HALL", "BOB"),
            slack("SECRET", "ADA", "BOB", kind="closed"),
            slack("OTHER", "BOB", kind="closed"),
        ]
        assert scope_for_person(ADA, known) == spaces(OPEN, SECRET, DM, "slack::dm:ADA")

    def test_on_a_shared_channel_if_he_is_in_it(self) -> None:
        known = [slack("BRIDGE", "ADA", shared=True), slack("FAR", "BOB", shared=True)]
        assert scope_for_person(ADA, known).spaces == {OPEN, DM, "slack::dm:ADA", "slack:T1:BRIDGE"}

    def test_never_on_what_others_gave_the_bot_alone(self) -> None:
        assert scope_for_person(
            ADA, [slack("D2", "ADA", kind="direct"), slack("D3", "BOB", kind="direct")]
        ) == scope_for_person(ADA, [])

    def test_on_nothing_of_another_workspace(self) -> None:
        other = Channel(Location("slack", "T2", "SECRET"), "secret", "closed", frozenset({"ADA"}))
        assert scope_for_person(ADA, [other]) == scope_for_person(ADA, [])

    def test_on_nothing_of_another_platform(self) -> None:
        known = [Channel(Location("discord", "T1", "SECRET"), "secret", "closed", frozenset({"ADA"}))]
        assert scope_for_person(ADA, known) == scope_for_person(ADA, [])


class TestOneGuestOfSlack:
    def test_draws_on_the_rooms_of_open_channels_he_is_in(self) -> None:
        known = [slack("HALL", "ADA", guests=["GUS"]), slack("YARD", "ADA")]
        assert scope_for_person(GUEST, known).rooms == {"slack:T1:HALL"}

    def test_and_on_the_spaces_of_private_channels_he_is_in(self) -> None:
        known = [slack("SECRET", "ADA", guests=["GUS"], kind="closed"), slack("OTHER", "ADA", kind="closed")]
        assert scope_for_person(GUEST, known) == spaces(SECRET, "slack:T1:dm:GUS", "slack::dm:GUS")

    def test_never_on_the_open_space(self) -> None:
        assert OPEN not in scope_for_person(GUEST, [slack("HALL", guests=["GUS"])]).spaces

    def test_a_person_of_another_workspace_draws_on_the_shared_channel_alone(self) -> None:
        known = [slack("BRIDGE", "ADA", guests=["GUS"], shared=True), slack("HALL", "ADA")]
        found = scope_for_person(GUEST, known)
        assert found.rooms == frozenset()
        assert found.spaces - {"slack:T1:dm:GUS", "slack::dm:GUS"} == {"slack:T1:BRIDGE"}


class TestDiscord:
    def test_an_open_channel_draws_on_the_guild_s_open_space(self) -> None:
        assert scope_for_channel(discord("HALL")) == spaces("discord:G1:open")

    def test_a_restricted_channel_on_that_and_its_own(self) -> None:
        assert scope_for_channel(discord("CREW", "BEA", kind="closed")) == spaces("discord:G1:open", "discord:G1:CREW")

    def test_an_age_restricted_channel_only_on_its_like(self) -> None:
        assert scope_for_channel(discord("NIGHT", adult=True)) == spaces("discord:G1:adult")

    def test_a_closed_age_restricted_channel_on_its_like_and_its_own(self) -> None:
        den = discord("DEN", "BEA", kind="closed", adult=True)
        assert scope_for_channel(den) == spaces("discord:G1:adult", "discord:G1:DEN")

    def test_one_person_draws_on_what_he_may_read(self) -> None:
        known = [
            discord("HALL"),
            discord("CREW", "BEA", kind="closed"),
            discord("STAFF", "CAL", kind="closed"),
            discord("thread", "BEA", kind="closed"),
        ]
        assert scope_for_person(BEA, known).spaces == {
            "discord:G1:open",
            "discord:G1:CREW",
            "discord:G1:thread",
            "discord:G1:dm:BEA",
            "discord::dm:BEA",
        }

    def test_but_on_nothing_age_restricted_outside_of_such_channels(self) -> None:
        known = [discord("NIGHT", adult=True), discord("DEN", "BEA", kind="closed", adult=True)]
        assert scope_for_person(BEA, known) == scope_for_person(BEA, [])

    def test_which_he_may_within_one(self) -> None:
        known = [discord("DEN", "BEA", kind="closed", adult=True)]
        within = SoleReader("BEA", "discord", frozenset({"G1"}), adult=True)
        assert scope_for_person(within, known).spaces - scope_for_person(BEA, known).spaces == {
            "discord:G1:adult",
            "discord:G1:DEN",
        }

    def test_a_dm_draws_on_the_guilds_that_both_are_in(self) -> None:
        both = SoleReader("BEA", "discord", frozenset({"G1", "G2"}))
        known = [
            discord("CREW", "BEA", guild="G2", kind="closed"),
            discord("STAFF", "CAL", guild="G2", kind="closed"),
            discord("VAULT", "BEA", guild="G3", kind="closed"),
        ]
        found = scope_for_person(both, known).spaces
        assert {"discord:G1:open", "discord:G2:open", "discord:G2:CREW", "discord::dm:BEA"} <= found
        assert not {"discord:G2:STAFF", "discord:G3:VAULT", "discord:G3:open"} & found

    def test_a_private_thread_is_read_by_its_own_members(self) -> None:
        assert scope_for_channel(discord("1234", "BEA", kind="closed")) == spaces("discord:G1:open", "discord:G1:1234")


class TestUnknownReaders:
    def test_see_what_was_said_where_they_are(self) -> None:
        assert scope_for_room(Location("slack", "T1", "HALL", "t")) == rooms("slack:T1:HALL")

    def test_a_talk_with_more_than_one_draws_on_its_room_alone(self) -> None:
        assert scope_for_channel(slack("D1", "ADA", "BOB", kind="direct")) == spaces("slack:T1:D1")


class TestWhatIsCovered:
    def test_spaces_in_scope_are(self) -> None:
        assert scope_covers(spaces(OPEN, SECRET), spaces(OPEN), {})

    def test_others_are_not(self) -> None:
        assert not scope_covers(spaces(OPEN), spaces(OPEN, SECRET), {})

    def test_a_space_is_not_covered_by_a_room(self) -> None:
        assert not scope_covers(rooms("slack:T1:HALL"), spaces(OPEN), {"slack:T1:HALL": OPEN})

    def test_a_room_is_by_its_space(self) -> None:
        assert scope_covers(spaces(OPEN), rooms("slack:T1:HALL"), {"slack:T1:HALL": OPEN})

    def test_and_by_itself(self) -> None:
        assert scope_covers(rooms("slack:T1:HALL"), rooms("slack:T1:HALL"), {})

    def test_and_by_the_space_that_bears_its_name(self) -> None:
        assert scope_covers(spaces(SECRET), rooms(SECRET), {})

    def test_but_not_if_nobody_knows_where_it_lies(self) -> None:
        assert not scope_covers(spaces(OPEN), rooms("slack:T1:HALL"), {})

    def test_nothing_is_covered_by_nothing(self) -> None:
        assert scope_covers(spaces(), spaces(), {})


def test_the_rooms_that_a_scope_names_are_those_of_its_spaces_too() -> None:
    assert set(audience.named_rooms(Scope(frozenset({SECRET}), frozenset({"slack:T1:HALL"})))) == {
        SECRET,
        "slack:T1:HALL",
    }
