from __future__ import annotations

from collections import Counter

import pytest

from tests.acceptance.demo_questions import TownQuestion, load_held_out, load_tuning, source_text

ALL_QUESTIONS = (*load_held_out(), *load_tuning())


def test_twenty_of_three_kinds_have_an_answer_and_five_have_none() -> None:
    kinds = Counter(question_kind(question) for question in load_held_out())
    assert kinds == {"document": 7, "message": 7, "both": 6, "none": 5}


def test_no_question_is_asked_twice() -> None:
    assert len({question.id for question in ALL_QUESTIONS}) == len(ALL_QUESTIONS)
    assert len({question.question.casefold() for question in ALL_QUESTIONS}) == len(ALL_QUESTIONS)


@pytest.mark.parametrize("question", ALL_QUESTIONS, ids=lambda question: question.id)
def test_the_gold_stands_in_the_town_and_has_the_key_words_but_not_the_question(question: TownQuestion) -> None:
    for gold in question.gold:
        assert gold.contains in source_text(gold.document)
        assert question.question.rstrip("?") not in gold.contains
    passages = " ".join(gold.contains for gold in question.gold)
    assert [word for word in question.words if word not in passages] == []
    assert bool(question.words) is question.answerable


def question_kind(question: TownQuestion) -> str:
    chat = {gold.document.endswith(".jsonl") for gold in question.gold}
    return "none" if not chat else "both" if len(chat) == 2 else "message" if chat == {True} else "document"
