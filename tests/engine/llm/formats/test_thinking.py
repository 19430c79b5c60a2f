from __future__ import annotations

import pytest

from engine.llm.formats.thinking import strip_thinking


@pytest.mark.parametrize(
    ("reply", "said"),
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
def test_only_what_was_said_is_left(reply: str, said: str) -> None:
    assert strip_thinking(reply) == said
