from __future__ import annotations

import pytest

from engine.knowledge.duplicates.suggestions import (
    SUGGESTION_SCORE,
    PairFeatures,
    abbreviates,
    is_candidate,
    is_contradicted,
    is_part,
    is_replaced,
    measure_spelling,
    score_pair,
)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("1940 olympics", "1944 olympics"),
        ("phase ii trial", "phase iii trial"),
        ("karel ii", "karel"),
        ("east harbor", "west harbor"),
        ("ada byron jr", "ada byron sr"),
        ("austria", "austrian"),
        ("5 madison avenue", "madison avenue"),
    ],
)
def test_numbers_and_opposites_speak_against_a_pair(a: str, b: str) -> None:
    assert is_contradicted(a, b)
    assert not is_candidate(a, b, 0.99)
    assert score_pair(PairFeatures(a, b, 0.99, 5, 5)) == 0.0


@pytest.mark.parametrize(
    ("a", "b"), [("harbour trust", "harbor trust"), ("ada byron", "byron, ada"), ("mina", "minna")]
)
def test_spellings_that_are_alike_are_candidates(a: str, b: str) -> None:
    assert measure_spelling(a, b) > 85
    assert is_candidate(a, b, 0.0)


def test_abbreviations_and_parts_are_recognized() -> None:
    assert abbreviates("htf", "harbor trust fund")
    assert abbreviates("harbor trust fund", "h.t.f.")
    assert not abbreviates("htf", "harbor trust")
    assert is_part("lovelace", "ada lovelace")
    assert not is_part("the", "the lovelace")
    assert not is_part("ada lovelace", "ada lovelace")


def test_similar_vectors_and_common_neighbors_make_a_pair_more_likely() -> None:
    names = "murtala mohammed airport", "murtala muhammed airport"
    far, near = PairFeatures(*names, 0.3), PairFeatures(*names, 0.9, 3, 4)
    assert score_pair(far) < score_pair(near)
    assert score_pair(near) >= SUGGESTION_SCORE
    assert score_pair(PairFeatures(*names, 0.9, 3, 4, same_type=False)) < score_pair(near)


def test_a_word_in_place_of_another_speaks_against_a_pair() -> None:
    assert is_replaced("king of spain", "king of france")
    assert not is_replaced("tad sae falls", "tat sae falls")
    assert not is_replaced("ada", "ada byron")
    assert score_pair(PairFeatures("king of spain", "king of france", 0.95, 1, 1)) < SUGGESTION_SCORE


def test_unlike_names_are_not_suggested() -> None:
    assert not is_candidate("harbor", "kitchen", 0.2)
    assert score_pair(PairFeatures("harbor", "kitchen", 0.5)) < SUGGESTION_SCORE
