from __future__ import annotations

import pytest

from engine.errors import CorruptFile, EmptyDocument, EncryptedFile
from engine.parsers.pdf.pdf import _extract_with_pdfium
from engine.parsers.registry import PARSERS
from tests.engine.parsers.samples import pdf

parse = PARSERS["pdf"].parse


def test_pages_are_the_locators() -> None:
    found = parse("guide.pdf", pdf([["The first page."], [], ["The third page."]]))
    assert found.title == "guide.pdf"
    assert [(p.key, p.label, p.text) for p in found.passages] == [
        ("p1-1", "p. 1", "The first page."),
        ("p3-1", "p. 3", "The third page."),
    ]


def test_a_full_page_becomes_several_passages() -> None:
    lines = [f"This is sentence number {n} of a page that is full of them." for n in range(50)]
    found = parse("a.pdf", pdf([lines]))
    assert [passage.key for passage in found.passages] == ["p1-1", "p1-2", "p1-3"]
    assert found.passages[-1].text.endswith("sentence number 49 of a page that is full of them.")
    assert {passage.label for passage in found.passages} == {"p. 1"}


def test_a_page_without_text_is_empty() -> None:
    with pytest.raises(EmptyDocument, match="text"):
        parse("scan.pdf", pdf([[], []]))


def test_a_locked_file_is_encrypted() -> None:
    with pytest.raises(EncryptedFile):
        parse("a.pdf", pdf([["secret"]], locked=True))


@pytest.mark.parametrize("data", [b"%PDF-1.4\njunk", pdf([["text"]])[:120], b"%PDF-1.7\n" + bytes(500)])
def test_junk_and_cut_off_files_are_broken(data: bytes) -> None:
    with pytest.raises(CorruptFile):
        parse("a.pdf", data)


def test_the_fallback_reads_the_same_text() -> None:
    assert [page.strip() for page in _extract_with_pdfium(pdf([["One."], ["Two."]]))] == ["One.", "Two."]


def test_the_fallback_knows_locked_files_too() -> None:
    with pytest.raises(EncryptedFile):
        _extract_with_pdfium(pdf([["secret"]], locked=True))
