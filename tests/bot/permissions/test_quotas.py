"""Quotas: questions a minute of one person, tokens a day of one workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot import texts
from bot.permissions.askers import Quotas
from bot.platform.models import Location
from bot.store import BotStore
from engine.usage import Usage
from tests.support.builders import HALL, ROOF
from tests.support.clock import START, ManualClock

OTHER = Location("slack", "T2", "HALL")
REFUSED = texts.TOO_MANY_QUESTIONS
SPENT = texts.BUDGET_SPENT.format(duration="14 hours")  # until the day ends in UTC


@pytest.mark.parametrize(
    ("limit", "questions"),
    [
        pytest.param(0, 20 * [(0, HALL, "ada", "")], id="no limit"),
        pytest.param(2, [(0, HALL, "ada", ""), (0, ROOF, "ada", ""), (0, HALL, "ada", REFUSED)], id="in all channels"),
        pytest.param(1, [(0, HALL, "ada", ""), (0, HALL, "bob", ""), (0, OTHER, "ada", "")], id="each person apart"),
        pytest.param(1, [(0, HALL, "ada", ""), (59.9, HALL, "ada", REFUSED), (60, HALL, "ada", "")], id="a minute"),
    ],
)
async def test_a_person_may_ask_so_often_in_a_minute(
    store: BotStore, limit: int, questions: list[tuple[float, Location, str, str]]
) -> None:
    clock = ManualClock()
    guard = Quotas(store, limit, 0, clock)
    for time, place, person, refusal in questions:
        clock.move_to(time)
        assert await guard.check_question(place, person) == refusal


async def test_a_workspace_may_spend_so_many_tokens_in_a_day_also_over_a_restart(tmp_path: Path) -> None:
    clock = ManualClock()
    async with BotStore.open(tmp_path / "bot.db", clock) as store:
        guard = Quotas(store, 10, 100, clock)
        await guard.record_usage(HALL, [Usage("condense", "m", 30, 9), Usage("answer", "m", 50, 10)])
        assert await guard.check_question(ROOF, "ada") == ""
        await guard.record_usage(ROOF, [Usage("answer", "m", 1, 0)])
        assert [await guard.check_question(place, "ada") for place in (HALL, OTHER)] == [SPENT, ""]
    async with BotStore.open(tmp_path / "bot.db", clock) as store:
        guard = Quotas(store, 10, 100, clock)
        assert await guard.check_question(HALL, "ada") == SPENT
        assert await Quotas(store, 10, 0, clock).check_question(HALL, "ada") == ""
        assert await store.usage.get_tokens("slack", "T1", START.date().isoformat()) == 100
        clock.advance(24 * 3600)
        assert await guard.check_question(HALL, "ada") == ""


async def test_a_call_may_cost_something_without_tokens_and_one_without_either_is_not_stored(store: BotStore) -> None:
    guard = Quotas(store, 0, 0, ManualClock())
    await guard.record_usage(OTHER, [Usage("answer", "m")])
    await guard.record_usage(HALL, [Usage("answer", "m", cost=0.5)])
    rows = await store._database.fetch_all("SELECT workspace, tokens, cost FROM daily_usage")
    assert rows == [("T1", 0, 0.5)]


async def test_questions_count_for_a_minute_whichever_process_counts_them(store: BotStore) -> None:
    clock = ManualClock()
    one, other = (Quotas(store, 2, 0, clock) for _ in range(2))
    assert [await each.check_question(HALL, "ada") for each in (one, other, one)] == ["", "", REFUSED]
    clock.advance(60.0)
    assert await other.check_question(HALL, "ada") == ""
    assert await store._database.fetch_all("SELECT person FROM recent_question") == [("ada",)]
