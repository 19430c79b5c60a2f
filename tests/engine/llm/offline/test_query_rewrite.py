from __future__ import annotations

import pytest

from engine.llm.offline.query_rewrite import extract_keywords, rewrite_query
from engine.models import ChatTurn

HISTORY = (
    ChatTurn("user", "Who rents locker L-19, and what did the tenant promise?"),
    ChatTurn(
        "assistant",
        "- “Locker L-19 is rented by Hanna Karim.” [1]\n"
        "- Hanna Karim (2026-02-20 19:40 UTC): “I promise to bring back the brushes to Torfield Ltd.” [2]",
    ),
)


@pytest.mark.parametrize(
    ("asked", "whole"),
    [
        ("Where can I find her on a Monday?", "Where can I find Hanna Karim on a Monday?"),
        ("Who is her boss?", "Who is Hanna Karim's boss?"),
        ("What did she promise?", "What did Hanna Karim promise?"),
    ],
)
def test_a_pronoun_for_a_person_becomes_the_person_spoken_of_most(asked: str, whole: str) -> None:
    assert rewrite_query(asked, HISTORY).question == whole


@pytest.mark.parametrize("asked", ["Is it expensive?", "And on Sundays?", "Why?", "What is kept there?"])
def test_what_a_follow_up_leaves_unsaid_stands_in_brackets_behind_it(asked: str) -> None:
    whole = rewrite_query(asked, HISTORY).question
    assert whole.startswith(f"{asked} (")
    assert "L-19" in whole
    assert "Hanna Karim" in whole


@pytest.mark.parametrize(
    "asked",
    [
        "How much is a ticket on the ferry?",
        "Until when may the Patient Agnes use her landing?",
        "Is there a sauna in the building?",
        "Who said that the kiln is broken and cracked?",
    ],
)
def test_a_question_that_stands_alone_is_left_alone(asked: str) -> None:
    assert rewrite_query(asked, HISTORY).question == asked


def test_without_history_nothing_is_added() -> None:
    assert rewrite_query("Where  is she? ", ()).question == "Where is she?"


def test_low_keywords_are_names_and_rare_words_and_high_ones_the_rest() -> None:
    assert extract_keywords("Does Hanna Karim rent locker L-19 for photography?") == (
        ("rent", "locker"),
        ("Hanna Karim", "L-19", "photography"),
    )


def test_neither_list_is_empty_while_the_other_is_not() -> None:
    assert extract_keywords("How much is a ticket?") == (("ticket",), ("ticket",))
    assert extract_keywords("?") == ((), ())
