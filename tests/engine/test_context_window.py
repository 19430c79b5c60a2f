from __future__ import annotations

from dataclasses import replace

import pytest

from engine.errors import PromptTooLong
from engine.models import Question, Scope
from engine.options import MIN_CONTEXT_TOKENS, ChunkingOptions, ContextWindow, SummaryLimits

QUESTION = Question("Who?", Scope(frozenset(), frozenset()))


@pytest.mark.parametrize("window", [ContextWindow(), ContextWindow(128_000)], ids=["unknown", "large"])
def test_an_unknown_or_a_large_context_changes_nothing(window: ContextWindow) -> None:
    assert window.fit_question(QUESTION) is QUESTION
    assert window.fit_chunking(ChunkingOptions()) == ChunkingOptions()
    assert window.fit_summary_limits(SummaryLimits()) == SummaryLimits()


@pytest.mark.parametrize("size", [MIN_CONTEXT_TOKENS, 4096, 8192, 16_384, 32_768])
def test_every_budget_fits_into_the_context_beside_the_reply(size: int) -> None:
    window = ContextWindow(size)
    question, chunking = window.fit_question(QUESTION), window.fit_chunking(ChunkingOptions())
    limits, room = window.fit_summary_limits(SummaryLimits()), size - window.reply_tokens
    assert window.reply_tokens >= 500
    assert question.max_total_tokens <= room
    assert question.max_entity_tokens + question.max_relation_tokens < question.max_total_tokens / 2
    assert chunking.size + 800 <= room
    assert chunking.overlap < chunking.target_size < chunking.size
    assert limits.call_tokens + 250 <= room
    assert limits.join_tokens < limits.call_tokens


def test_a_question_that_asks_for_less_keeps_its_budgets() -> None:
    small = replace(QUESTION, max_total_tokens=1000)
    assert ContextWindow(4096).fit_question(small) is small


def test_a_reserve_can_be_chosen_and_leaves_room_for_a_prompt() -> None:
    assert ContextWindow(8192, 3000).reply_tokens == 3000
    with pytest.raises(ValueError, match="too few"):
        ContextWindow(4096, 4000)


def test_a_prompt_that_is_too_long_is_refused_with_a_hint() -> None:
    ContextWindow().check_prompt_size(10**9, "m")
    window = ContextWindow(4096, 1000)
    window.check_prompt_size(3096, "m")
    with pytest.raises(PromptTooLong, match=r"has 3,097 tokens, but m accepts 4,096, of which 1,000") as caught:
        window.check_prompt_size(3097, "m")
    assert "THREADLORE_LLM_CONTEXT_TOKENS" in caught.value.hint
