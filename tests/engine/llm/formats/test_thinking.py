from __future__ import annotations

import pytest

from engine.llm.formats.thinking import strip_thinking


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
