from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.errors import BadSetting
from bot.model_setup.roles import (
    build_context_window,
    chat_model_settings,
    embedding_model_settings,
    rerank_model_settings,
    vision_model_settings,
)
from bot.settings import Settings, load_settings
from engine import ModelConfig
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


KEY = "sk-proj-0123456789abcdefghij"


@pytest.mark.parametrize(
    ("build", "settings", "words"),
    [
        (chat_model_settings, {"llm_model": KEY}, r"THREADLORE_LLM_MODEL: This is an API key \(openai\)"),
        (chat_model_settings, {"llm_model": "http://localhost:11434"}, "THREADLORE_LLM_MODEL: This is an address"),
        (
            chat_model_settings,
            {"llm_model": "anthropic/claude-haiku-4-5", "llm_api_key": KEY},
            "THREADLORE_LLM_API_KEY: This is a key of openai, but anthropic/claude-haiku-4-5 is of anthropic",
        ),
        (embedding_model_settings, {"embedding_model": KEY}, "THREADLORE_EMBEDDING_MODEL: This is an API key"),
        (rerank_model_settings, {"rerank_model": KEY}, "THREADLORE_RERANK_MODEL: This is an API key"),
        (vision_model_settings, {"vision_model": KEY}, "THREADLORE_VISION_MODEL: This is an API key"),
    ],
)
def test_what_is_in_a_wrong_place_is_refused_without_being_shown(
    tmp_path: Path, build: Callable[[Settings], ModelConfig], settings: dict[str, str], words: str
) -> None:
    with pytest.raises(BadSetting, match=words) as refused:
        build(load_settings(data_dir=tmp_path, **settings))
    assert KEY not in f"{refused.value} {refused.value.hint}"


def test_a_key_of_any_kind_goes_to_a_server_of_ones_own(tmp_path: Path) -> None:
    given = {"llm_model": "anthropic/own", "llm_api_key": KEY, "llm_api_base": "http://localhost:4000"}
    assert chat_model_settings(load_settings(data_dir=tmp_path, **given)).api_key == KEY
