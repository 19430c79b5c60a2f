from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.offline.text.words import UPPER, content_words, has_price, is_common, is_stop_word, split_words, stem


@pytest.mark.parametrize(
    "forms",
    ["cost costs costing", "fit fits fitted fitting", "promise promised promises", "ferry ferries", "hold held holds",
     "write wrote written", "move moved moving", "degree degrees", "agree agreed", "Hamid Hamid's", "box boxes"],
)  # fmt: skip
def test_the_forms_of_a_word_share_a_stem(forms: str) -> None:
    assert len(set(map(stem, forms.split()))) == 1


@pytest.mark.parametrize(
    "pair", ["bus bush", "wine win", "care car", "bring ring", "class clan", "no-1 no-2", "17-B 17-C"]
)
def test_different_words_do_not(pair: str) -> None:
    one, other = pair.split()
    assert stem(one) != stem(other)


def test_ids_prices_times_and_handles_stay_whole() -> None:
    text = "permit 17-B costs €8.20 at 19:40, v2.3.1, snake_case, @ada in #har-bour, don't, 50%"
    assert split_words(text) == [
        *("permit", "17-B", "costs", "€8.20", "at", "19:40", "v2.3.1"),
        *("snake_case", "@ada", "in", "#har-bour", "don't", "50%"),
    ]


def test_salient_words_say_something_and_stand_once() -> None:
    assert content_words("How much are the tickets, and is a ticket for the ferry dear?") == [
        "tickets",
        "ferry",
        "dear",
    ]
    assert is_stop_word("The")
    assert is_common("Please")
    assert not is_common("Ploughman")


def test_money_is_seen_as_sign_as_word_and_as_gift() -> None:
    assert all(map(has_price, ["€5", "five euros", "it is free"]))
    assert not has_price("five boats")


def test_capital_letters_are_those_of_scripts_that_have_some() -> None:
    assert all(re.fullmatch(UPPER, letter) for letter in "AÉŁΩЖ")
    assert not any(re.fullmatch(UPPER, letter) for letter in "aéłω門ع1_")


@given(st.text(max_size=40))
def test_a_stem_is_never_longer_than_its_word_folded(word: str) -> None:
    assert len(stem(word)) <= max(len(word.casefold()), 6)
