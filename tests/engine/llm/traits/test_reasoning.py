from __future__ import annotations

from typing import Any

import pytest

from engine.llm.traits.reasoning import choose_effort

REASONS = {"supports_reasoning": True}


@pytest.mark.parametrize(
    ("wanted", "provider", "traits", "sent"),
    [
        ("", "openai", REASONS, ""),
        ("default", "openai", REASONS, ""),
        ("high", "openai", {}, "high"),
        ("lowest", "openai", {}, ""),
        ("lowest", "openai", REASONS, "low"),
        ("lowest", "openai", {**REASONS, "supports_minimal_reasoning_effort": True}, "minimal"),
        ("lowest", "azure", {**REASONS, "supports_none_reasoning_effort": True}, "none"),
        ("lowest", "openai", {**REASONS, "reasoning_effort_levels": ["high", "medium"]}, "medium"),
        ("lowest", "anthropic", REASONS, ""),
        ("lowest", "ollama_chat", {}, "none"),
        ("lowest", "hosted_vllm", {}, ""),
    ],
)
def test_the_lowest_effort_that_a_model_offers_is_sent(
    wanted: str, provider: str, traits: dict[str, Any], sent: str
) -> None:
    assert choose_effort(wanted, provider, f"{provider}/some-model", traits) == sent


def test_models_that_always_reason_get_their_lowest_level() -> None:
    assert choose_effort("lowest", "ollama_chat", "ollama_chat/gpt-oss:20b", {}) == "low"
    assert choose_effort("lowest", "gemini", "gemini/gemini-some-flash", REASONS) == "minimal"
