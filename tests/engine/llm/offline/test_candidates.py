from __future__ import annotations

from engine.llm.offline.candidates import build_candidates
from tests.engine.llm.offline.sources import source


def test_a_document_is_quoted_by_sentences_and_a_message_as_a_whole() -> None:
    found = build_candidates([source(1, "One is. Two is."), source(2, "[2026-05-12 10:03] Ada: Three is. Four is.")])
    assert [(one.text, one.speaker, one.time_text) for one in found] == [
        ("One is.", "", ""),
        ("Two is.", "", ""),
        ("Three is. Four is.", "Ada", "2026-05-12 10:03"),
    ]


def test_a_sentence_knows_its_heading_and_what_stands_before_it_in_its_passage() -> None:
    found = build_candidates(
        [source(1, "The kiln came. It is hot.", title="Report", label="Delivery"), source(2, "Other.")]
    )
    assert found[1].preceding == (0,)
    assert "kiln" in found[1].context_stems
    assert {"report", "delivery"} <= found[1].heading_stems
    assert found[2].preceding == ()


def test_a_message_knows_the_messages_before_it() -> None:
    lines = ["[2026-05-12 10:03] Ada: Is the oven hot?", "[2026-05-12 10:04] Bo: Yes."]
    found = build_candidates([source(at, line, document="talk") for at, line in enumerate(lines, 1)])
    assert found[0].is_question
    assert "oven" in found[1].context_stems


def test_equal_texts_are_quoted_once_from_the_newest() -> None:
    old, new = "[2026-05-12 10:03] Ada: Yes.", "[2026-06-12 10:03] Ada: Yes."
    assert [one.source.number for one in build_candidates([source(1, old), source(2, new), source(3, old)])] == [1, 2]
