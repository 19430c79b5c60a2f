"""Documents of Word as their library and what it overlooks give them."""

from __future__ import annotations

from engine.parsers.office import parse_docx
from tests.engine.parsers.samples import docx, paragraph, table

MIME = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def test_the_signs_of_markup_are_read_where_they_stand() -> None:
    written = "R&amp;D, 3 &lt; 5, &quot;a&#8211;b&#x26;c&quot;"
    found = parse_docx("a.docx", docx(paragraph(written), table([[written]])), MIME)
    shown = 'R&D, 3 < 5, "a–b&c"'
    assert [passage.text for passage in found.passages] == [f"{shown}\n\n{shown}\n---"]


def test_a_reference_to_no_character_stays() -> None:
    found = parse_docx("a.docx", docx(paragraph("Slates &#55296; here")), MIME)
    assert "Slates" in found.passages[0].text
