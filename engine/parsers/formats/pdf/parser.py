"""Parse the text layer of a PDF page by page, through kreuzberg, or through PDFium if kreuzberg fails."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from engine.errors import CorruptFile, EncryptedFile
from engine.models import Passage
from engine.parsers.base import ParsedFile, stream_passages
from engine.parsers.formats.pdf.reader import is_stamp, read_objects
from engine.parsers.formats.pdf.right_to_left import order_right_to_left
from engine.parsers.office import extract_document, modified_time
from engine.parsers.passages import Block, group_blocks, join_blocks, split_block
from engine.parsers.scans.text_quality import is_garbled
from engine.text.cleanup import clean_lines, clean_multiline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pypdfium2 import PdfDocument

    from engine.parsers.formats.pdf.reader import PdfObjects

# FPDF_ERR_PASSWORD of PDFium's public header.
_PASSWORD = 4

# PDFium marks a hyphen at a line's end with U+0002 and has joined the lines already; others leave a soft hyphen.
_HYPHEN = re.compile(r"[\x02\xad\ufffe]\n?")
_WRAPPED = re.compile(r"(?<=[^\W\d_])-\n(?=[a-zà-öø-ÿ])")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_BULLET = re.compile(r"(?:[-–—•·▪●○‣*]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s")
_END = re.compile(r"[.!?:;。！？][\"'”’)\]]*$")
_FIGURES = re.compile(r"[\d$€£%]")
# A line shorter than this share of its neighbors ends its paragraph; a line that ends a sentence must be fuller.
_SHORT_SHARE, _FULL_SHARE = 0.7, 0.9
_NEIGHBOR_LINES = 4
_LONG_PAGES, _SAMPLE_PAGES = 300, 50  # pages of a long PDF, and of those that are judged whether they are garbage
_MAX_PARTS = 1000  # passages of a page, in the numbering of positions
_FIRST_TYPED = 800  # position of the forms and notes of a page, after its text
# Addresses and table rows are narrower than any column of prose.
_MIN_COLUMN_WIDTH = 32


def parse(name: str, data: bytes, mime: str) -> ParsedFile:
    """Passages with keys p3-1, p3-2 and the label "p. 3". The title is the name: titles inside PDFs are often junk.

    Forms and notes are passages p3-n1, labeled "p. 3, form" and "p. 3, note by Ada"; attached files are attachments.
    Pages without a text layer, with garbage in it, or with a stamp upon a picture are `unread_pages`; if all of the
    text is garbage, there are no passages of it. A long PDF is parsed while it is taken. Raises EncryptedFile,
    CorruptFile (not a PDF, or cut off).
    """
    long_pages = _extract_long(data)
    if long_pages and not is_garbled("\n".join(islice(filter(str.strip, long_pages), _SAMPLE_PAGES))):
        objects = read_objects(data)
        unread = _list_unread(dict(enumerate(long_pages, 1)), objects)
        parsed = stream_passages(name, _build_passages(order_right_to_left(data, long_pages), objects))
        return _with_objects(replace(parsed, unread_pages=unread), objects)
    try:
        result = extract_document(data, mime, pages=True)
        pages, saved = [str(page["content"]) for page in result.pages or []], modified_time(result.metadata)
    except CorruptFile:
        pages, saved = [], None
    if not any(page.strip() for page in pages):
        pages = _extract_with_pdfium(data)
    pages, objects = order_right_to_left(data, pages), read_objects(data)
    texts = {number: "\n".join(page_texts(page)) for number, page in enumerate(pages, 1)}
    if is_garbled("\n".join(texts.values())):
        parsed = ParsedFile(name, tuple(_build_passages([""] * len(pages), objects)), unread_pages=tuple(texts))
    else:
        unread = _list_unread(texts, objects)
        parsed = ParsedFile(name, tuple(_build_passages(pages, objects)), unread_pages=unread)
    return _with_objects(replace(parsed, saved_at=saved), objects)


def _with_objects(parsed: ParsedFile, objects: PdfObjects) -> ParsedFile:
    return replace(parsed, attachments=tuple(objects.attachments), omissions=tuple(objects.omissions))


def _list_unread(texts: Mapping[int, str], objects: PdfObjects) -> tuple[int, ...]:
    """The pages on which there is something that their text layer does not say."""
    return tuple(
        number
        for number, text in texts.items()
        if (number in objects.drawn and not text.strip())
        or (number in objects.pictures and is_stamp(text))
        or is_garbled(text)
    )


def _build_passages(pages: Iterable[str], objects: PdfObjects) -> Iterator[Passage]:
    for number, page in enumerate(pages, 1):
        texts = page_texts(page)
        for part, text in enumerate(texts, 1):
            yield passage_of_page(number, part, text)
        typed = [
            (label, block.text)
            for label, text in objects.texts.get(number, ())
            for block in split_block(Block(text, 0, 0))
        ]
        for at, (label, text) in enumerate(typed[: _MAX_PARTS - _FIRST_TYPED], 1):
            place = position_of(number, max(len(texts), _FIRST_TYPED) + at)
            yield Passage(f"p{number}-n{at}", text, f"p. {number}, {label}", position=place)


def passage_of_page(page: int, part: int, text: str) -> Passage:
    """A passage by its page and its number there, both from 1."""
    return Passage(f"p{page}-{part}", text, f"p. {page}", position=position_of(page, part))


def position_of(page: int, part: int) -> int:
    """The position of a passage by its page and its number there, both from 1."""
    return page * _MAX_PARTS + part


def page_of(passage: Passage) -> int:
    """The page of a passage, the inverse of `position_of`."""
    return passage.position // _MAX_PARTS


def page_texts(page: str) -> list[str]:
    """The text of a page in parts of the length of a passage."""
    groups = group_blocks(reflow_paragraphs(clean_lines(dehyphenate(page)), 1))
    return [text for group in groups if (text := clean_multiline(join_blocks(group)))]


def _extract_long(data: bytes) -> list[str]:
    """The pages of a long PDF, which kreuzberg would only give all at once and later; else none."""
    with suppress(EncryptedFile, CorruptFile):
        return _extract_with_pdfium(data, min_pages=_LONG_PAGES)
    return []


def _extract_with_pdfium(data: bytes, min_pages: int = 1) -> list[str]:
    """The texts of the pages, none if there are fewer than `min_pages`."""
    import pypdfium2  # noqa: PLC0415  - loads slowly

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code == _PASSWORD:
            raise EncryptedFile("The PDF is locked with a password.") from error
        raise CorruptFile("The PDF is damaged or incomplete.") from error
    try:
        return [_extract_page(document, at) for at in range(len(document))] if len(document) >= min_pages else []
    finally:
        document.close()


def _extract_page(document: PdfDocument, at: int) -> str:
    """The text of a page; none of one that is damaged, which is named with its objects."""
    import pypdfium2  # noqa: PLC0415  - loads slowly

    with suppress(pypdfium2.PdfiumError):
        return str(document[at].get_textpage().get_text_bounded())
    return ""


def dehyphenate(text: str) -> str:
    """The text without line-end hyphens, and with ligatures as letters."""
    return _WRAPPED.sub("", _HYPHEN.sub(_hyphen_replacement, text)).translate(_LIGATURES)


def reflow_paragraphs(lines: Sequence[str], first: int) -> list[Block]:
    """Join lines where a sentence continues; rows of figures and list items stay separate lines."""
    stripped = [line.strip() for line in lines]
    groups: list[list[str]] = []
    for at, line in enumerate(stripped):
        before = stripped[at - 1] if at else ""
        if (
            line
            and before
            and _is_continuation(
                before, line, _usual_length(stripped[max(0, at - _NEIGHBOR_LINES) : at + _NEIGHBOR_LINES])
            )
        ):
            groups[-1].append(line)
        elif line:
            groups.append([line])
    return [Block(" ".join(group), first + at, first + at, "item") for at, group in enumerate(groups)]


def _hyphen_replacement(match: re.Match[str]) -> str:
    """An empty string between lower-case letters, a hyphen anywhere else ("Peg-IFN")."""
    text, before, after = match.string, match.start() - 1, match.end()
    inside = before >= 0 and after < len(text) and text[before].islower() and text[after].islower()
    return "" if inside else "-"


def _usual_length(near: Sequence[str]) -> int:
    """The usual length of the neighboring lines: columns differ in width."""
    return sorted(len(line) for line in near)[-2:][0]


def _is_continuation(before: str, line: str, usual: int) -> bool:
    """Whether the sentence in `before` continues in `line`."""
    if _BULLET.match(line) or not any(map(str.isalnum, before)):
        return False
    if line[0].islower() and not _END.search(before):
        return True
    if _is_table_row(before) or _is_table_row(line):
        return False
    return len(before) >= max(_SHORT_SHARE * usual, _MIN_COLUMN_WIDTH) and not (
        _END.search(before) and len(before) < _FULL_SHARE * usual
    )


def _is_table_row(line: str) -> bool:
    """Whether more than half of the words contain figures."""
    words = line.split()
    return 2 * sum(bool(_FIGURES.search(word)) for word in words) > len(words)
