from __future__ import annotations

import pytest

from bot.cli.chat import TOWN_DIR
from bot.cli.chat.demo import QUESTIONS
from tests.acceptance.demo_questions import source_text

PROMISE = "As holder of permit 17-B I promise to clear the nine broken racks from the North Wall before the Mending."


def test_four_questions_are_asked_and_each_says_what_to_look_for() -> None:
    assert len(QUESTIONS) == 4
    assert all(question.text.endswith("?") and question.explanation.endswith(".") for question in QUESTIONS)


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ("ferry-timetable.md", "A return ticket on the ferry costs €8.20"),
        ("permits.txt", "Permit 17-B is held by Odile Marchbank."),
        ("harbour.jsonl", PROMISE),
        ("welcome.md", "On a Saturday you find Odile Marchbank at the oyster hatch"),
    ],
    ids=["the first", "the second, in the register", "the second, in the chat", "the third"],
)
def test_the_town_answers(document: str, sentence: str) -> None:
    assert sentence in source_text(document)


def test_the_third_question_names_nobody_and_the_fourth_has_no_answer() -> None:
    assert "Odile" not in QUESTIONS[2].text
    assert "dentist" in QUESTIONS[3].text
    assert not any("dentist" in source_text(path.name).casefold() for path in TOWN_DIR.iterdir())
