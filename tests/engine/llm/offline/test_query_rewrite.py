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
HINT = " (Hanna Karim, L-19, Locker L-19, Torfield Ltd, rents)"


@pytest.mark.parametrize(
    ("asked", "whole"),
    [
        # A pronoun for a person becomes the person spoken of most.
        ("Where can I find her on a Monday?", "Where can I find Hanna Karim on a Monday?"),
        ("Who is her boss?", "Who is Hanna Karim's boss?"),
        ("What did she promise?", "What did Hanna Karim promise?"),
        # What a follow-up leaves unsaid stands in brackets behind it.
        *((asked, asked + HINT) for asked in ("Is it expensive?", "And on Sundays?", "Why?", "What is kept there?")),
        # A question that stands alone is left alone.
        *((asked, asked) for asked in ("How much is a ticket on the ferry?", "Is there a sauna in the building?")),
        *((asked, asked) for asked in ("And what happened to the yellow tail of the Box kite?",)),
        *((asked, asked) for asked in ("Until when may the Patient Agnes use her landing?",)),
        *((asked, asked) for asked in ("Who said that the kiln is broken and cracked?",)),
    ],
)
def test_a_follow_up_is_completed(asked: str, whole: str) -> None:
    assert rewrite_query(asked, HISTORY).question == whole
    assert rewrite_query(f" {asked}  ", ()).question == asked


@pytest.mark.parametrize(
    ("question", "high", "low"),
    [
        (
            "Does Hanna Karim rent locker L-19 for photography?",
            ("rent", "locker"),
            ("Hanna Karim", "L-19", "photography"),
        ),
        ("How much is a ticket?", ("ticket",), ("ticket",)),
        ("?", (), ()),
    ],
)
def test_low_keywords_are_names_and_rare_words(question: str, high: tuple[str, ...], low: tuple[str, ...]) -> None:
    assert extract_keywords(question) == (high, low)
