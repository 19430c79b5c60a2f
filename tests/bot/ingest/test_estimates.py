"""What the reply to `backfill` says of the cost of a history, by its newest messages."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.ingest.estimates import describe_estimate, estimate_history, extrapolate
from bot.text.format import round_figure
from engine.ingest.estimate import IndexingEstimate, estimate_indexing, is_much
from engine.llm.client.protocol import ModelTraits
from tests.bot.commands.conftest import Workspace, workspace  # noqa: F401  - a fixture
from tests.support.builders import ROOF


class FixedEstimator:
    """Knows the price of a model that is never called."""

    reads_messages = True

    async def estimate(self, text_tokens: int) -> IndexingEstimate:
        return estimate_indexing(text_tokens, "some/model", ModelTraits(price_known=True, input_price=1e-6), 8)


class CostlyEstimator:
    """Reads at the price of gold."""

    reads_messages = True

    async def estimate(self, text_tokens: int) -> IndexingEstimate:
        return estimate_indexing(text_tokens, "some/model", ModelTraits(price_known=True, input_price=1.0), 8)


@pytest.mark.parametrize(
    ("tokens", "sampled", "whole", "found"), [(100, 7200, 72_000, 1000), (100, 7200, 60, 100), (100, 0, 7200, 200)]
)
def test_the_newest_part_stands_for_the_rest(tokens: int, sampled: float, whole: float, found: int) -> None:
    assert extrapolate(tokens, sampled, whole) == found


def test_an_estimate_is_said_without_more_digits_than_it_has() -> None:
    assert [round_figure(number) for number in (7, 84, 1_234, 14_123_456)] == [7, 84, 1_200, 14_000_000]
    found = IndexingEstimate("some/model", 4_000_000, 10_123_456, 4_000_000, 3 * 3600, 2.1)
    expected = "For the graph, `some/model` takes about 14,000,000 tokens ($2.10) and 3 hours."
    assert describe_estimate(found) == expected
    assert "(price unknown) and 1 minute." in describe_estimate(replace(found, dollars=None, seconds=5))


@pytest.mark.parametrize(
    ("tokens", "dollars", "seconds", "found"),
    [
        (10**7, 1.0, 60.0, True),
        (10**7, 0.4, 60.0, False),
        (10, 0.4, 1800.0, True),
        (10**7, None, 60.0, True),
        (1000, None, 60.0, False),
        (0, 0.0, 0.0, False),
    ],
)
def test_a_person_is_asked_if_it_costs_or_takes_much(
    tokens: int,
    dollars: float | None,
    seconds: float,
    found: bool,  # noqa: FBT001
) -> None:
    assert is_much(tokens, dollars, seconds) is found


async def test_a_history_that_costs_much_is_read_once_a_manager_says_so(workspace: Workspace) -> None:  # noqa: F811
    priced = replace(workspace.context.engine_context, estimator=CostlyEstimator())  # type: ignore[arg-type]
    workspace.context = replace(workspace.context, engine_context=priced)
    await workspace.post("ada", "Mina sold tickets to the harbor today.")
    card = await workspace.command("ada", "backfill 30")
    assert card.text.startswith("This reads the last 30 days of this channel. For the graph, `some/model` takes about")
    [button] = card.buttons
    before = await workspace.context.store.channels.get_horizon(ROOF.room)
    card = await workspace.command("ada", f"{button.action} {button.value}")
    assert card.text.startswith("I'm reading the last 30 days of this channel.")
    after = await workspace.context.store.channels.get_horizon(ROOF.room)
    assert after is not None
    assert before is None or after < before


async def test_a_history_is_estimated_by_its_newest_pages(workspace: Workspace) -> None:  # noqa: F811
    workspace.platform.page_size = 2
    for number in range(8):
        await workspace.post("ada", f"Mina sold {number} tickets to the harbor today.")
    context = workspace.context
    since = context.clock.now() - timedelta(days=30)
    assert await estimate_history(context, ROOF, since) is None, "there is no model"
    asked = replace(context, engine_context=replace(context.engine_context, estimator=FixedEstimator()))  # type: ignore[arg-type]
    found = await estimate_history(asked, ROOF, since)
    workspace.platform.page_size = 100
    whole = await estimate_history(asked, ROOF, since)
    assert found is not None
    assert whole is not None
    assert whole.text_tokens > 8 * 14
    assert found.text_tokens > whole.text_tokens, "more of the same pace is expected further back"
