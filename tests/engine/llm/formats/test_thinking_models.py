"""Which models begin with thoughts that nothing announces is learned from their replies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.llm.config import ModelConfig
from engine.llm.formats.thinking import ThinkingFilter
from engine.llm.formats.thinking_models import ThinkingModels
from engine.llm.traits.remembered import FILE_NAME, load_thinking, save_thinking
from tests.support.clock import ManualClock

OWN = ModelConfig("openai/own", "http://127.0.0.1:1/v1")


def answered(models: ThinkingModels, text: str, *, is_whole: bool = True) -> None:
    answer = ThinkingFilter()
    answer.feed(text)
    models.record_answer(OWN, answer, is_whole=is_whole)


@pytest.mark.parametrize(
    ("model", "held"),
    [
        (OWN, True),
        (ModelConfig("ollama_chat/qwen3"), True),
        (ModelConfig("openrouter/deepseek/deepseek-r1"), True),
        (ModelConfig("gpt-4o-mini"), False),
        (ModelConfig("anthropic/claude"), False),
        (ModelConfig("azure/mine", "https://mine.example"), False),
    ],
)
def test_the_head_of_an_unknown_model_is_held_back_unless_its_provider_separates_thoughts(
    model: ModelConfig, *, held: bool
) -> None:
    assert ThinkingModels(ManualClock()).must_hold(model) is held


def test_one_free_reply_tells_whether_a_model_thinks() -> None:
    models = ThinkingModels(ManualClock())
    models.record_reply(OWN, '{"question": ""}', is_free=False)
    assert models.must_hold(OWN)
    models.record_reply(OWN, "Ada runs the mill.", is_free=True)
    assert not models.must_hold(OWN)
    answered(models, "Hm.</think>Ada.")
    assert models.must_hold(OWN)
    models.record_reply(OWN, "Ada.", is_free=True)
    assert models.must_hold(OWN), "it may think about answers only"
    answered(models, "Ada.")
    assert not models.must_hold(OWN)


def test_a_reply_tells_about_other_temperatures_and_only_thoughts_about_other_efforts() -> None:
    models, brief = ThinkingModels(ManualClock()), replace(OWN, reasoning_effort="lowest")
    models.record_reply(replace(brief, temperature=0.0, max_output_tokens=9), "Ada runs the mill.", is_free=True)
    assert not models.must_hold(brief)
    assert models.must_hold(OWN)
    answered(models, "Ada.")
    assert not models.must_hold(OWN)
    models.record_reply(replace(OWN, reasoning_effort="high"), "Hm.</think>Ada.", is_free=True)
    assert models.must_hold(replace(OWN, reasoning_effort="medium"))
    assert not models.must_hold(OWN), "its own answer tells more"


def test_thoughts_with_an_opening_mark_tell_nothing_about_those_without() -> None:
    models = ThinkingModels(ManualClock())
    models.record_reply(OWN, "<think>Hm.</think>Ada runs the mill.", is_free=True)
    assert models.must_hold(OWN)
    answered(models, "Ada.")
    answered(models, "Hm.</think>Ada.")
    answered(models, "<think>Hm.</think>Ada.")
    assert models.must_hold(OWN)


def test_an_answer_that_was_cut_off_shows_nothing() -> None:
    models = ThinkingModels(ManualClock())
    answered(models, "Ada", is_whole=False)
    assert models.must_hold(OWN)


@pytest.mark.parametrize(
    ("name", "thinks"),
    [("DeepSeek-R1-Distill", True), ("Qwen3-4B-Thinking-2507", True), ("qwen3", False), ("thinkpad", False)],
)
def test_a_name_may_say_that_a_model_thinks(name: str, *, thinks: bool) -> None:
    assert ThinkingModels(ManualClock()).may_be_thinking(ModelConfig(f"hosted_vllm/{name}")) is thinks


def test_a_later_program_starts_with_what_was_learned(tmp_path: Path) -> None:
    models = ThinkingModels(ManualClock())
    answered(models, "Ada.")
    save_thinking(tmp_path, models.list_learned())
    later = ThinkingModels(ManualClock())
    later.recall(load_thinking(tmp_path))
    assert not later.must_hold(OWN)
    assert later.must_hold(replace(OWN, model="openai/other"))


def test_a_later_program_relies_on_replies_without_thoughts_for_some_days_only(tmp_path: Path) -> None:
    clock = ManualClock()
    models, thinker = ThinkingModels(clock), replace(OWN, model="openai/thinker")
    answered(models, "Ada.")
    models.record_reply(thinker, "Hm.</think>Ada.", is_free=True)
    save_thinking(tmp_path, models.list_learned())
    clock.advance(2 * 86_400)
    soon = ThinkingModels(clock)
    soon.recall(load_thinking(tmp_path))
    assert not soon.must_hold(OWN)
    clock.advance(5 * 86_400)
    late = ThinkingModels(clock)
    late.recall(load_thinking(tmp_path))
    assert late.must_hold(OWN)
    assert late.may_be_thinking(thinker)


def test_a_model_that_thinks_all_at_once_is_known_anew_at_each_effort() -> None:
    models, brief = ThinkingModels(ManualClock()), replace(OWN, reasoning_effort="lowest")
    models.record_reply(brief, "Ada runs the mill.", is_free=True)
    answered(models, "Ada.")
    models.record_reply(brief, "Hm.</think>Ada.", is_free=True)
    assert models.must_hold(OWN)


@pytest.mark.parametrize("text", ["", "[]", '{"thinking": 5}', '{"thinking": {"learned": [["a", 1], 5, null]}}'])
def test_a_damaged_file_tells_nothing_about_thoughts(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text, encoding="utf-8")
    models = ThinkingModels(ManualClock())
    models.recall(load_thinking(tmp_path))
    assert models.list_learned() == []
