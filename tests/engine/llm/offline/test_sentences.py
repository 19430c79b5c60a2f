from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.offline.sentences import (
    MAX_CHARACTERS,
    MAX_SENTENCE_LENGTH,
    ChatLine,
    merge_lead_sentences,
    split_chat_lines,
    split_sentences,
)


def test_every_fragment_leads_before_any_goes_on_and_none_is_emptied() -> None:
    text = merge_lead_sentences([f"One leads. {'Second of one. ' * 400}", "Two leads.", "one  LEADS."])
    assert text.startswith("One leads. ")
    assert "Two leads." in text
    assert text.casefold().count("one leads.") == 1
    assert (merge_lead_sentences(["word"]), merge_lead_sentences([])) == ("word", "")


@given(st.lists(st.text(max_size=500), max_size=30))
def test_a_summary_is_bounded(fragments: list[str]) -> None:
    assert len(merge_lead_sentences(fragments)) <= MAX_CHARACTERS + 400


@pytest.mark.parametrize(
    "sentences",
    [
        ["One is here.", "Is two?", "“Three!”", "Four"],
        ["Dr. Marsh and Mrs. Oak came."],
        ["It opens at 9 a.m. on No. 4 Mill Lane."],
        ["Version v2.3.1 costs 3.50 now."],
        ["J. R. Holm wrote it."],
        ["See e.g. the U.S. report."],
        ["Ebbe is in the U.S.", "Anna is in the U.K.", "Ben is here."],
        ["The U.S. Supreme Court sat in Washington, D.C.", "It was cold."],
        ["Wait … what it says is true."],
    ],
)
def test_prose_is_cut_at_its_full_stops_not_at_abbreviations(sentences: list[str]) -> None:
    assert split_sentences(" ".join(sentences)) == sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("門が開く。鐘が鳴る！", ["門が開く。", "鐘が鳴る！"]),
        ("Rules\n\n- knock first\n- wipe your\n  feet\n1. leave", ["Rules", "knock first", "wipe your feet", "leave"]),
        (
            "Day | Opens | Remark\nMonday | 9:00 |\nTuesday | | closed",
            ["Day: Monday; Opens: 9:00", "Day: Tuesday; Remark: closed"],
        ),
    ],
)
def test_lists_tables_and_other_scripts_are_cut_at_their_own_ends(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


def test_a_conversation_is_cut_into_its_lines() -> None:
    text = "Head: no time\n[2026-05-12 10:03] Ada Byron: see: one\nmore\n[2026-05-12 10:04] Bo: two"
    lines = [ChatLine("2026-05-12 10:03", "Ada Byron", "see: one\nmore"), ChatLine("2026-05-12 10:04", "Bo", "two")]
    assert split_chat_lines(text) == ["Head: no time", *lines]


@given(st.text(alphabet="ab .!?\n|-1É。", max_size=300))
def test_no_character_but_blanks_and_marks_is_lost(text: str) -> None:
    joined = "".join(split_sentences(text))
    assert all(joined.count(letter) >= text.count(letter) for letter in "abÉ") or "|" in text


@given(st.integers(1, 3000))
def test_no_sentence_is_endless(words: int) -> None:
    found = split_sentences("word " * words)
    assert all(len(sentence) <= MAX_SENTENCE_LENGTH for sentence in found)
    assert " ".join(found).split() == ["word"] * words
