from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import EncryptedFile
from engine.parsers.formats.pdf.parser import _extract_with_pdfium, dehyphenate, reflow_paragraphs
from engine.parsers.registry import PARSERS
from tests.engine.parsers.samples import pdf

parse = PARSERS["pdf"].parse


def test_a_full_page_becomes_several_passages() -> None:
    lines = [f"This is sentence number {n} of a page that is full of them." for n in range(50)]
    passages = parse("a.pdf", pdf([lines])).passages
    assert [(passage.key, passage.label) for passage in passages] == [(f"p1-{n}", "p. 1") for n in (1, 2, 3)]
    assert passages[-1].text.endswith("sentence number 49 of a page that is full of them.")


def test_a_long_file_is_parsed_while_it_is_taken_and_has_the_same_passages() -> None:
    long = parse("a.pdf", pdf([[f"This is page {n}."] if n % 100 else [] for n in range(1, 601)]))
    assert len(long.passages) < 594
    assert long.unread_pages == ()  # an empty page is no picture
    passages = long.parse_whole()
    assert (len(passages), passages[-1].key, passages[-1].label) == (594, "p599-1", "p. 599")
    [alone] = parse("a.pdf", pdf([["This is page 102."]])).passages
    assert passages[100] == replace(alone, key="p102-1", label="p. 102", position=102_001)


def test_the_fallback_knows_locked_files() -> None:
    with pytest.raises(EncryptedFile):
        _extract_with_pdfium(pdf([["secret"]], locked=True))


def test_the_fallback_reads_the_same_text() -> None:
    assert [page.strip() for page in _extract_with_pdfium(pdf([["One."], ["Two."]]))] == ["One.", "Two."]


def test_a_page_that_cannot_be_loaded_costs_no_other() -> None:
    data = pdf([["This is page 1."], ["This is page 2."]]).replace(b"4 0 R 6 0 R]", b"4 0 R 2 0 R]")
    parsed = parse("a.pdf", data)
    assert [passage.text for passage in parsed.passages] == ["This is page 1."]
    assert [omission.part for omission in parsed.omissions] == ["p. 2"]


FLOWED = [
    "The library of the town was founded by Ada and her Brother in the year of the flood, and it has stood there.",
    "A new paragraph begins here.",
]
LINES = ["Town Library", "12 Main Street", "- one item", "- two items", "Total 12 $45.00 17%", "Rent 3 $4.00 2%"]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        (FLOWED[0].replace("her B", "her\nB").replace("stood ", "stood\n") + "\n" + FLOWED[1], FLOWED),
        ("\n".join(LINES), LINES),
    ],
    ids=["lines of a paragraph are joined", "addresses, items and figures stay lines"],
)
def test_reflow(text: str, blocks: list[str]) -> None:
    assert [block.text for block in reflow_paragraphs(text.split("\n"), 1)] == blocks


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("ef\x02ficient Peg\x02IFN state-\nwide well-known A-\nB", "efficient Peg-IFN statewide well-known A-\nB"),
        ("eﬃcient ﬂow", "efficient flow"),
    ],
    ids=["hyphens at line ends", "ligatures"],
)
def test_dehyphenation(text: str, joined: str) -> None:
    assert dehyphenate(text) == joined


@given(st.text(alphabet="ab1 .-•\n(", max_size=300))
def test_reflow_changes_nothing_but_blank_space(text: str) -> None:
    joined = "".join(block.text for block in reflow_paragraphs(text.split("\n"), 1))
    assert "".join(joined.split()) == "".join(text.split())
