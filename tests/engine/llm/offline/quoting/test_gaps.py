"""What a question names and an answer lacks."""

from __future__ import annotations

import pytest

from engine.llm.offline.quoting.gaps import find_gaps, join_names
from tests.engine.llm.offline.quoting.clauses import read, score


@pytest.mark.parametrize(
    ("question", "text", "gaps"),
    [
        ("When was the office in Oslo opened?", "The office in Bergen was opened in 2019.", ["Oslo"]),
        ("Who owns the shipping counter?", "Ada owns the billing counter.", ["shipping"]),
        ("Who runs the east gate?", "Gate: north; Keeper: Bo", ["east"]),
        ("What costs berth B-7?", "Berth B-9 costs nine crowns.", ["B-7"]),
        ("What did Lone Water order?", "Short Pond ordered nine boats.", ["Lone Water"]),
        ("When was the office in Bergen opened?", "The office in Bergen was opened in 2019.", []),
        ("Where may guests sleep?", "Visitors sleep in the loft.", []),
        ("When does the choir sing?", "The choir sings on Fridays.", []),
        ("Wann kommen die Filter?", "Die Filtern kommen im Mai.", []),
    ],
)
def test_names_and_words_in_front_of_another(question: str, text: str, gaps: list[str]) -> None:
    candidates = read(text)
    assert find_gaps([0], score(question, candidates), candidates) == gaps


def test_what_the_heading_or_the_rest_of_the_passage_names_is_no_gap() -> None:
    candidates = read("The Tern is a dinghy. It is old. It is blue. It costs nine crowns.", title="Boats of Bergen")
    clause = score("What does the Tern of Bergen cost?", candidates)
    assert find_gaps([3], clause, candidates) == []
    assert find_gaps([], clause, candidates) == []


def test_words_that_follow_each_other_are_one_name() -> None:
    assert join_names(["Ada", "Byron", "Oslo"], "Does Ada Byron live in Oslo?") == ["Ada Byron", "Oslo"]
