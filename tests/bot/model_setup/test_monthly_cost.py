from __future__ import annotations

import pytest

from bot.model_setup.monthly_cost import MonthlyUse, price_month
from bot.setup.models import format_dollars, sum_cost
from engine.llm.client.protocol import ModelTraits

TRAITS = ModelTraits(input_price=1e-6, output_price=2e-6, price_known=True)


def test_a_month_costs_answers_and_what_is_read() -> None:
    cost = price_month(TRAITS, MonthlyUse(messages=1_000, documents=100, questions=10))
    assert cost.answers == pytest.approx(300 * (6_700e-6 + 400 * 2e-6))
    assert cost.documents == pytest.approx(100 * 5_000 * (2.9e-6 + 2e-6))
    assert cost.messages == pytest.approx(30_000 * 30 * (2.9e-6 + 2e-6))
    assert sum_cost(cost, "model") > sum_cost(cost, "auto") > sum_cost(cost, "rules") == cost.answers


def test_dollars_have_the_digits_that_say_something() -> None:
    assert [format_dollars(number) for number in (0.123, 9.5, 1234.5)] == ["$0.12", "$9.50", "$1234"]
