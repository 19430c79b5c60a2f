from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.offline.words import (
    MAX_KEPT_LENGTH,
    UPPER,
    content_stems,
    content_words,
    date_stems,
    has_price,
    is_common,
    is_stop_word,
    split_words,
    stem,
)

SAME = "cost costs costing|fit fits fitted fitting|promise promised promises|ferry ferries|hold held holds|box boxes"
SAME_IRREGULAR = "write wrote written|move moved moving|degree degrees|agree agreed|Hamid Hamid's"
DIFFERENT = "bus bush|wine win|care car|bring ring|class clan|no-1 no-2|17-B 17-C"


@pytest.mark.parametrize(("groups", "same"), [(SAME, True), (SAME_IRREGULAR, True), (DIFFERENT, False)])
def test_the_forms_of_a_word_share_a_stem_and_different_words_do_not(groups: str, same: bool) -> None:  # noqa: FBT001
    for group in groups.split("|"):
        assert (len(set(map(stem, group.split()))) == 1) is same, group


def test_ids_prices_times_and_handles_stay_whole() -> None:
    text = "permit 17-B costs €8.20 at 19:40 v2.3.1 snake_case @ada in #har-bour don't 50%"
    assert split_words(text.replace(" @", ", @")) == text.split()


def test_scripts_without_spaces_are_split_into_pairs() -> None:
    assert content_words("A4用紙はどこですか") == ["A4", "用紙", "紙は"]


def test_content_words_say_something_and_stand_once() -> None:
    words = content_words("How much are the tickets, and is a ticket for the ferry dear?")
    assert words == ["tickets", "ferry", "dear"]
    assert (is_stop_word("The"), is_common("Please"), is_common("Ploughman")) == (True, True, False)
    assert [has_price(text) for text in ("€5", "five euros", "it is free", "five boats")] == [True, True, True, False]


@pytest.mark.parametrize(("letters", "capital"), [("AÉŁΩЖ", True), ("aéłω門ع1_", False)])
def test_capital_letters_are_those_of_scripts_that_have_some(letters: str, capital: bool) -> None:  # noqa: FBT001
    assert all(bool(re.fullmatch(UPPER, letter)) is capital for letter in letters)


@given(st.text(max_size=40))
def test_a_stem_is_never_longer_than_its_word_folded(word: str) -> None:
    assert len(stem(word)) <= max(len(word.casefold()), 6)


def test_the_stems_of_sentences_are_kept_and_those_of_whole_sources_are_not() -> None:
    sentence = "The tiles come on Monday. "
    assert content_stems(sentence) is content_stems(sentence)
    source = sentence * (MAX_KEPT_LENGTH // len(sentence) + 1)
    assert content_stems(source) is not content_stems(source)
    assert content_stems(source) == content_stems(sentence)


def test_contractions_of_function_words_say_nothing() -> None:
    words = ("I’ve", "I'm", "isn’t", "don't", "can't", "won't", "it's", "Ada's", "l’eau")
    assert [word for word in words if not is_stop_word(word)] == ["Ada's", "l’eau"]


@pytest.mark.parametrize(
    ("text", "stems"),
    [
        ("Besichtigt am 9.5.: die Mühle", {"9", "mai", "mayo"}),
        ("am 19.05. um 8", {"19", "mai"}),
        ("am 9.5.2026", {"9", "mai"}),
        ("el 19/05/2026 a las 9", {"19", "mayo"}),
        ("2/03 of the crew", set()),
        ("a ratio of 10/12", set()),
        ("The rope weighs 3.5.", set()),
        ("It is 3.5. The mast is 4.6. Ada knows.", set()),
        ("2026-05-19", {"19", "maio"}),
        ("version 4.5.1", set()),
        ("3/4 of it, 1.250,00", set()),
        ("am 41.5.", set()),
    ],
)
def test_days_in_digits_have_the_stems_of_their_names(text: str, stems: set[str]) -> None:
    assert stems <= date_stems(text)
    assert bool(stems) == bool(date_stems(text))
