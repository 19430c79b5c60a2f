from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.formats.thinking import ThinkingFilter, strip_thinking


@pytest.mark.parametrize(
    ("reply", "visible"),
    [
        ("answer", "answer"),
        ("<think>hm</think>answer", "answer"),
        ("<think>hm\n<think>deeper</think>answer", "answer"),
        ("hm</think>answer", "answer"),
        ("one <think>hm</think>and <THINK>hm</THINK>two", "one and two"),
        ("<think>hm", ""),
        ("<think>hm</think> <think>again", ""),
        ("answer about <think> tags", "answer about <think> tags"),
        ("", ""),
    ],
)
def test_only_the_answer_is_left(reply: str, visible: str) -> None:
    assert strip_thinking(reply) == visible


@pytest.mark.parametrize(
    ("reply", "visible"),
    [
        ("Plain answer.", "Plain answer."),
        ("<think>hm</think>\n\nThe answer.", "The answer."),
        ("  <think>a < b </thin k></think> x", "x"),
        ("<thinker> is a word", "<thinker> is a word"),
        ("2 <think>3</think>", "2 <think>3</think>"),
        ("<think>never ended", ""),
        ("<thi", "<thi"),
        ("", ""),
    ],
)
@given(cuts=st.lists(st.integers(0, 60), max_size=8))
def test_leading_thinking_is_hidden_however_the_stream_is_cut(reply: str, visible: str, cuts: list[int]) -> None:
    stream, bounds = ThinkingFilter(), [0, *sorted(cut % (len(reply) + 1) for cut in cuts), len(reply)]
    shown = [stream.feed(reply[start:stop]) for start, stop in itertools.pairwise(bounds)]
    assert "".join(shown) + stream.finish() == visible


def test_the_answer_is_not_held_back_once_it_has_begun() -> None:
    stream = ThinkingFilter()
    assert [stream.feed("Hello"), stream.feed(" <think")] == ["Hello", " <think"]
