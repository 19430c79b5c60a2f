from __future__ import annotations

import pytest

from engine.llm.client.content import MIN_CACHED_CHARACTERS, render_content
from engine.llm.config import ModelConfig
from engine.models import LLMMessage

RULES = "Follow the rules. " * (MIN_CACHED_CHARACTERS // 18 + 1)
CLAUDE, OTHER = ModelConfig("anthropic/claude-x"), ModelConfig("openai/gpt-x")
LONG = LLMMessage("system", RULES + "The context.", shared=len(RULES))


@pytest.mark.parametrize(
    "name", ["anthropic/claude-x", "bedrock/eu.anthropic.Claude-y", "openrouter/anthropic/claude-z"]
)
def test_a_long_beginning_that_calls_share_is_marked_for_claude(name: str) -> None:
    rendered = render_content(LONG, ModelConfig(name))
    assert isinstance(rendered, list)
    first, rest = rendered
    assert first == {"type": "text", "text": RULES, "cache_control": {"type": "ephemeral"}}
    assert rest == {"type": "text", "text": "The context."}


def test_nothing_is_marked_for_other_models_nor_where_it_is_too_short() -> None:
    assert render_content(LONG, OTHER) == LONG.content
    short = LLMMessage("system", RULES, shared=MIN_CACHED_CHARACTERS - 1)
    assert render_content(short, CLAUDE) == RULES


def test_a_message_that_is_shared_whole_is_one_part() -> None:
    whole = render_content(LLMMessage("system", RULES, shared=len(RULES)), CLAUDE)
    assert [part["text"] for part in whole if isinstance(part, dict)] == [RULES]


def test_pictures_follow_the_text() -> None:
    rendered = render_content(LLMMessage("user", "Look:", (b"\xff",)), OTHER)
    assert isinstance(rendered, list)
    text, picture = rendered
    assert text == {"type": "text", "text": "Look:"}
    assert isinstance(picture, dict)
    assert picture["image_url"] == {"url": "data:image/jpeg;base64,/w=="}
