"""A stream whose deltas repeat what came before gives each text once."""

from __future__ import annotations

from itertools import accumulate

import pytest

from engine.llm.wire.repeated_deltas import RepeatedDeltas

WORDS = ["Ada ", "runs ", "the ", "old ", "mill ", "[1]."]


def read(*deltas: str) -> str:
    stream = RepeatedDeltas()
    return "".join(map(stream.feed, deltas)) + stream.finish()


@pytest.mark.parametrize(
    "deltas",
    [
        WORDS,
        [*accumulate(WORDS)],
        [*accumulate("".join(WORDS))],
        [*accumulate(WORDS), "".join(WORDS)],
        [*WORDS, "".join(WORDS)],
        [*WORDS, ""],
        [word for word in WORDS for _ in range(2)],
    ],
)
def test_each_text_comes_once(deltas: list[str]) -> None:
    assert read(*deltas) == "".join(WORDS)


@pytest.mark.parametrize(
    "deltas",
    [
        ["ha", "haha", "!"],
        ["ha", "haha"],
        ["Ada ", "Ada runs it."],
        ["\n", "\n\n", "\n\n\n", "Ada."],
        ["1", "10", "0"],
        ["no, ", "no, ", "no, ", "no."],
        ["Yes", "Yes"],
        [*"高高兴兴"],
        [*"妈妈爸爸"],
        [],
        ["1", "1", "2", "2", "3", "3", " is the code."],
        [*["ha "] * 40, "she laughed."],
        ["bye ", "bye ", "so ", "so ", "long"],
    ],
)
def test_a_reply_that_repeats_a_word_is_as_it_is(deltas: list[str]) -> None:
    assert read(*deltas) == "".join(deltas)


@pytest.mark.parametrize(
    ("deltas", "text"),
    [
        (["Yes", "Yes", " [1].", " [1]."], "Yes [1]."),
        (["Ada ", "Ada ", "saw ", "saw ", "the ", "the ", "the ", "the ", "mill.", "mill."], "Ada saw the the mill."),
        (["Ada ", "Ada ", "saw ", "saw ", "a ", "a ", "mill", "mill", "."], "Ada saw a mill."),
    ],
)
def test_a_stream_that_sends_each_delta_twice_gives_each_once(deltas: list[str], text: str) -> None:
    assert read(*deltas) == text


def test_what_is_no_pair_is_not_held_back() -> None:
    stream = RepeatedDeltas()
    assert [stream.feed(word) for word in ("Ada ", "runs ", "runs ")] == ["Ada ", "runs ", "runs "]
