"""Documents of Word as their library and what it overlooks give them."""

from __future__ import annotations

import random
import tracemalloc
import zipfile
from io import BytesIO

import pytest

from engine.parsers.formats.openxml.part_names import hide_references
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


@pytest.mark.parametrize(("written", "shown"), [("a&#10;b&#x9;c", "a b c"), ("a &amp;lt; b", "a &lt; b")])
def test_a_reference_is_what_it_names_on_one_line(written: str, shown: str) -> None:
    found = parse_docx("a.docx", docx(paragraph(written)), MIME)
    assert "\n".join(passage.text for passage in found.passages) == shown


LINK = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("R&amp;D", "R&D (https://a.example/?x=1&y=2)"),
        ("https://a.example/?x=1&amp;y=2", "https://a.example/?x=1&y=2"),
    ],
)
def test_an_address_with_several_parameters_is_written_once_as_it_is(words: str, shown: str) -> None:
    relation = f'<Relationship Id="r9" Type="{LINK}/hyperlink" TargetMode="External"'
    rows = f'{relation} Target="https://a.example/?x=1&amp;y=2"/>'
    link = f'<w:p><w:hyperlink r:id="r9" xmlns:r="{LINK}"><w:r><w:t>{words}</w:t></w:r></w:hyperlink></w:p>'
    found = parse_docx("a.docx", with_relation(docx(link), rows), MIME)
    assert [passage.text for passage in found.passages] == [shown]


def with_relation(data: bytes, row: str) -> bytes:
    packed, head = BytesIO(), "http://schemas.openxmlformats.org/package/2006/relationships"
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(packed, "w") as new:
        for name in old.namelist():
            if name != "word/_rels/document.xml.rels":
                new.writestr(name, old.read(name))
        new.writestr("word/_rels/document.xml.rels", f'<Relationships xmlns="{head}">{row}</Relationships>')
    return packed.getvalue()


@pytest.mark.parametrize("reference", ["&amp;", "&#38;"])
def test_many_references_cost_little_more_than_their_text(reference: str) -> None:
    written = paragraph("x" + reference * 40_000)
    data = docx(written)
    tracemalloc.start()
    hide_references(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 * len(written)


def test_pictures_are_not_packed_again() -> None:
    picture = random.Random(1).randbytes(100_000)
    data, packed = docx(paragraph("R&amp;D")), BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(packed, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
        new.writestr("word/media/a.png", picture)
    with zipfile.ZipFile(BytesIO(hide_references(packed.getvalue()))) as hidden:
        assert hidden.getinfo("word/media/a.png").compress_type == zipfile.ZIP_STORED
        assert hidden.read("word/media/a.png") == picture
