"""Questions about the invented company of the benchmark, without a model: every sixth, of all kinds."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.company.__main__ import ask_all
from benchmarks.company.corpus import load_questions

pytestmark = pytest.mark.long
SAMPLE = load_questions()[::6]


async def test_most_are_right_and_few_are_not_answered() -> None:
    outcomes = await ask_all(SAMPLE)
    counts = Counter(outcome.name for outcome in outcomes)
    shown = [f"{outcome.name}: {outcome.question.text} {outcome.text}" for outcome in outcomes]
    assert counts["right"] >= 0.7 * len(SAMPLE), shown
    assert counts["nothing"] <= 0.05 * len(SAMPLE), shown
    assert counts["false"] <= 0.1 * len(SAMPLE), shown
