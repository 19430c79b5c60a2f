from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.errors import BadSetting
from bot.model_setup.roles import build_context_window
from bot.settings import load_settings
from engine.llm.traits.remembered import save_facts
from engine.options import MIN_CONTEXT_TOKENS, ContextWindow


def find_window(folder: Path, model: str, remembered: int, **others: Any) -> ContextWindow:
    """The window of a model of which a check found one."""
    if remembered:
        save_facts(folder, {model: {"window": remembered, "window_origin": "provider"}})
    return build_context_window(load_settings(data_dir=folder, llm_model=model, **others))


@pytest.mark.parametrize(
    ("model", "remembered", "reply", "size"),
    [
        ("hosted_vllm/small", 8_192, 8_192, 8_192),
        ("hosted_vllm/small", 1_024, None, MIN_CONTEXT_TOKENS),
        ("hosted_vllm/small", MIN_CONTEXT_TOKENS, 4_096, MIN_CONTEXT_TOKENS),
        ("ollama_chat/small", 0, 16_384, 16_384),
        ("ollama_chat/small", 1_024, None, MIN_CONTEXT_TOKENS),
    ],
)
def test_a_window_that_nobody_set_keeps_nothing_from_starting(
    tmp_path: Path, model: str, remembered: int, reply: int | None, size: int
) -> None:
    window = find_window(tmp_path, model, remembered, llm_max_output_tokens=reply)
    assert (window.size, window.reply) == (size, reply or 0)
    assert window.max_excerpt_tokens > 0


@pytest.mark.parametrize(
    ("model", "name"), [("hosted_vllm/small", "llm_context_tokens"), ("ollama_chat/small", "ollama_num_ctx")]
)
def test_a_window_that_was_set_too_small_is_named(tmp_path: Path, model: str, name: str) -> None:
    with pytest.raises(BadSetting, match=f"THREADLORE_{name.upper()} must be"):
        find_window(tmp_path, model, 8_192, **{name: 1_024})
    with pytest.raises(BadSetting, match=f"THREADLORE_{name.upper()} cannot be used"):
        find_window(tmp_path, model, 0, llm_max_output_tokens=8_192, **{name: 8_192})
