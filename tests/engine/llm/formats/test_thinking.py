"""Thoughts stay inside: in every notation, in a whole reply and in a stream, however it is cut."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.llm.formats.thinking import ThinkingFilter, has_unopened_thinking, strip_thinking

THOUGHT = "the mill [2], or x < y"
TAGS = [
    "think",
    "thinking",
    "thought",
    "thoughts",
    "reasoning",
    "reason",
    "THINK",
    "Thought",
    "seed:think",
    "antThinking",
    "longcat_think",
    "thought_process",
    "internal_monologue",
]
MARKED = [
    *(f"<{tag}>{THOUGHT}</{tag}>Ada [1]." for tag in TAGS),
    f"  <think> {THOUGHT}\n</think>\n\nAda [1].",
    f'<think source="model">{THOUGHT}</think>Ada [1].',
    f"<think>{THOUGHT}</think> <think>{THOUGHT}</think>Ada [1].",
    f"<think>{THOUGHT} <think> {THOUGHT}</think>Ada [1].",
    f"<think>{THOUGHT}<think>{THOUGHT}</think>{THOUGHT}</think>Ada [1].",
    f"<thought>{THOUGHT}<think>{THOUGHT}</think>{THOUGHT}</thought>Ada [1].",
    f"Ada <think>{THOUGHT}<think>{THOUGHT}</think>{THOUGHT}</think>[1].",
    f"[THINK]{THOUGHT}[THINK]{THOUGHT}[/THINK]{THOUGHT}[/THINK]Ada [1].",
    f"<think>{THOUGHT}</thinking>Ada [1].",
    f"<think>{THOUGHT}<|/think|>Ada [1].",
    f"<|think|>{THOUGHT}</think>Ada [1].",
    f"<|cot_start|>{THOUGHT}<|cot_end|>Ada [1].",
    f"<|think|>{THOUGHT}<|end|><|begin|>assistant<|content|>Ada [1].<|flush|>",
    f"/think\n{THOUGHT}<|im_end|>\n<|im_start|>assistant\nAda [1].",
    f"<|im_start|>think\n{THOUGHT}\n<|im_start|>answer\nAda [1].",
    f"<SCRATCHPAD_REASONING>{THOUGHT}</SCRATCHPAD_REASONING>\nAda [1].",
    f"<search_quality_reflection>{THOUGHT}</search_quality_reflection>\n\n<result>\nAda [1].\n</result>",
    "<search_quality_score>4</search_quality_score>\nAda [1].",
    f"< think >{THOUGHT}</ think >Ada [1].",
    f"&lt;think&gt;{THOUGHT}&lt;/think&gt;Ada [1].",
    f"\\<think\\>{THOUGHT}\\</think\\>Ada [1].",
    f"```thinking\n{THOUGHT}\n```\nAda [1].",
    f"<|thinking_start|>{THOUGHT}<|thinking_end|>Ada [1].",
    f"<|channel|> analysis <|message|>{THOUGHT}<|end|><|start|>assistant<|channel|> final<|message|>Ada [1].",
    f"<think>{THOUGHT}</think>\n<final_answer>Ada [1].</final_answer>",
    "<think/>Ada [1].",
    f"[THINK]{THOUGHT}[/THINK]Ada [1].",
    f"<think >{THOUGHT}</think >Ada [1].",
    f"\ufeff<think\n>{THOUGHT}</think>Ada [1].",
    f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|channel|>final <|constrain|>json<|message|>Ada [1].",
    "<|channel|>final<|message|>Ada [1].<|return|>",
    f"◁think▷{THOUGHT}◁/think▷Ada [1].",
    f"<|begin_of_thought|>{THOUGHT}<|end_of_thought|>\n<|begin_of_solution|>Ada [1].<|end_of_solution|>",
    f"<|START_THINKING|>{THOUGHT}<|END_THINKING|><|START_RESPONSE|>Ada [1].<|END_RESPONSE|>",
    f"<|inner_prefix|>{THOUGHT}<|inner_suffix|>Ada [1].",
    f"<|channel>thought\n{THOUGHT}<channel|>Ada [1].",
    f"<think>{THOUGHT}</think><answer>Ada [1].</answer>",
    f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>Ada [1].<|return|>",
    f"analysisWe read {THOUGHT}assistantfinalAda [1].",
    f"Here is my thought process:\n{THOUGHT}\nHere is my response:\nAda [1].",
    f"Here are my reasoning steps:\n{THOUGHT}\n[BEGIN FINAL RESPONSE]\nAda [1].\n[END FINAL RESPONSE]",
    f"<inner_thoughts>{THOUGHT}</inner_thoughts>Ada [1].",
    f"<deliberation>{THOUGHT}</deliberation>\n<solution>Ada [1].</solution>",
    f"<plan>{THOUGHT}</plan>\n\nAda [1].",
    f"<draft>{THOUGHT}</draft>\n\nAda [1].",
    f"＜think＞{THOUGHT}＜/think＞Ada [1].",
    f"＜thinking＞{THOUGHT}＜／thinking＞Ada [1].",
    f"<｜begin▁of▁thinking｜>{THOUGHT}<｜end▁of▁thinking｜>Ada [1].",
    f"<think>{THOUGHT}</think>\n<|begin_of_box|>Ada [1].<|end_of_box|>",
    f"<think>{THOUGHT}</think>Ada <|begin_of_box|>[1]<|end_of_box|>.",
    f"<details><summary>Thinking</summary>{THOUGHT}</details>\nAda [1].",
    f"<details open>\n<summary><b>Reasoning</b></summary>\n{THOUGHT}\n</details>\nAda [1].",
    f"**Thinking:** {THOUGHT}\n\n**Answer:** Ada [1].",
    f"*Thinking...*\n{THOUGHT}\n\n*Answer:* Ada [1].",
    f"Thought: {THOUGHT}\nFinal Answer: Ada [1].",
    f"**Réflexion :** {THOUGHT}\n\n**Réponse :** Ada [1].",
    f"【思考】{THOUGHT}\n【回答】Ada [1].",
    f"【思考】{THOUGHT}【/思考】Ada [1].",
    f"<思考>{THOUGHT}</思考>Ada [1].",
    f"<ant_thinking>{THOUGHT}</ant_thinking>Ada [1].",
    f"Thinking...\n{THOUGHT}\n...done thinking.\n\nAda [1].",
    f"Thinking Process:\n\n1. {THOUGHT}\n</think>\n\nAda [1].",
    f"> **Thinking...**\n> {THOUGHT}\n>\n> {THOUGHT}\n\nAda [1].",
    f"> 💭 **Thinking**\n> {THOUGHT}\n\nAda [1].",
    f"*Thinking...*\n\n> {THOUGHT}\n\nAda [1].",
    f"<chain-of-thought>{THOUGHT}</chain-of-thought>Ada [1].",
    f"<my_thinking>{THOUGHT}</my_thinking>Ada [1].",
    f"(thinking: {THOUGHT})\n\nAda [1].",
    f"<!-- thinking: {THOUGHT} -->\nAda [1].",
    f"#### Thought process\n{THOUGHT}\n#### Answer\nAda [1].",
    f"## Thought process\n{THOUGHT}\n## Final answer\nAda [1].",
    f"**Überlegung:** {THOUGHT}\n**Antwort:** Ada [1].",
    f"Razonamiento:\n{THOUGHT}\n\nRespuesta: Ada [1].",
    f"Ada [1]. <think>{THOUGHT}</think>",
    f"Ada [1].\n<thinking>{THOUGHT}",
]
UNOPENED = [
    *(f"{THOUGHT}\n</{tag}>\n\nAda [1]." for tag in TAGS),
    f"{THOUGHT}[/THINK]Ada [1].",
    f"{THOUGHT}◁/think▷Ada [1].",
    f"{THOUGHT}<|think:end|>Ada [1].",
    f"Say `</think>` or\n<not closed {THOUGHT}</think>Ada [1].",
]
PLAIN = [
    "",
    "Ada [1].",
    "  Ada\n\n```\n<think>x</think>\n```\nruns [1].",
    "Use `<think>` and `</think>` for it.",
    'The tag "</think>" ends it.',
    "Analysis shows it, analysis of mills [1].",
    "analysis of mills",
    "```python\nx = 1\n```\nruns [1].",
    "Here is my answer [1].",
    "<thinker> is a word",
    "[Think] about Ada [1].",
    "Ada: [Thinking] aloud [1].",
    "about <think> tags",
    "2 < 3, [thin ice], <thi",
    "<answer>Ada</answer>",
    "**Thinking:** is what Ada teaches [1].",
    "**Reasoning:** the mill is old.\n\nSo Ada repairs it [1].",
    "Ada said <plan>x</plan> [1].",
    "<details><summary>Costs</summary>Ada [1].</details>",
    "> Reasoning:\n> the bridge is too old.\n\nThat is the quotation from the report [2].",
    "> **Thoughts**\n> the bridge is too old.\n\nThat is the quotation from the report [2].",
    "**Answer:** Ada [1].",
    "<plan>Ada builds the mill [1].</plan>",
]
CUTS = st.lists(st.integers(0, 200), max_size=9)


def stream(reply: str, cuts: list[int], *, hold_head: bool = True) -> str:
    bounds = [0, *sorted(cut % (len(reply) + 1) for cut in cuts), len(reply)]
    filter_ = ThinkingFilter(hold_head=hold_head)
    return "".join(filter_.feed(reply[a:b]) for a, b in itertools.pairwise(bounds)) + filter_.finish()


@pytest.mark.share(3)
@pytest.mark.parametrize("reply", [*MARKED, *UNOPENED])
@settings(max_examples=15)
@given(cuts=CUTS)
def test_only_the_answer_is_left(reply: str, cuts: list[int]) -> None:
    assert stream(reply, cuts).strip() == strip_thinking(reply).strip() == "Ada [1]."


@pytest.mark.share(3)
@pytest.mark.parametrize("reply", MARKED)
@settings(max_examples=15)
@given(cuts=CUTS)
def test_opened_thoughts_are_hidden_without_holding_the_head_back(reply: str, cuts: list[int]) -> None:
    assert stream(reply, cuts, hold_head=False).strip() == "Ada [1]."


@pytest.mark.parametrize("reply", PLAIN)
@settings(max_examples=15)
@given(cuts=CUTS)
def test_text_is_unchanged(reply: str, cuts: list[int]) -> None:
    assert stream(reply, cuts) == stream(reply, cuts, hold_head=False) == strip_thinking(reply) == reply


@pytest.mark.parametrize(
    ("reply", "visible"),
    [
        ("one <think>hm</think>and <THINK>hm</THINK>two", "one and two"),
        ("one <think>hm</think>, two </think>three", "three"),
        ("<think>hm", ""),
        ("<think>hm</think> <think>again", ""),
        ("<think>hm</think>\n", ""),
    ],
)
def test_a_whole_reply_may_take_text_back(reply: str, visible: str) -> None:
    assert strip_thinking(reply) == visible


@pytest.mark.parametrize("reply", UNOPENED)
def test_a_reply_without_an_opening_mark_is_recognized(reply: str) -> None:
    assert has_unopened_thinking(reply)


@pytest.mark.parametrize("reply", [*PLAIN, *MARKED])
def test_other_replies_are_not(reply: str) -> None:
    assert not has_unopened_thinking(reply)


def test_an_answer_is_shown_at_once_if_its_head_need_not_be_held_back() -> None:
    filter_ = ThinkingFilter(hold_head=False)
    assert [filter_.feed(delta) for delta in ("Hello", " <thi", "s>")] == ["Hello", " ", "<this>"]


def test_a_head_without_a_mark_comes_at_the_end_or_stays_hidden() -> None:
    for hidden, shown in ((False, "Let me see. Ada"), (True, "")):
        filter_ = ThinkingFilter()
        assert filter_.feed("Let me see. ") + filter_.feed("Ada") == ""
        assert filter_.finish(hide_head=hidden) == shown


def test_a_head_without_end_is_thoughts() -> None:
    filter_ = ThinkingFilter()
    for _ in range(60):
        assert filter_.feed("word " * 400) == ""
    assert filter_.feed("</think>Ada") + filter_.finish() == "Ada"


@pytest.mark.share(3)
@pytest.mark.parametrize("unit", ["<think>a</think>b", "<think>", "a</think>", "<", "`<think>", "<think ", "analysisW"])
@pytest.mark.parametrize("delta", [3, 100_000])
def test_the_time_grows_with_the_text(unit: str, delta: int) -> None:
    def cost(length: int) -> float:
        text, filter_, started = (unit * length)[:length], ThinkingFilter(), time.process_time()
        for at in range(0, length, delta):
            filter_.feed(text[at : at + delta])
        filter_.finish()
        return time.process_time() - started

    assert any(cost(20_000) <= 3 * cost(10_000) + 0.01 for _ in range(3))  # the machine may be busy


def test_a_blank_before_thoughts_within_a_line_stays() -> None:
    assert strip_thinking(f"<think>{THOUGHT}</think>Ada.<think>{THOUGHT}</think> Bo.") == "Ada. Bo."
