from __future__ import annotations

from engine.language.quotable import quotables
from engine.language.quoting import Quotation, listed, quotations
from tests.engine.language.sources import source


def test_a_pronoun_brings_the_sentence_before_it() -> None:
    said = quotables([source(3, "The kiln came on Monday from the north. It reaches a great heat in the end.")])
    assert quotations([1], said) == [
        Quotation(3, "The kiln came on Monday from the north. It reaches a great heat in the end.")
    ]


def test_a_sentence_that_stands_alone_is_quoted_alone() -> None:
    said = quotables([source(3, "The kiln came on Monday from the north. Glazing takes a week and a half in spring.")])
    assert [quotation.text for quotation in quotations([1], said)] == ["Glazing takes a week and a half in spring."]


def test_a_question_in_a_chat_brings_its_answer_and_a_short_answer_its_question() -> None:
    lines = ["[2026-05-12 10:03] Ada: Is the oven hot by now?", "[2026-05-12 10:04] Bo: Yes, very."]
    said = quotables([source(at, line, document="talk") for at, line in enumerate(lines, 1)])
    assert [quotation.number for quotation in quotations([0], said)] == [1, 2]
    assert [quotation.number for quotation in quotations([1], said)] == [1, 2]


def test_neighbours_are_joined_and_nothing_is_quoted_twice() -> None:
    said = quotables([source(1, "The red kiln came on a Monday. Glazing takes a week and a half in spring.")])
    assert len(quotations([0, 1, 0], said)) == 1


def test_a_message_keeps_who_said_it_and_when() -> None:
    line = listed([Quotation(2, "Yes, it is.", "Bo Holm", "2026-05-12 10:04")])
    assert line == "Bo Holm (2026-05-12 10:04 UTC): “Yes, it is.” [2]"


def test_numbers_in_brackets_of_a_source_are_no_citations() -> None:
    assert listed([Quotation(2, "As shown [1, 3] and in [x].")]) == "“As shown (1, 3) and in [x].” [2]"
