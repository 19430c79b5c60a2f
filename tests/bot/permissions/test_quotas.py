"""So many questions a minute from one person, so many tokens a day from one workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot import texts
from bot.permissions import quotas as guarding
from bot.permissions.quotas import Quotas, current_day
from bot.platform.models import Location
from bot.store import BotStore
from engine.usage import Usage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

HALL = Location("slack", "T1", "HALL")
YARD = Location("slack", "T1", "YARD")
OTHER = Location("slack", "T2", "HALL")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[BotStore]:
    async with BotStore.open(tmp_path / "bot.db") as opened:
        yield opened


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def test_a_person_may_ask_so_often_in_a_minute_wherever_he_is(store: BotStore, clock: Clock) -> None:
    guards = Quotas(store, 2, 0, clock)
    assert [await guards.check_question(place, "ada") for place in (HALL, YARD, HALL)] == [
        "",
        "",
        texts.TOO_MANY_QUESTIONS,
    ]


async def test_others_may_ask_meanwhile(store: BotStore, clock: Clock) -> None:
    guards = Quotas(store, 1, 0, clock)
    assert [await guards.check_question(HALL, "ada"), await guards.check_question(HALL, "bob")] == ["", ""]
    assert await guards.check_question(OTHER, "ada") == ""


async def test_after_a_minute_he_may_again(store: BotStore, clock: Clock) -> None:
    guards = Quotas(store, 1, 0, clock)
    await guards.check_question(HALL, "ada")
    clock.now += 59.9
    assert await guards.check_question(HALL, "ada") == texts.TOO_MANY_QUESTIONS
    clock.now += 0.1
    assert await guards.check_question(HALL, "ada") == ""


async def test_a_workspace_may_spend_so_many_tokens_in_a_day(store: BotStore, clock: Clock) -> None:
    guards = Quotas(store, 10, 100, clock)
    await guards.record_usage(HALL, [Usage("condense", "m", 30, 9), Usage("answer", "m", 50, 10)])
    assert await guards.check_question(YARD, "ada") == ""
    await guards.record_usage(YARD, [Usage("answer", "m", 1, 0)])
    assert await guards.check_question(HALL, "ada") == texts.BUDGET_SPENT
    assert await guards.check_question(OTHER, "ada") == ""


async def test_what_was_spent_outlives_a_restart(tmp_path: Path, clock: Clock) -> None:
    async with BotStore.open(tmp_path / "bot.db") as store:
        await Quotas(store, 10, 100, clock).record_usage(HALL, [Usage("answer", "m", 100, 0)])
    async with BotStore.open(tmp_path / "bot.db") as store:
        assert await Quotas(store, 10, 100, clock).check_question(HALL, "ada") == texts.BUDGET_SPENT


async def test_without_a_limit_it_is_noted_all_the_same(store: BotStore, clock: Clock) -> None:
    guards = Quotas(store, 10, 0, clock)
    await guards.record_usage(HALL, [Usage("answer", "m", 10**9, 0)])
    assert await guards.check_question(HALL, "ada") == ""
    assert await store.usage.get_tokens("slack", "T1", current_day()) == 10**9


async def test_people_who_asked_long_ago_are_not_remembered(
    store: BotStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarding, "MAX_TRACKED_PEOPLE", 3)
    guards = Quotas(store, 1, 0, clock)
    for person in range(10):
        clock.now += 61
        await guards.check_question(HALL, str(person))
    assert len(guards._question_times) <= 5
