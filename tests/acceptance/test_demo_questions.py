from __future__ import annotations

import pytest

from bot.cli.demo import TOWN_DIR
from tests.acceptance.demo_questions import TownQuestion, load_held_out, load_tuning, source_text

ALL_QUESTIONS = (*load_held_out(), *load_tuning())
every_question = pytest.mark.parametrize("question", ALL_QUESTIONS, ids=[question.id for question in ALL_QUESTIONS])


def test_there_are_twenty_with_an_answer_and_five_without() -> None:
    answerable = [question.answerable for question in load_held_out()]
    assert (answerable.count(True), answerable.count(False)) == (20, 5)


def test_question_kinds_are_balanced() -> None:
    kinds = [question_kind(question) for question in load_held_out() if question.answerable]
    assert {kind: kinds.count(kind) for kind in kinds} == {"document": 7, "message": 7, "both": 6}


def test_no_question_is_asked_twice() -> None:
    assert len({question.id for question in ALL_QUESTIONS}) == len(ALL_QUESTIONS)
    assert len({question.question.casefold() for question in ALL_QUESTIONS}) == len(ALL_QUESTIONS)


@every_question
def test_every_gold_passage_stands_in_a_file_of_the_town(question: TownQuestion) -> None:
    for gold in question.gold:
        assert (TOWN_DIR / gold.document).is_file()
        assert gold.contains in source_text(gold.document)


@every_question
def test_the_key_words_stand_in_the_gold_passages(question: TownQuestion) -> None:
    passages = " ".join(gold.contains for gold in question.gold)
    assert [word for word in question.words if word not in passages] == []
    assert bool(question.words) is question.answerable


@every_question
def test_no_question_is_a_sentence_of_the_town(question: TownQuestion) -> None:
    assert all(question.question.rstrip("?") not in gold.contains for gold in question.gold)


def question_kind(question: TownQuestion) -> str:
    chat = {gold.document.endswith(".jsonl") for gold in question.gold}
    return "both" if len(chat) == 2 else "message" if chat == {True} else "document"
