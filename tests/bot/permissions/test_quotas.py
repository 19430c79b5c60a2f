"""So many questions a minute from one person, so many tokens a day from one workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot import texts
from bot.permissions import quotas as guarding
from bot.permissions.quotas import Guards, today
from bot.platform.models import Place
from bot.store import Store
from engine.usage import Usage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

HALL = Place("slack", "T1", "HALL")
YARD = Place("slack", "T1", "YARD")
OTHER = Place("slack", "T2", "HALL")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with Store.open(tmp_path / "bot.db") as opened:
        yield opened


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def test_a_person_may_ask_so_often_in_a_minute_wherever_he_is(store: Store, clock: Clock) -> None:
    guards = Guards(store, 2, 0, clock)
    assert [await guards.refusal(place, "ada") for place in (HALL, YARD, HALL)] == ["", "", texts.TOO_MANY]


async def test_others_may_ask_meanwhile(store: Store, clock: Clock) -> None:
    guards = Guards(store, 1, 0, clock)
    assert [await guards.refusal(HALL, "ada"), await guards.refusal(HALL, "bob")] == ["", ""]
    assert await guards.refusal(OTHER, "ada") == ""


async def test_after_a_minute_he_may_again(store: Store, clock: Clock) -> None:
    guards = Guards(store, 1, 0, clock)
    await guards.refusal(HALL, "ada")
    clock.now += 59.9
    assert await guards.refusal(HALL, "ada") == texts.TOO_MANY
    clock.now += 0.1
    assert await guards.refusal(HALL, "ada") == ""


async def test_a_workspace_may_spend_so_many_tokens_in_a_day(store: Store, clock: Clock) -> None:
    guards = Guards(store, 10, 100, clock)
    await guards.charge(HALL, [Usage("condense", "m", 30, 9), Usage("answer", "m", 50, 10)])
    assert await guards.refusal(YARD, "ada") == ""
    await guards.charge(YARD, [Usage("answer", "m", 1, 0)])
    assert await guards.refusal(HALL, "ada") == texts.SPENT
    assert await guards.refusal(OTHER, "ada") == ""


async def test_what_was_spent_outlives_a_restart(tmp_path: Path, clock: Clock) -> None:
    async with Store.open(tmp_path / "bot.db") as store:
        await Guards(store, 10, 100, clock).charge(HALL, [Usage("answer", "m", 100, 0)])
    async with Store.open(tmp_path / "bot.db") as store:
        assert await Guards(store, 10, 100, clock).refusal(HALL, "ada") == texts.SPENT


async def test_without_a_limit_it_is_noted_all_the_same(store: Store, clock: Clock) -> None:
    guards = Guards(store, 10, 0, clock)
    await guards.charge(HALL, [Usage("answer", "m", 10**9, 0)])
    assert await guards.refusal(HALL, "ada") == ""
    assert await store.usage.of("slack", "T1", today()) == 10**9


async def test_people_who_asked_long_ago_are_not_remembered(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarding, "KEPT", 3)
    guards = Guards(store, 1, 0, clock)
    for person in range(10):
        clock.now += 61
        await guards.refusal(HALL, str(person))
    assert len(guards._asked) <= 5
