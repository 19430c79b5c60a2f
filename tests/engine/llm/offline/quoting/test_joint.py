"""Whether quotations that have all words of a question are about what it asks."""

from __future__ import annotations

import pytest

from engine.llm.offline.quoting.joint import find_joint_gaps
from engine.llm.offline.quoting.links import share_name
from tests.engine.llm.offline.quoting.clauses import read, score


@pytest.mark.parametrize(
    ("question", "facts", "gaps"),
    [
        ("Where does Orla Brask live?", ("Orla Brask is away until May.", "Fintan Roe lives in Tarn."), ["Orla Brask"]),
        ("Where does Orla Brask live?", ("Orla Brask is away until May.", "Orla Brask lives in Tarn."), []),
        ("Where does Orla Brask live?", ("Fintan Roe lives in Tarn.",), []),
        ("Who is the chief mate of Tarn?", ("Orla Brask is the chief mate.", "Fintan Roe comes from Tarn."), ["Tarn"]),
        ("Who is the chief mate of Tarn?", ("Orla Brask is the chief mate of Tarn.", "Fintan Roe is in Tarn."), []),
        ("Where do Orla and Fintan live?", ("Orla is away.", "Fintan lives in Tarn."), []),
    ],
)
def test_words_in_two_sentences_about_different_things_are_no_answer(
    question: str, facts: tuple[str, ...], gaps: list[str]
) -> None:
    candidates = read(*facts, one_document=False)
    clause = score(question, candidates, 0.5)
    assert find_joint_gaps(range(len(candidates)), clause, candidates) == gaps


def test_two_sentences_of_one_text_about_another_thing_are_no_answer() -> None:
    talk = ("The winches are oiled once a month. The loft is oiled every day.", "We rent one mast a month.")
    candidates = read(*talk, one_document=False)
    clause = score("How often are the masts oiled?", candidates, 0.5)
    assert find_joint_gaps(range(len(candidates)), clause, candidates) == ["masts"]


def test_two_sentences_share_a_name_that_both_write_so() -> None:
    one, other, third = read("The skipper of the Wren is Orla.", "The boat Wren is at the quay.", "A wren sings.")
    assert share_name(one, other)
    assert not share_name(other, third)
