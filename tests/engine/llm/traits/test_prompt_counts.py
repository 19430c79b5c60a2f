from __future__ import annotations

from engine.llm.traits.prompt_counts import PromptCounts
from engine.models import LLMMessage

LONG = [LLMMessage("user", "The mill by the river grinds at noon. " * 1000)]  # about 10,000 tokens


def test_a_prompt_that_was_cut_off_is_named_until_one_is_whole() -> None:
    counts = PromptCounts()
    counts.record("m", LONG, 4_096)
    assert counts.describe("m").startswith("m counted 4,096 tokens of a prompt of about 10,")
    counts.record("m", LONG, 9_100)
    assert counts.list_differences() == []


def test_short_prompts_and_providers_that_count_nothing_say_nothing() -> None:
    counts = PromptCounts()
    counts.record("m", LONG, 0)
    counts.record("m", [LLMMessage("user", "The mill. " * 100)], 5)
    assert counts.list_differences() == []
