from __future__ import annotations

import pytest

from engine.llm.minilm.embedder import MiniLMEmbedder
from engine.llm.offline.candidates import build_candidates
from engine.llm.offline.quotes import Quotation, build_quotations, render_quotations, select_answers
from engine.llm.offline.ranking import rank_sentences
from engine.usage import UsageMeter
from tests.engine.llm.offline.sources import source


def test_a_pronoun_brings_the_sentence_before_it() -> None:
    said = build_candidates([source(3, "The kiln came on Monday from the north. It reaches a great heat in the end.")])
    assert build_quotations([1], said) == [
        Quotation(3, "The kiln came on Monday from the north. It reaches a great heat in the end.")
    ]


def test_a_sentence_that_stands_alone_is_quoted_alone() -> None:
    said = build_candidates(
        [source(3, "The kiln came on Monday from the north. Glazing takes a week and a half in spring.")]
    )
    assert [quotation.text for quotation in build_quotations([1], said)] == [
        "Glazing takes a week and a half in spring."
    ]


def test_a_question_in_a_chat_brings_its_answer_and_a_short_answer_its_question() -> None:
    lines = ["[2026-05-12 10:03] Ada: Is the oven hot by now?", "[2026-05-12 10:04] Bo: Yes, very."]
    said = build_candidates([source(at, line, document="talk") for at, line in enumerate(lines, 1)])
    assert [quotation.number for quotation in build_quotations([0], said)] == [1, 2]
    assert [quotation.number for quotation in build_quotations([1], said)] == [1, 2]


def test_neighbours_are_joined_and_nothing_is_quoted_twice() -> None:
    said = build_candidates([source(1, "The red kiln came on a Monday. Glazing takes a week and a half in spring.")])
    assert len(build_quotations([0, 1, 0], said)) == 1


def test_a_message_keeps_who_said_it_and_when() -> None:
    line = render_quotations([Quotation(2, "Yes, it is.", "Bo Holm", "2026-05-12 10:04")])
    assert line == "Bo Holm (2026-05-12 10:04 UTC): “Yes, it is.” [2]"


def test_numbers_in_brackets_of_a_source_are_no_citations() -> None:
    assert render_quotations([Quotation(2, "As shown [1, 3] and in [x].")]) == "“As shown (1, 3) and in [x].” [2]"


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> MiniLMEmbedder:
    return MiniLMEmbedder(tmp_path_factory.mktemp("cache"))


async def quoted(embedder: MiniLMEmbedder, question: str, *texts: str) -> str:
    studied = await rank_sentences(
        question, [source(n, text, "d") for n, text in enumerate(texts, 1)], embedder, UsageMeter()
    )
    return render_quotations(build_quotations(select_answers(studied), studied.candidates))


async def test_what_only_stands_near_an_answer_is_no_second_answer(minilm: MiniLMEmbedder) -> None:
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
    minilm: MiniLMEmbedder, question: str, text: str, both: tuple[str, str]
) -> None:
    said = await quoted(minilm, question, text)
    assert all(half in said for half in both)


async def test_a_channel_named_for_the_matter_makes_no_thanks_an_answer(minilm: MiniLMEmbedder) -> None:
    lines = (
        "[2026-03-01 10:00] Ada: For the two of us only: Bo's wage rises to 4,150 a month from May on.",
        "[2026-03-01 10:01] Bo: Thank you, Ada. I will not tell anybody.",
    )
    sources = [source(n, line, "d", title="#wages") for n, line in enumerate(lines, 1)]
    studied = await rank_sentences("What will Bo's wage be from May on?", sources, minilm, UsageMeter())
    assert select_answers(studied) == [0]


@pytest.mark.parametrize(
    ("question", "texts", "right", "wrong"),
    [
        (
            "Who is the harbour master?",
            ("The harbour master answers within two weeks.", "Kept by the harbour master, Ada Byron."),
            "Ada Byron",
            "two weeks",
        ),
        (
            "Who is the skipper of the Patient Agnes?",
            ("The skipper of the Patient Agnes likes herring.", "The Patient Agnes sails at noon. Skipper: Bo Holm."),
            "Bo Holm",
            "herring",
        ),
        (
            "How many kites did Lumen Sports order?",
            (
                "[2026-03-01 10:00] Ada: Lumen Sports ordered 400 Delta kites, to be delivered on 14 April.",
                "[2026-03-01 10:01] Bo: Hanako Textiles will send us the nylon for the Lumen order on 2 March.",
            ),
            "400",
            "nylon",
        ),
    ],
)
async def test_what_has_the_kind_of_thing_that_is_asked_for_stands_without_what_has_not(
    minilm: MiniLMEmbedder, question: str, texts: tuple[str, ...], right: str, wrong: str
) -> None:
    said = await quoted(minilm, question, *texts)
    assert right in said
    assert wrong not in said


async def test_the_reason_beside_an_answer_goes_with_it(minilm: MiniLMEmbedder) -> None:
    said = await quoted(
        minilm, "Why is the town clock slow?", "The town clock is four minutes slow. It stays so because Bo asked."
    )
    assert said == "“The town clock is four minutes slow. It stays so because Bo asked.” [1]"


async def test_a_sentence_of_other_words_at_its_start_is_found_by_them(minilm: MiniLMEmbedder) -> None:
    texts = ("The bakery is open on Fridays.", "The bakery on Quay Street. Telephone: ask for 322.")
    assert "322" in await quoted(minilm, "How do I phone the bakery?", *texts)


async def test_what_is_valid_until_then_expires_then(minilm: MiniLMEmbedder) -> None:
    text = "Permit 9-A allows forty racks until 31 December 2026. Permit 9-B allows a boat of wood on the quay in 2026."
    said = await quoted(minilm, "Which permit expires at the end of 2026?", text)
    assert "9-A" in said
    assert "9-B" not in said


def test_items_of_a_list_and_titles_are_set_off_from_what_follows() -> None:
    said = build_candidates(
        [source(1, "- White bread: €3.60\n- Plum plait: €3.10"), source(2, "Next meeting\n\nOn 9 June.")]
    )
    assert [each.text for each in build_quotations([0, 1, 2], said)] == [
        "White bread: €3.60; Plum plait: €3.10",
        "Next meeting: On 9 June.",
    ]


def test_a_title_is_no_sentence_to_lean_on() -> None:
    said = build_candidates([source(1, "Sleeping\n\nThis room is above the loft and costs €52 a night.")])
    assert [each.text for each in build_quotations([1], said)] == ["This room is above the loft and costs €52 a night."]
