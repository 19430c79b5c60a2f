"""Parse the Markdown of a parser service page by page; pages are separated by form feeds. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.parsers.base import IS_PICTURE, Omission, ParsedFile, count_parts
from engine.parsers.converted.own_findings import PAGE_END
from engine.parsers.encodings.decoding import decode_text
from engine.parsers.formats.pdf.parser import passage_of_page
from engine.parsers.markdown import parse_blocks
from engine.parsers.passages import find_first_heading, group_blocks, join_blocks
from engine.text.cleanup import clean_lines, clean_multiline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engine.models import Passage
    from engine.parsers.passages import Block

PICTURE = "<!-- image -->"
FORMULA = "<!-- formula-not-decoded -->"
NOT_DECODED = "it could not be decoded"
_MARK = re.compile(r"<!--(?:[^-]|-(?!->)){0,200}-->")


def parse(name: str, data: bytes) -> ParsedFile:
    """Passages with keys and labels as those of a PDF, "p. 3". The title is the first heading, else the name.

    A page with nothing but a picture, and formulas that were found and not decoded, are omissions.
    """
    texts = decode_text(data).split(PAGE_END)
    pages = [parse_blocks("\n".join(clean_lines(text))) for text in texts]
    pictures = [number for number, text in enumerate(texts, 1) if PICTURE in text and not _MARK.sub("", text).strip()]
    omissions = [Omission(f"page {number}", IS_PICTURE) for number in pictures]
    omissions += [
        Omission(f"page {number}, formula {which}", NOT_DECODED)
        for number, text in enumerate(texts, 1)
        for which in range(1, text.count(FORMULA) + 1)
    ]
    return ParsedFile(
        find_first_heading([block for page in pages for block in page]) or name,
        tuple(_build_passages(pages)),
        omissions=tuple(omissions),
        coverage=count_parts(len(pages) - len(pictures), len(pages), "page"),
    )


def _build_passages(pages: Sequence[Sequence[Block]]) -> Iterator[Passage]:
    for number, blocks in enumerate(pages, 1):
        for part, group in enumerate(group_blocks(blocks), 1):
            if text := clean_multiline(join_blocks(group)):
                yield passage_of_page(number, part, text)
