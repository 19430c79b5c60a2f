"""Answers in two sentences, of which the first says whom or what the second is about."""

from __future__ import annotations

import pytest

from engine.llm.offline.quoting.bridges import find_bridge
from tests.engine.llm.offline.quoting.clauses import read, score

FACTS = (
    "Brightwell replaced Elmo in 2023.",
    "Ropes: Tarry, contact Bo Holm.",
    "Lamps: Brightwell, contact Ada Byron.",
    "Dogs are not allowed.",
)


@pytest.mark.parametrize(
    ("question", "similarity", "found"),
    [
        ("Who is the contact of the firm that replaced Elmo?", 0.4, 2),
        ("Who is the contact of the firm that replaced Elmo?", 0.1, None),
        ("Who replaced Elmo in 2023?", 0.4, None),
        ("What is the price of what replaced Elmo?", 0.4, None),
    ],
)
def test_a_rare_word_of_the_first_leads_to_the_second(question: str, similarity: float, found: int | None) -> None:
    candidates = read(*FACTS)
    assert find_bridge(0, score(question, candidates, similarity), candidates) == found


def test_a_sentence_with_the_answer_leads_to_the_one_that_names_what_was_asked() -> None:
    candidates = read("The hut in Tarn has 12 beds.", "Orla works at the hut in Tarn.", "Dogs are not allowed.")
    clause = score("How many beds are in the hut where Orla works?", candidates, 0.4)
    assert find_bridge(0, clause, candidates) == 1


def test_where_something_is_says_the_sentence_about_it() -> None:
    candidates = read("The ropes come from Brightwell.", "Brightwell is in Tarn.", "Elmo is in Oss.")
    assert find_bridge(0, score("Where is the firm that makes the ropes?", candidates, 0.4), candidates) == 1
