from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.terminal import LineWrapper, display_width, strip_control_chars

PIECES = st.lists(st.text(alphabet="ab c[1].\né字", max_size=12), max_size=20)


def wrapped(pieces: Sequence[str], width: int) -> str:
    wrap = LineWrapper(width)
    return "".join(map(wrap.feed, pieces)) + wrap.finish()


@pytest.mark.parametrize(
    ("pieces", "width", "lines"),
    [
        (["The ferry ", "leaves at no", "on [1]."], 16, "The ferry leaves\nat noon [1]."),
        (["see https://town.example/very/long now"], 10, "see\nhttps://town.example/very/long\nnow"),
        (["- one\n  - two\n\nthree"], 40, "- one\n  - two\n\nthree"),
        (["字字 字字"], 8, "字字\n字字"),
        (["word " * 40], 0, ("word " * 40).rstrip()),
    ],
    ids=["at a space", "a long word", "line ends and indents", "wide characters", "no width"],
)
def test_lines_break_before_they_are_too_long(pieces: list[str], width: int, lines: str) -> None:
    assert wrapped(pieces, width) == lines


@given(PIECES, st.integers(1, 20))
def test_no_word_is_lost_and_no_line_of_several_words_is_too_long(pieces: list[str], width: int) -> None:
    text = wrapped(pieces, width)
    assert text.split() == "".join(pieces).split()
    for line in text.split("\n"):
        assert display_width(line) <= width or len(line.split()) <= 1


@given(PIECES, st.integers(0, 20))
def test_it_does_not_matter_how_the_text_comes(pieces: list[str], width: int) -> None:
    assert wrapped(pieces, width) == wrapped(["".join(pieces)], width)


@pytest.mark.parametrize(
    ("given_", "shown"),
    [("\x1b[2Jgone", "[2Jgone"), ("a\r\nb\tc\rd", "a\nb    cd"), ("\u202eabc\u2069", "abc"), ("\x9b31mred", "31mred")],
)
def test_nothing_is_left_that_a_terminal_would_obey(given_: str, shown: str) -> None:
    assert strip_control_chars(given_) == shown


@given(st.text())
def test_harmless_text_has_no_control_characters(text: str) -> None:
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", strip_control_chars(text))
