from __future__ import annotations

from bot.cli.demo import TOWN_DIR
from bot.cli.demo.questions import QUESTIONS
from tests.acceptance.demo_questions import source_text

EVERYTHING = "\n".join(source_text(path.name) for path in TOWN_DIR.iterdir())


def test_four_questions_are_asked_and_each_says_what_to_look_for() -> None:
    assert len(QUESTIONS) == 4
    assert all(question.text.endswith("?") and question.explanation.endswith(".") for question in QUESTIONS)


def test_the_first_has_its_answer_in_one_sentence() -> None:
    assert "A return ticket on the ferry costs €8.20" in source_text("ferry-timetable.md")


def test_the_second_needs_the_register_and_the_chat() -> None:
    assert "Permit 17-B is held by Odile Marchbank." in source_text("permits.txt")
    promise = (
        "As holder of permit 17-B I promise to clear the nine broken racks from the North Wall before the Mending."
    )
    assert promise in source_text("harbour.jsonl")


def test_the_third_names_nobody_and_is_answered_by_name() -> None:
    assert "Odile" not in QUESTIONS[2].text
    assert "On a Saturday you find Odile Marchbank at the oyster hatch" in source_text("welcome.md")


def test_the_fourth_asks_for_something_of_which_the_town_never_spoke() -> None:
    assert "dentist" in QUESTIONS[3].text
    assert "dentist" not in EVERYTHING.casefold()
