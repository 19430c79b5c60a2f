from __future__ import annotations

import pytest

from engine.llm.offline.question import (
    AnswerType,
    answer_type,
    counted_stems,
    focus_stems,
    has_answer_type,
    split_clauses,
)


def test_a_double_question_is_asked_as_two() -> None:
    assert split_clauses("Who holds permit 17-B, and what did the holder promise the council?") == [
        "Who holds permit 17-B",
        "what did the holder promise the council?",
    ]
    assert split_clauses("Where is the kiln kept? How hot does the kiln get?") == [
        "Where is the kiln kept?",
        "How hot does the kiln get?",
    ]


def test_a_scrap_of_a_question_stays_with_the_rest() -> None:
    assert split_clauses("Who built the old mill and when?") == ["Who built the old mill when?"]
    assert split_clauses("Is it dear? (ferry, ticket)") == ["Is it dear? (ferry, ticket)"]


@pytest.mark.parametrize(
    ("question", "wanted", "right", "wrong"),
    [
        ("How much is a loaf?", "price", "It is €3.", "It is brown."),
        ("When does it sail?", "time", "It sails at noon.", "It sails well."),
        ("How many boats are there?", "quantity", "There are seven boats.", "There are boats."),
    ],
)
def test_a_question_wants_a_kind_of_thing(question: str, wanted: str, right: str, wrong: str) -> None:
    asked_for = answer_type(question)
    assert asked_for == wanted
    assert has_answer_type(right, asked_for)
    assert has_answer_type(wrong, asked_for) is False


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Which football team plays here?", "football"),
        ("What is the password of the network?", "password"),
        ("Is there a sauna in town?", "sauna"),
        ("What time does the cinema begin?", "cinema"),
        ("How heavy is the door?", "heavy"),
    ],
)
def test_the_very_thing_that_is_asked_for_is_told(question: str, word: str) -> None:
    assert focus_stems(question) == {word}


def test_generic_things_are_no_focus() -> None:
    assert focus_stems("What happens to old food?") == frozenset()


def test_a_question_of_a_single_word_is_one_of_its_own_with_the_first_as_a_hint() -> None:
    assert split_clauses("How much does a lift cost, and who may operate it?") == [
        "How much does a lift cost",
        "who may operate it? (How much does a lift cost)",
    ]


@pytest.mark.parametrize(
    ("text", "wanted", "has"),
    [
        ("The stair has 139 steps.", "quantity", True),
        ("Tickets cost €2.50 each.", "quantity", None),
        ("Only Ada Byron may work it.", "person", True),
        ("A lift costs €25.", "person", None),
        ("It was moved because of the tide.", "reason", True),
    ],
)
def test_what_is_counted_who_and_why_are_kinds(text: str, wanted: AnswerType, has: bool | None) -> None:  # noqa: FBT001
    assert has_answer_type(text, wanted, counted_stems("How many steps are there?")) is has


def test_what_somebody_weighs_is_no_price() -> None:
    assert answer_type("How much does the anchor weigh?") == "quantity"


def test_whom_the_question_names_is_nobody_who_answers_it() -> None:
    named = counted_stems("Who is the skipper of the Patient Agnes?")
    assert has_answer_type("Only the Patient Agnes sails in May.", "person", named) is None
    assert has_answer_type("On the Patient Agnes sails Bo Holm.", "person", named) is True


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("How much does Bram weigh?", "Bram weighs 80 kilograms.", "Bram was paid 240 euros in the week from 25 May."),
        ("How tall is the mast?", "It is nine metres high.", "It was mended in 1987."),
        ("How old is the chapel?", "The chapel was built in 1640.", "The chapel has forty seats."),
        ("How fast is the boat?", "She makes eleven knots.", "She takes 62 passengers."),
        ("How long may one stay?", "Guests stay until midnight.", "Guests get two keys."),
    ],
)
def test_a_measure_is_told_by_a_quantity_of_its_kind(question: str, right: str, wrong: str) -> None:
    of = counted_stems(question)
    assert has_answer_type(right, "quantity", of)
    assert has_answer_type(wrong, "quantity", of) is False
