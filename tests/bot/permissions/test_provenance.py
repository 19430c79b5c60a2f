"""What an answer draws on, and whether its readers may still read that."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.answers.history import Past
from bot.errors import PlatformError
from bot.permissions.provenance import Basis, basis, basis_of, place_of, readable
from bot.platform.models import Place
from bot.store import Stored
from engine.models import Condensed, Context, Scope
from tests.bot.answers.test_footer import SOURCE
from tests.support.asking import Asking, asking
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

NONE: frozenset[str] = frozenset()
OPEN = frozenset({"slack:T1:open"})


def context(*spaces: str) -> Context:
    secret = replace(SOURCE, number=2, document="d2", space="slack:T1:VAULT", room="slack:T1:VAULT")
    return Context(Condensed("?"), "mix", sources=(SOURCE, secret), spaces=spaces)


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Asking]:
    async with asking(tmp_path / "home") as opened:
        yield opened


def test_it_draws_on_the_spaces_of_its_sources_and_of_the_graph() -> None:
    scope = Scope(OPEN | {"slack:T1:VAULT", "slack:T1:DEN"}, NONE)
    made = basis(context("slack:T1:DEN"), scope, Past(), 5.0)
    assert made.drawn == Scope(frozenset({"slack:T1:open", "slack:T1:VAULT", "slack:T1:DEN"}), NONE)
    assert made.homes == {"slack:T1:ROOF": "slack:T1:open", "slack:T1:VAULT": "slack:T1:VAULT"}


def test_of_what_was_in_scope_by_its_room_it_draws_on_the_room() -> None:
    made = basis(context(), Scope(NONE, frozenset({"slack:T1:ROOF", "slack:T1:VAULT"})), Past(), 5.0)
    assert made.drawn == Scope(NONE, frozenset({"slack:T1:ROOF", "slack:T1:VAULT"}))


def test_it_draws_on_what_was_said_before_too() -> None:
    past = Past((), Scope(frozenset({"slack:T1:DEN"}), frozenset({"slack:T1:HALL"})))
    made = basis(Context(Condensed("?"), "mix"), Scope(OPEN, NONE), past, 5.0)
    assert made == Basis(past.drawn, {}, 5.0)


def test_a_room_bears_the_name_of_its_place() -> None:
    for place in (Place("slack", "T1", "HALL"), Place("discord", "", "D1"), Place("slack", "T1", "dm:ada")):
        assert place_of(place.room) == place


async def test_what_all_may_read_may_be_read(home: Asking) -> None:
    hall = home.platform.open("HALL", "ada")
    assert await readable(home.house, Basis(Scope(OPEN, NONE), {}, 0.0), hall) is True


async def test_what_not_all_may_read_may_not(home: Asking) -> None:
    hall = home.platform.open("HALL", "ada")
    assert await readable(home.house, Basis(Scope(OPEN | {"slack:T1:VAULT"}, NONE), {}, 0.0), hall) is False


async def test_a_room_that_was_open_when_it_was_recalled_is_believed(home: Asking) -> None:
    hall = home.platform.open("HALL", "ada")
    based = Basis(Scope(OPEN, NONE), {"slack:T1:ROOF": "slack:T1:open"}, home.house.readers.clock())
    assert await readable(home.house, based, hall) is True
    assert home.platform.calls == ["channel"]


@pytest.mark.parametrize(("kind", "allowed"), [("open", True), ("closed", False)])
async def test_until_it_changes(home: Asking, kind: str, allowed: bool) -> None:  # noqa: FBT001 - a case
    hall, roof = home.platform.open("HALL", "ada"), home.platform.open("ROOF", "ada")
    based = Basis(Scope(OPEN, NONE), {"slack:T1:ROOF": "slack:T1:open"}, home.house.readers.clock())
    home.platform.change("ROOF", kind=kind)
    home.house.readers.forget(roof)
    assert await readable(home.house, based, hall) is allowed


async def test_if_readers_are_unknown_only_the_room_s_own_may_be_read(home: Asking) -> None:
    hall = home.platform.open("HALL", "ada")
    home.platform.failing["channel"] = PlatformError("Down.")
    own = Basis(Scope(NONE, frozenset({"slack:T1:HALL"})), {}, 0.0)
    assert await readable(home.house, own, hall) is True
    assert await readable(home.house, Basis(Scope(OPEN, NONE), {}, 0.0), hall) is None


async def test_one_person_may_read_what_he_gave_the_bot_alone(home: Asking) -> None:
    hall = home.platform.open("HALL", "ada")
    based = Basis(Scope(frozenset({"slack:T1:dm:ada"}), frozenset({"slack:T1:dm:ada"})), {}, 0.0)
    assert await readable(home.house, based, hall, "ada") is True
    assert await readable(home.house, based, hall) is False


def test_a_finished_answer_rests_on_the_rooms_of_all_that_was_recalled() -> None:
    documents = frozenset(
        {"slack:T1:ROOF:thread:m1", "slack:T1:HALL:file:m2:F1", "slack:T1:dm:ada:file:m3:F2", "other"}
    )
    stored = Stored("a1", Place("slack", "T1", "HALL"), "ada", "Who?", START, documents=documents, spaces=OPEN)
    assert basis_of(stored).drawn == Scope(OPEN, frozenset({"slack:T1:ROOF", "slack:T1:HALL", "slack:T1:dm:ada"}))
