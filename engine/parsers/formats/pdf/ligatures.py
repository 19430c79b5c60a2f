"""Put the letters of Arabic ligatures of a PDF into the order in which they are read.

The lam-alef of a font is one glyph that stands for two letters; a reader that turns the glyphs of a line around turns
its letters, too. Both letters then start at the same point of the page.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pypdfium2 import PdfDocument, PdfTextPage

_ALEFS, _LAM = "اأإآٱ", "ل"
_TURNED = re.compile(f"[{_ALEFS}]{_LAM}")
_WORD = re.compile(r"[\u0621-\u065f\u066e-\u06d3]+")
_MAX_WORD = 100
_MAX_CHARACTERS = 100_000  # of a page


def order_ligatures(data: bytes, pages: Sequence[str]) -> list[str]:
    """The texts of the pages, in which those words are written right that have a ligature on their page."""
    import pypdfium2  # noqa: PLC0415  - loads slowly

    ordered = list(pages)
    turned = [at for at, text in enumerate(pages) if _TURNED.search(text)]
    if not turned:
        return ordered
    with suppress(pypdfium2.PdfiumError):
        document = pypdfium2.PdfDocument(data)
        try:
            for at in turned:
                ordered[at] = _order_page(document, at, pages[at])
        finally:
            document.close()
    return ordered


def _order_page(document: PdfDocument, at: int, text: str) -> str:
    if at >= len(document):
        return text
    page = document[at]
    votes: dict[str, Counter[str]] = {}
    for found, right in _list_words(page.get_textpage()):
        votes.setdefault(found, Counter())[right] += 1
    page.close()
    words = {found: counts.most_common(1)[0][0] for found, counts in votes.items()}
    return _WORD.sub(lambda match: words.get(match[0], match[0]), text)


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
            if _origin(text_page, start) == _origin(text_page, start + 1):
                right[pair.start()], right[pair.start() + 1] = word[pair.start() + 1], word[pair.start()]
        yield word, "".join(right)


def _origin(text_page: PdfTextPage, at: int) -> tuple[float, float]:
    """Where a letter starts."""
    import pypdfium2.raw as pdfium  # noqa: PLC0415  - loads slowly

    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(text_page.raw, at, x, y)
    return x.value, y.value
