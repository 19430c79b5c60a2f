"""PDF: the text layer page by page, through kreuzberg, or through PDFium where kreuzberg gives up."""

from __future__ import annotations

from engine.errors import Broken, Empty, Encrypted
from engine.models import Passage
from engine.parsers.base import Read
from engine.parsers.office.rich_text import extract, stamp
from engine.parsers.passages.packing import joined, pack
from engine.parsers.pdf.reflow import paragraphs, unwrapped
from engine.text.cleaning import lines_of, tidy

# FPDF_ERR_PASSWORD of PDFium's public header.
_PASSWORD = 4


def read(name: str, data: bytes) -> Read:
    """Passages with keys p3-1, p3-2 and the label "p. 3". Titles inside of PDFs are often junk: it is the name.

    Raises Encrypted, Empty (no text layer: a scan), Broken (not a PDF, or cut off).
    """
    try:
        result = extract(data, "application/pdf", pages=True)
        pages, saved = [str(page["content"]) for page in result.pages or []], stamp(result.metadata)
    except Broken:
        pages, saved = [], None
    if not any(page.strip() for page in pages):
        pages = _by_pdfium(data)
    found = [(number, part, text) for number, page in enumerate(pages, 1) for part, text in enumerate(_texts(page), 1)]
    if not found:
        raise Empty(f"No page of {name} has text that could be read.")
    passages = (
        Passage(f"p{number}-{part}", text, f"p. {number}", position=position)
        for position, (number, part, text) in enumerate(found)
    )
    return Read(name, tuple(passages), stamp=saved)


def _texts(page: str) -> list[str]:
    groups = pack(paragraphs(lines_of(unwrapped(page)), 1))
    return [text for group in groups if (text := tidy(joined(group)))]


def _by_pdfium(data: bytes) -> list[str]:
    import pypdfium2  # noqa: PLC0415  - loaded only when kreuzberg found nothing

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code == _PASSWORD:
            raise Encrypted("The PDF is locked with a password.") from error
        raise Broken("The PDF is damaged or cut off.") from error
    try:
        return [page.get_textpage().get_text_bounded() for page in document]
    except pypdfium2.PdfiumError as error:
        raise Broken("A page of the PDF is damaged.") from error
    finally:
        document.close()
