from __future__ import annotations

from typing import cast

import pytest

from engine.llm.offline.questions.analysis import AnswerType, answer_type, counted_stems, has_answer_type, split_clauses

CLAUSES = """
Who holds it, and what did the holder promise? => Who holds it | what did the holder promise?
Where is the old kiln? How hot is the kiln? => Where is the old kiln? | How hot is the kiln?
Who built the old mill and when? => Who built the old mill when?
Is it dear? (ferry, ticket) => Is it dear? (ferry, ticket)
What is a lift, and who may operate it? => What is a lift | who may operate it? (What is a lift)
"""
# A question, the type of its answer, a text that has it, and one that has it not; ? after what cannot be decided.
TYPES = """
How much is a loaf? => price => It is €3. => It is brown.
When does it sail? => time => It sails at noon. => It sails well.
How many boats are there? => quantity => There are seven boats. => There are boats.
How many steps are there? => quantity => The stair has 139 steps. => Tickets cost €2.50 each.?
Who may work it? => person => Only Ada Byron may work it. => A lift costs €25.?
Who is the skipper of the Agnes? => person => On the Agnes sails Bo Holm. => The Agnes sails in May.?
Why was it moved? => reason => It was moved because of the tide. => It was moved.?
How much does Bram weigh? => quantity => Bram weighs 80 kilograms. => Bram was paid 240 euros.
How tall is the mast? => quantity => It is nine metres high. => It was mended in 1987.
How old is the chapel? => quantity => The chapel was built in 1640. => The chapel has forty seats.
How fast is the boat? => quantity => She makes eleven knots. => She takes 62 passengers.
How long may one stay? => quantity => Guests stay until midnight. => Guests get two keys.
"""


@pytest.mark.parametrize("line", CLAUSES.strip().splitlines())
def test_a_double_question_is_asked_as_two_unless_a_part_is_a_scrap(line: str) -> None:
    question, clauses = line.split(" => ")
    assert split_clauses(question) == clauses.split(" | ")


@pytest.mark.parametrize("line", TYPES.strip().splitlines())
def test_a_question_wants_a_kind_of_thing(line: str) -> None:
    question, kind, right, wrong = line.split(" => ")
    wanted = cast("AnswerType", kind)
    assert answer_type(question) == kind
    assert has_answer_type(right, wanted, counted_stems(question)) is True
    assert has_answer_type(wrong.rstrip("?"), wanted, counted_stems(question)) is (None if wrong[-1] == "?" else False)


def test_a_clause_with_when_behind_another_question_word_asks_for_no_time() -> None:
    assert answer_type("When do we meet?") == answer_type("And when is it?") == answer_type("On which day?") == "time"
    assert answer_type("Where do we meet when the bell rings?") == "any"
    assert answer_type("Who rings the bell when Ada is away?") == "person"
