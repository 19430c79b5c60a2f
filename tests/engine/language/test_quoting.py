from __future__ import annotations

import pytest

from engine.language.minilm import MiniLM
from engine.language.quotable import quotables
from engine.language.quoting import Quotation, choose, listed, quotations
from engine.language.weighing import study
from engine.records import Bill
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


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> MiniLM:
    return MiniLM(tmp_path_factory.mktemp("cache"))


async def quoted(embedder: MiniLM, question: str, *texts: str) -> str:
    studied = await study(question, [source(n, text, "d") for n, text in enumerate(texts, 1)], embedder, Bill())
    return listed(quotations(choose(studied), studied.quotables))


async def test_what_only_stands_near_an_answer_is_no_second_answer(minilm: MiniLM) -> None:
    said = await quoted(
        minilm,
        "What is Bo's wage from May on?",
        "[2026-03-01 10:00] Ada: For the two of us only: Bo's wage rises to 4,150 a month from May on.",
        "[2026-03-01 10:01] Bo: Thank you, Ada. I will not tell anybody.",
    )
    assert "4,150" in said
    assert "Thank you" not in said


@pytest.mark.parametrize(
    ("question", "text", "both"),
    [
        (
            "How much does a lift of the crane cost and who may operate it?",
            "A lift of the crane costs €25. Only licensed drivers may work it; these are Ada Byron and Bo Holm.",
            ("€25", "Ada Byron"),
        ),
        (
            "When is the archive open, and what is the entrance fee?",
            "The archive is open on Fridays from two until four. Admission is free.",
            ("Fridays", "free"),
        ),
    ],
)
async def test_the_sentence_beside_an_answer_carries_the_other_half(
    minilm: MiniLM, question: str, text: str, both: tuple[str, str]
) -> None:
    said = await quoted(minilm, question, text)
    assert all(half in said for half in both)
