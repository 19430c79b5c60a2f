"""Lists: which one a question asks for, and what of it is quoted."""

from __future__ import annotations

import pytest

from engine.llm.offline.quoting.lists import MAX_LIST_LENGTH, complete_list, find_list
from tests.engine.llm.offline.quoting.clauses import read, score

KILN = """The kiln

The kiln stands in the shed.

Before a firing:

1. Open the damper.
2. Stack the shelves. Leave a hand's width between them.
3. Close the door.

Colors of glaze

- moss
- amber
"""


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("List the colors of glaze.", "Colors of glaze", "amber"),
        ("Which colors of glaze are there?", "Colors of glaze", "amber"),
        ("What are the steps before a firing?", "Before a firing:", "Close the door."),
        ("List the wheels.", "", ""),
        ("What color is the kiln?", "", ""),
        ("List the colors of glaze of 2031.", "", ""),
    ],
)
def test_the_list_whose_heading_has_the_words_of_the_question(question: str, first: str, last: str) -> None:
    candidates = read(KILN)
    found = [candidates[at].text for at in find_list(score(question, candidates), candidates)]
    assert (found[:1], found[-1:]) == ([first] * bool(first), [last] * bool(last))


def test_rows_of_a_table_are_a_list() -> None:
    candidates = read("Boats\n\nBoat | Skipper\n--- | ---\nGull | Ada\nTern | Bo")
    found = find_list(score("Which boats do we have?", candidates), candidates)
    assert [candidates[at].text for at in found] == ["Boats", "Boat: Gull; Skipper: Ada", "Boat: Tern; Skipper: Bo"]


def test_what_introduces_a_list_comes_with_it_and_an_item_with_all_others_if_wanted() -> None:
    candidates = read(KILN)
    texts = [candidate.text for candidate in candidates]
    introduction, item = texts.index("Before a firing:"), texts.index("Open the damper.")
    assert [texts[at] for at in complete_list(introduction, candidates, whole=False)][-1] == "Close the door."
    assert complete_list(item, candidates, whole=False) == [item]
    assert complete_list(item, candidates, whole=True)[0] == introduction


def test_a_very_long_list_is_cut_off() -> None:
    candidates = read("Tools\n\n" + "\n".join(f"- chisel number {number}" for number in range(500)))
    found = find_list(score("List the tools.", candidates), candidates)
    assert 0 < sum(len(candidates[at].text) for at in found) <= MAX_LIST_LENGTH
