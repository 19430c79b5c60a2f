"""What an answer draws on, and whether its readers may still read that."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.errors import PlatformError
from bot.permissions.provenance import Provenance, build_provenance, can_read, provenance_of_answer
from bot.platform.models import Location
from bot.store import StoredAnswer
from engine.models import Context, Scope, SearchQuery
from tests.bot.answers.test_footer import SOURCE
from tests.support.answering_fixture import AnsweringFixture, open_answering_bot
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

NONE: frozenset[str] = frozenset()
EMPTY_SCOPE = Scope(NONE, NONE)
OPEN = frozenset({"slack:T1:open"})


def context(*spaces: str) -> Context:
    secret = replace(SOURCE, number=2, document="d2", space="slack:T1:VAULT", room="slack:T1:VAULT")
    return Context(SearchQuery("?"), "mix", sources=(SOURCE, secret), spaces=spaces)


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[AnsweringFixture]:
    async with open_answering_bot(tmp_path / "home") as opened:
        yield opened


def test_it_draws_on_the_spaces_of_its_sources_and_of_the_graph() -> None:
    scope = Scope(OPEN | {"slack:T1:VAULT", "slack:T1:DEN"}, NONE)
    made = build_provenance(context("slack:T1:DEN"), scope, EMPTY_SCOPE, 5.0)
    assert made.source_scope == Scope(frozenset({"slack:T1:open", "slack:T1:VAULT", "slack:T1:DEN"}), NONE)
    assert made.room_spaces == {"slack:T1:ROOF": "slack:T1:open", "slack:T1:VAULT": "slack:T1:VAULT"}


def test_of_what_was_in_scope_by_its_room_it_draws_on_the_room() -> None:
    made = build_provenance(context(), Scope(NONE, frozenset({"slack:T1:ROOF", "slack:T1:VAULT"})), EMPTY_SCOPE, 5.0)
    assert made.source_scope == Scope(NONE, frozenset({"slack:T1:ROOF", "slack:T1:VAULT"}))


def test_it_draws_on_what_was_said_before_too() -> None:
    past = Scope(frozenset({"slack:T1:DEN"}), frozenset({"slack:T1:HALL"}))
    made = build_provenance(Context(SearchQuery("?"), "mix"), Scope(OPEN, NONE), past, 5.0)
    assert made == Provenance(past, {}, 5.0)


def test_a_room_bears_the_name_of_its_place() -> None:
    for place in (Location("slack", "T1", "HALL"), Location("discord", "", "D1"), Location("slack", "T1", "dm:ada")):
        assert Location.from_room(place.room) == place


async def test_what_all_may_read_may_be_read(home: AnsweringFixture) -> None:
    hall = home.platform.add_channel("HALL", "ada")
    assert await can_read(home.context.audience, Provenance(Scope(OPEN, NONE), {}, 0.0), hall) is True


async def test_what_not_all_may_read_may_not(home: AnsweringFixture) -> None:
    hall = home.platform.add_channel("HALL", "ada")
    assert (
        await can_read(home.context.audience, Provenance(Scope(OPEN | {"slack:T1:VAULT"}, NONE), {}, 0.0), hall)
        is False
    )


async def test_a_room_that_was_open_when_it_was_recalled_is_believed(home: AnsweringFixture) -> None:
    hall = home.platform.add_channel("HALL", "ada")
    based = Provenance(Scope(OPEN, NONE), {"slack:T1:ROOF": "slack:T1:open"}, home.context.audience.clock())
    assert await can_read(home.context.audience, based, hall) is True
    assert home.platform.calls == ["channel"]


@pytest.mark.parametrize(("kind", "allowed"), [("open", True), ("closed", False)])
async def test_until_it_changes(home: AnsweringFixture, kind: str, allowed: bool) -> None:  # noqa: FBT001 - a case
    hall, roof = home.platform.add_channel("HALL", "ada"), home.platform.add_channel("ROOF", "ada")
    based = Provenance(Scope(OPEN, NONE), {"slack:T1:ROOF": "slack:T1:open"}, home.context.audience.clock())
    home.platform.change_channel("ROOF", kind=kind)
    home.context.audience.invalidate(roof)
    assert await can_read(home.context.audience, based, hall) is allowed


async def test_if_readers_are_unknown_only_the_room_s_own_may_be_read(home: AnsweringFixture) -> None:
    hall = home.platform.add_channel("HALL", "ada")
    home.platform.failing["channel"] = PlatformError("Down.")
    own = Provenance(Scope(NONE, frozenset({"slack:T1:HALL"})), {}, 0.0)
    assert await can_read(home.context.audience, own, hall) is True
    assert await can_read(home.context.audience, Provenance(Scope(OPEN, NONE), {}, 0.0), hall) is None


async def test_one_person_may_read_what_he_gave_the_bot_alone(home: AnsweringFixture) -> None:
    hall = home.platform.add_channel("HALL", "ada")
    based = Provenance(Scope(frozenset({"slack:T1:dm:ada"}), frozenset({"slack:T1:dm:ada"})), {}, 0.0)
    assert await can_read(home.context.audience, based, hall, "ada") is True
    assert await can_read(home.context.audience, based, hall) is False


def test_a_finished_answer_rests_on_the_rooms_of_all_that_was_recalled() -> None:
    documents = frozenset(
        {"slack:T1:ROOF:thread:m1", "slack:T1:HALL:file:m2:F1", "slack:T1:dm:ada:file:m3:F2", "other"}
    )
    stored = StoredAnswer("a1", Location("slack", "T1", "HALL"), "ada", "Who?", START, documents=documents, spaces=OPEN)
    assert provenance_of_answer(stored).source_scope == Scope(
        OPEN, frozenset({"slack:T1:ROOF", "slack:T1:HALL", "slack:T1:dm:ada"})
    )
