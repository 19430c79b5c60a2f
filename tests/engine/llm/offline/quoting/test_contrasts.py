"""Quotations that say of another thing what was asked."""

from __future__ import annotations

import pytest

from engine.llm.offline.quoting.contrasts import find_contrasts, join_names
from tests.engine.llm.offline.quoting.clauses import read, score


@pytest.mark.parametrize(
    ("question", "texts", "gaps"),
    [
        (
            "What height does the mill mast have?",
            "The pier mast is new. It has a height of nine feet. The mill mast is red.",
            ["mill"],
        ),
        (
            "What is the code of the rowing shed?",
            "The shed for sails is called Bora, its code is 4711. To change the code of the pier gate, ask Bo.",
            ["rowing"],
        ),
        (
            "How many berths does the pier in Bergen have?",
            "The pier lies in Oslo and has nine berths. The wind in Bergen is strong.",
            ["Bergen"],
        ),
        (
            "When does the lease with Oslo Boats end?",
            "The lease with Bergen Sails ends in May. Oslo Boats pays.",
            ["Oslo Boats"],
        ),
        (
            "Who gives the rescue course?",
            "Only people with a knot course may sail. The course takes a day and is given by Bo. A rescue boat came.",
            ["rescue"],
        ),
        (
            "Who gives the knot course?",
            "Only people with a knot course may sail. The course takes a day and is given by Bo. A rescue boat came.",
            [],
        ),
        ("When is the bell of the small pier tested?", "The bell of the large pier is tested on 9 May.", ["small"]),
        ("What is the bell of the small pier?", "The bell of the whole pier is a Tornado.", []),
        ("Where is the flag of the mill?", "The flag of the small pier is in the shed. The mill is shut.", ["mill"]),
        ("Are passes for tours sold on Monday?", "Gift passes are sold on Monday.", ["tours"]),
        ("What is the mast height of the mill?", "The mast height of the mill is nine feet.", []),
        ("Which team's gate keeps the boats?", "The north gate keeps the boats. Team: Otters.", []),
        ("What do rowers earn per hour?", "Rowers get nine crowns per hour.", []),
        ("How often is the mill mast painted?", "The mast is painted every year.", []),
        ("Who paints the open-air mill?", "The old mill is painted by Bo. The shop is open.", []),
    ],
)
def test_another_word_in_the_place_of_the_one_that_was_asked(question: str, texts: str, gaps: list[str]) -> None:
    candidates = read(texts)
    clause = score(question, candidates)
    assert find_contrasts(range(len(candidates)), clause, candidates) == gaps


def test_what_answers_as_well_without_contrast_counts() -> None:
    candidates = read("The pier mast is nine feet tall.", "The mill mast is ten feet tall.")
    assert find_contrasts([0, 1], score("How tall is the mill mast?", candidates), candidates) == []


def test_words_that_follow_each_other_are_one_name() -> None:
    assert join_names(["Ada", "Byron", "Oslo"], "Does Ada Byron live in Oslo?") == ["Ada Byron", "Oslo"]
