"""Put the lines, letters and brackets of right-to-left pages of a PDF into the order in which they are read.

The first reader gives the words of such a line from left to right; PDFium gives them as they are read. The lam-alef of
a font is one glyph that stands for two letters; a reader that turns the glyphs of a line around turns its letters, too.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pypdfium2 import PdfDocument, PdfTextPage

_ALEFS, _LAM = "اأإآٱ", "ل"
_TURNED = re.compile(f"[{_ALEFS}]{_LAM}")
_WORD = re.compile(r"[\u0621-\u065f\u066e-\u06d3]+")
_MAX_WORD = 100
_MAX_CHARACTERS = 100_000  # of a page
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LETTER = re.compile(r"[^\W\d_]")
_LEAST_KEPT = 0.95  # of the letters of a page, of which each reader may miss some
_BRACKET = re.compile(r"[()\[\]]")
_TURN = str.maketrans("()[]", ")(][")
_CLOSING = {")": "(", "]": "["}  # with what each closes
_LOOSE = re.compile(r"(?<=\S)([(\[])[ ]|[ ]([)\]])(?=\S)")


def order_right_to_left(data: bytes, pages: Sequence[str]) -> list[str]:
    """The texts of the pages, those that are mostly in Arabic or Hebrew letters as they are read.

    On other pages the words are written right that have a ligature there.
    """
    import pypdfium2  # noqa: PLC0415  - loads slowly

    ordered = list(pages)
    turned = [at for at, text in enumerate(pages) if _TURNED.search(text) or _is_right_to_left(text)]
    if not turned:
        return ordered
    with suppress(pypdfium2.PdfiumError):
        document = pypdfium2.PdfDocument(data)
        try:
            for at in turned:
                with suppress(pypdfium2.PdfiumError):
                    ordered[at] = _order_page(document, at, pages[at])
        finally:
            document.close()
    return ordered


def _is_right_to_left(text: str) -> bool:
    return len(_RIGHT_TO_LEFT.findall(text)) * 2 > len(_LETTER.findall(text))


def _order_page(document: PdfDocument, at: int, text: str) -> str:
    if at >= len(document):
        return text
    page = document[at]
    text_page = page.get_textpage()
    votes: dict[str, Counter[str]] = {}
    for found, right in _list_words(text_page):
        votes.setdefault(found, Counter())[right] += 1
    lines = str(text_page.get_text_bounded())
    page.close()
    words = {found: counts.most_common(1)[0][0] for found, counts in votes.items()}
    if _is_right_to_left(text) and len(_LETTER.findall(lines)) >= _LEAST_KEPT * len(_LETTER.findall(text)):
        text = "\n".join(map(pair_brackets, join_pairs(lines.splitlines())))
    return _WORD.sub(lambda match: words.get(match[0], match[0]), text)


def join_pairs(lines: Iterable[str]) -> Iterator[str]:
    """The lines, two of them as one where a bracket is opened in the first and closed in the second."""
    held = ""
    for line in lines:
        if held and _has_pairs(f"{held}\n{line}"):
            yield f"{held}\n{line}"
            held = ""
            continue
        yield from [held] if held else []
        held = "" if _has_pairs(line) else line
        yield from [] if held else [line]
    yield from [held] if held else []


def _has_pairs(line: str) -> bool:
    counts = Counter(_BRACKET.findall(line))
    return all(counts[closing] == counts[opening] for closing, opening in _CLOSING.items())


def pair_brackets(line: str) -> str:
    """A line whose brackets open and close: as they are, or all of them turned, or else each second one closing.

    A line with other brackets stays, such as one with half of a pair.
    """
    if not _RIGHT_TO_LEFT.search(line) or not _BRACKET.search(line) or _is_balanced(line):
        return line
    turned = line.translate(_TURN)
    if not _is_balanced(turned):
        turned = _alternate(line)
    if turned == line:
        return line
    return _LOOSE.sub(lambda match: f" {match[1]}" if match[1] else f"{match[2]} ", turned)


def _is_balanced(line: str) -> bool:
    """Whether each bracket closes one that is open, with something between them."""
    opened = list[tuple[str, int]]()
    for match in _BRACKET.finditer(line):
        if match[0] not in _CLOSING:
            opened.append((match[0], match.end()))
        elif not opened or opened[-1][0] != _CLOSING[match[0]] or opened.pop()[1] == match.start():
            return False
    return not opened


def _alternate(line: str) -> str:
    """The line with each second bracket of a kind closing; as it is without as many of these as of the others."""
    if not _has_pairs(line):
        return line
    seen = Counter[str]()

    def turn(match: re.Match[str]) -> str:
        opening = _CLOSING.get(match[0], match[0])
        seen[opening] += 1
        return opening if seen[opening] % 2 else opening.translate(_TURN)

    return _BRACKET.sub(turn, line)


def _list_words(text_page: PdfTextPage) -> Iterator[tuple[str, str]]:
    """The words of a page in which an alef stands before a lam, as they are found, and as they are read."""
    import pypdfium2.raw as pdfium  # noqa: PLC0415  - loads slowly

    count = min(text_page.count_chars(), _MAX_CHARACTERS)
    letters = "".join(chr(pdfium.FPDFText_GetUnicode(text_page.raw, at) or 32) for at in range(count))
    for match in _WORD.finditer(letters):
        word = match[0]
        if len(word) > _MAX_WORD or not _TURNED.search(word):
            continue
        right = list(word)
        for pair in _TURNED.finditer(word):
            start = match.start() + pair.start()
            if is_one_glyph(_find_frame(text_page, start), _find_frame(text_page, start + 1)):
                right[pair.start()], right[pair.start() + 1] = word[pair.start() + 1], word[pair.start()]
        yield word, "".join(right)


def is_one_glyph(first: Sequence[float], second: Sequence[float]) -> bool:
    """Whether two letters are of one glyph: they start at the same point, and share its box or divide it."""
    if not first or not second or first[:2] != second[:2]:
        return False
    (_, right, *height), (left, _, *other_height) = first[2:], second[2:]
    return first == second or (right == left and height == other_height)


def _find_frame(text_page: PdfTextPage, at: int) -> tuple[float, ...]:
    """Where a letter starts, and its box; empty if that is not known."""
    import pypdfium2.raw as pdfium  # noqa: PLC0415  - loads slowly

    numbers = [ctypes.c_double() for _ in range(6)]
    is_known = pdfium.FPDFText_GetCharOrigin(text_page.raw, at, *numbers[:2])
    is_known = is_known and pdfium.FPDFText_GetCharBox(text_page.raw, at, *numbers[2:])
    return tuple(number.value for number in numbers) if is_known else ()
