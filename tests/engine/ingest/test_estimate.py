from __future__ import annotations

from engine.ingest.estimate import CALL_SECONDS, CALL_TEXT_TOKENS, estimate_indexing
from engine.llm.client.protocol import ModelTraits
from engine.llm.traits.description import _find_price

PRICED = ModelTraits(price_known=True, input_price=1e-6, output_price=4e-6)


def test_an_estimate_grows_with_the_text_and_its_price_with_both_directions() -> None:
    found = estimate_indexing(1_000_000, "some/model", PRICED, 8)
    assert found.tokens == found.input_tokens + found.output_tokens > found.text_tokens
    assert found.dollars == (found.input_tokens + 4 * found.output_tokens) / 1e6
    assert estimate_indexing(2_000_000, "some/model", PRICED, 8).tokens == 2 * found.tokens


def test_calls_at_once_take_the_time_of_one() -> None:
    text = 8 * CALL_TEXT_TOKENS
    assert estimate_indexing(text, "m", PRICED, 8).seconds == CALL_SECONDS
    assert estimate_indexing(text, "m", PRICED, 2).seconds == 4 * CALL_SECONDS


def test_a_price_that_is_not_known_stays_unknown() -> None:
    assert estimate_indexing(1000, "m", ModelTraits(), 8).dollars is None


def test_the_price_that_a_provider_states_comes_first() -> None:
    known = {"input_cost_per_token": 2e-6}
    assert _find_price("input_cost_per_token", "prompt", known, {}) == 2e-6
    assert _find_price("input_cost_per_token", "prompt", known, {"pricing": {"prompt": "0.000001"}}) == 1e-6
    assert _find_price("input_cost_per_token", "prompt", {}, {"pricing": "on request"}) == 0.0
