from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.offline.text.sentences import (
    MAX_SENTENCE_LENGTH,
    ChatLine,
    parse_chat_line,
    split_chat_lines,
    split_sentences,
)


def test_prose_is_cut_at_its_full_stops() -> None:
    assert split_sentences("One is here. Is two? “Three!” Four") == ["One is here.", "Is two?", "“Three!”", "Four"]


@pytest.mark.parametrize(
    "whole",
    [
        "Dr. Marsh and Mrs. Oak came.",
        "It opens at 9 a.m. on No. 4 Mill Lane.",
        "Version v2.3.1 costs 3.50 now.",
        "J. R. Holm wrote it.",
        "See e.g. the U.S. report.",
        "Wait … what it says is true.",
    ],
)
def test_abbreviations_initials_and_numbers_end_nothing(whole: str) -> None:
    assert split_sentences(whole) == [whole]


def test_scripts_without_blanks_are_cut_at_their_own_stops() -> None:
    assert split_sentences("門が開く。鐘が鳴る！") == ["門が開く。", "鐘が鳴る！"]


def test_list_items_and_headings_are_sentences_and_wrapped_lines_are_joined() -> None:
    text = "Rules\n\n- knock first\n- wipe your\n  feet\n1. leave"
    assert split_sentences(text) == ["Rules", "knock first", "wipe your feet", "leave"]


def test_rows_of_a_table_come_with_the_heads_of_their_columns() -> None:
    assert split_sentences("Day | Opens | Remark\nMonday | 9:00 |\nTuesday | | closed") == [
        "Day: Monday; Opens: 9:00",
        "Day: Tuesday; Remark: closed",
    ]


def test_a_chat_line_tells_who_spoke_and_when() -> None:
    line = parse_chat_line("[2026-05-12 10:03] Ada Byron: see: two\nlines")
    assert line == ChatLine("2026-05-12 10:03", "Ada Byron", "see: two\nlines")
    assert parse_chat_line("Ada Byron: no time") is None


def test_a_conversation_is_cut_into_its_lines() -> None:
    text = "Head\n[2026-05-12 10:03] Ada: one\nmore\n[2026-05-12 10:04] Bo: two"
    assert split_chat_lines(text) == [
        "Head",
        ChatLine("2026-05-12 10:03", "Ada", "one\nmore"),
        ChatLine("2026-05-12 10:04", "Bo", "two"),
    ]


@given(st.text(alphabet="ab .!?\n|-1É。", max_size=300))
def test_no_character_but_blanks_and_marks_is_lost(text: str) -> None:
    joined = "".join(split_sentences(text))
    assert all(joined.count(letter) >= text.count(letter) for letter in "abÉ") or "|" in text


@given(st.integers(1, 3000))
def test_no_sentence_is_endless(words: int) -> None:
    found = split_sentences("word " * words)
    assert all(len(sentence) <= MAX_SENTENCE_LENGTH for sentence in found)
    assert " ".join(found).split() == ["word"] * words
