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
        [],
    ],
)
def test_a_reply_that_repeats_a_word_is_as_it_is(deltas: list[str]) -> None:
    assert read(*deltas) == "".join(deltas)
