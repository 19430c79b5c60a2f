from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.formats.thinking_stream import ThinkingFilter


def shown(text: str, cuts: list[int]) -> str:
    stream = ThinkingFilter()
    bounds = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    pieces = [text[start:stop] for start, stop in itertools.pairwise(bounds)]
    return "".join(stream.feed(piece) for piece in pieces) + stream.finish()


@pytest.mark.parametrize(
    ("said", "left"),
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
def test_thoughts_at_the_head_are_hidden_however_the_stream_is_cut(said: str, left: str, cuts: list[int]) -> None:
    assert shown(said, cuts) == left


def test_the_answer_is_not_held_back_once_it_has_begun() -> None:
    stream = ThinkingFilter()
    assert stream.feed("Hello") == "Hello"
    assert stream.feed(" <think") == " <think"
