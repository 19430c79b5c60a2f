"""The life of a fact: in the order of time, with what repeats, contradicts or replaces what."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from engine.llm.offline.supersession.history import list_steps
from engine.models import Source
from tests.support.builders import make_source

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


def say(*texts: str, every: timedelta = timedelta(days=2)) -> list[Source]:
    return [
        make_source(
            number=number, document="talk", passage=f"m{number}", author="Ada", time=START + number * every, text=text
        )
        for number, text in enumerate(texts, 1)
    ]


def steps(*texts: str, subject: str = "regatta") -> list[tuple[str, str, tuple[int, ...], tuple[int, ...]]]:
    return [(step.kind, step.text, step.earlier, step.later) for step in list_steps(say(*texts), (subject,))]


def test_a_statement_that_was_replaced_names_its_successor() -> None:
    old, new = "The regatta starts on 3 May.", "The regatta now starts on 10 May instead of 3 May."
    assert steps(old, "The kiosk sells ice.", new) == [
        ("said", old, (), (1,)),
        ("replaced", new, (0,), ()),
    ]


def test_what_is_said_again_is_a_repetition_with_the_same_values_alone() -> None:
    first, again, other = "The regatta costs 20 euros.", "The regatta costs 20 euros!", "The regatta lasts 3 days."
    found = steps(first, again, other)
    assert [step[0] for step in found] == ["said", "repeated", "said"]
    assert found[1][2] == (0,)


def test_questions_and_other_subjects_are_no_steps() -> None:
    assert steps("When does the regatta start?", "The kiosk sells ice.") == []


def test_a_successor_that_does_not_name_the_subject_belongs_to_it() -> None:
    found = steps("Ada leads the regatta.", "Correction: Ben leads the regatta instead of Ada.", subject="Ada")
    assert [step[0] for step in found] == ["said", "contradicted"]


def test_most_words_of_a_question_are_enough() -> None:
    assert [step[1] for step in steps("The regatta starts on 3 May.", subject="When does the regatta start in May?")]
