"""The sources of an answer, and whether its readers may still read them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.errors import PlatformError
from bot.permissions.provenance import (
    Provenance,
    build_provenance,
    can_read,
    document_provenance,
    provenance_of_answer,
)
from bot.platform.models import Location
from bot.store import AnswerSource
from engine.models import Context, Scope, SearchQuery
from tests.support.bot_fixture import BotFixture
from tests.support.builders import HALL, ROOF, make_answer, make_source

OPEN, VAULT, DEN = "slack:T1:open", "slack:T1:VAULT", "slack:T1:DEN"
ADAS = "slack:T1:dm:ada"
SECRET = make_source(number=2, document="d2", space=VAULT, room=VAULT)


def scope(*spaces: str, rooms: tuple[str, ...] = ()) -> Scope:
    return Scope(frozenset(spaces), frozenset(rooms))


def context(*spaces: str, empty: bool = False) -> Context:
    return Context(SearchQuery("?"), "mix", sources=() if empty else (make_source(), SECRET), spaces=spaces)


@pytest.mark.parametrize(
    ("retrieved", "allowed", "history", "expected"),
    [
        pytest.param(context(DEN), scope(OPEN, VAULT, DEN), scope(), scope(OPEN, VAULT, DEN), id="sources and graph"),
        pytest.param(
            *(context(), scope(rooms=(ROOF.room, VAULT)), scope(), scope(rooms=(ROOF.room, VAULT))), id="rooms in scope"
        ),
        pytest.param(
            *(context(empty=True), scope(OPEN), scope(DEN, rooms=(HALL.room,)), scope(DEN, rooms=(HALL.room,))),
            id="the history",
        ),
    ],
)
def test_the_sources_are_those_of_the_context_and_the_history(
    retrieved: Context, allowed: Scope, history: Scope, expected: Scope
) -> None:
    made = build_provenance(retrieved, allowed, history, 5.0)
    spaces = {ROOF.room: OPEN, VAULT: VAULT} if retrieved.sources else {}
    assert made == Provenance(expected, spaces, 5.0)


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [(scope(OPEN, VAULT), scope(VAULT)), (scope(OPEN, rooms=(VAULT,)), scope(rooms=(VAULT,)))],
    ids=["its space is in scope", "its room is"],
)
def test_the_text_of_a_document_rests_on_its_space_or_its_room(allowed: Scope, expected: Scope) -> None:
    assert document_provenance(VAULT, VAULT, allowed, 5.0) == Provenance(expected, {VAULT: VAULT}, 5.0)


@pytest.mark.parametrize(
    "place", [HALL, Location("discord", "", "D1"), Location("slack", "T1", "dm:ada")], ids=lambda each: each.room
)
def test_a_room_has_the_name_of_its_location(place: Location) -> None:
    assert Location.from_room(place.room) == place


@pytest.mark.parametrize(
    ("drawn", "reader", "failing", "readable"),
    [
        pytest.param(scope(OPEN), "", False, True, id="open"),
        pytest.param(scope(OPEN, VAULT), "", False, False, id="closed"),
        pytest.param(scope(OPEN), "", True, None, id="unknown readers"),
        pytest.param(scope(rooms=(HALL.room,)), "", True, True, id="unknown readers of the room itself"),
        pytest.param(scope(ADAS, rooms=(ADAS,)), "ada", False, True, id="the person's own file"),
        pytest.param(scope(ADAS, rooms=(ADAS,)), "", False, False, id="another person's own file"),
    ],
)
async def test_readers_may_read_what_is_in_their_scope(
    bot: BotFixture, drawn: Scope, reader: str, *, failing: bool, readable: bool | None
) -> None:
    bot.platform.add_channel("HALL", "ada")
    bot.platform.failing |= {"channel": PlatformError("Down.")} if failing else {}
    assert await can_read(bot.context.audience, Provenance(drawn, {}, 0.0), HALL, reader) is readable


@pytest.mark.parametrize(("kind", "readable"), [("", True), ("open", True), ("closed", False)])
async def test_a_room_is_taken_as_open_until_it_changes(bot: BotFixture, kind: str, *, readable: bool) -> None:
    for channel in ("HALL", "ROOF"):
        bot.platform.add_channel(channel, "ada")
    drawn = Provenance(scope(OPEN), {ROOF.room: OPEN}, bot.context.audience.clock.monotonic())
    if kind:
        bot.change_channel(ROOF, kind=kind)
    assert await can_read(bot.context.audience, drawn, HALL) is readable
    assert kind or bot.platform.calls == ["channel"]


async def test_a_room_whose_space_is_unknown_or_suspended_for_now_is_not_refused_for_good(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.permissions.resolver.SUSPENSION_WAIT", 0.01)
    audience = bot.context.audience
    bot.platform.add_channel("HALL", "ada")
    assert await can_read(audience, Provenance(scope(rooms=(ROOF.room,)), {}, 0.0), HALL) is None
    known = Provenance(scope(), {ROOF.room: OPEN}, audience.clock.monotonic() + 1.0)
    assert await can_read(audience, known, HALL) is True
    audience.suspend(Location("slack", "T1", ""))
    assert await can_read(audience, replace(known, recorded_at=audience.clock.monotonic() + 1.0), HALL) is None


def test_a_finished_answer_rests_on_the_rooms_of_all_that_was_retrieved() -> None:
    files = {"slack:T1:HALL:file:m2:F1", "slack:T1:dm:ada:file:m3:F2"}
    stored = make_answer(documents=frozenset({f"{ROOF.room}:thread:m1", *files, "other"}), spaces=frozenset({OPEN}))
    assert provenance_of_answer(stored).source_scope == scope(OPEN, rooms=(ROOF.room, HALL.room, ADAS))


def test_a_finished_answer_rests_on_the_rooms_of_its_sources_and_of_the_answers_before_it() -> None:
    source = AnswerSource(1, "#vault", "", "Monday", "page", "p1", VAULT, VAULT)
    stored = make_answer(sources=(source,), rooms=frozenset({DEN}))
    assert provenance_of_answer(stored).source_scope == scope(rooms=(VAULT, DEN))
