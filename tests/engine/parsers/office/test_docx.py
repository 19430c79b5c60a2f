from __future__ import annotations

import pytest

from engine.errors import CorruptFile
from engine.parsers.registry import PARSERS
from tests.engine.parsers.samples import docx, paragraph, table

parse = PARSERS["docx"].parse


def test_headings_are_the_locators() -> None:
    found = parse(
        "a.docx",
        docx(
            paragraph("Town", "Heading1"),
            paragraph("Intro."),
            paragraph("Hours", "Heading2"),
            paragraph("Nine to five."),
        ),
    )
    assert found.title == "Town"
    assert [passage.label for passage in found.passages] == ["Town", "Town › Hours"]
    assert found.passages[1].text == "Hours\n\nNine to five."


def test_tables_are_readable_rows() -> None:
    found = parse("a.docx", docx(paragraph("Hours:"), table([["Day", "Open"], ["Monday", "9–5"]])))
    assert found.passages[0].text == "Hours:\n\nDay | Open\nMonday | 9–5"
    assert found.title == "a.docx"


def test_without_headings_the_paragraphs_are_counted() -> None:
    (passage,) = parse("a.docx", docx(paragraph("One."), paragraph("Two."))).passages
    assert passage.label == "paragraphs 1–2"


def test_marks_in_the_text_stay_as_they_are() -> None:
    (passage,) = parse("a.docx", docx(paragraph("# a_b_c *x* 漢字"))).passages
    assert passage.text == "# a_b_c *x* 漢字"


def test_a_damaged_document_is_broken() -> None:
    with pytest.raises(CorruptFile):
        parse("a.docx", docx(paragraph("One."))[:200])
