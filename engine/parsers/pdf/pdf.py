"""Parse the text layer of a PDF page by page, through kreuzberg, or through PDFium if kreuzberg fails."""

from __future__ import annotations

from engine.errors import CorruptFile, EmptyDocument, EncryptedFile
from engine.models import Passage
from engine.parsers.base import ParsedFile
from engine.parsers.office.rich_text import extract_document, modified_time
from engine.parsers.passages.blocks import group_blocks, join_blocks
from engine.parsers.pdf.reflow import dehyphenate, reflow_paragraphs
from engine.text.cleanup import clean_lines, clean_multiline

# FPDF_ERR_PASSWORD of PDFium's public header.
_PASSWORD = 4


def parse(name: str, data: bytes, mime: str) -> ParsedFile:
    """Passages with keys p3-1, p3-2 and the label "p. 3". The title is the name: titles inside PDFs are often junk.

    Raises EncryptedFile, EmptyDocument (no text layer: a scan), CorruptFile (not a PDF, or cut off).
    """
    try:
        result = extract_document(data, mime, pages=True)
        pages, saved = [str(page["content"]) for page in result.pages or []], modified_time(result.metadata)
    except CorruptFile:
        pages, saved = [], None
    if not any(page.strip() for page in pages):
        pages = _extract_with_pdfium(data)
    texts = [
        (number, part, text) for number, page in enumerate(pages, 1) for part, text in enumerate(_page_texts(page), 1)
    ]
    if not texts:
        raise EmptyDocument(f"No page of {name} has readable text.")
    passages = (
        Passage(f"p{number}-{part}", text, f"p. {number}", position=position)
        for position, (number, part, text) in enumerate(texts)
    )
    return ParsedFile(name, tuple(passages), saved_at=saved)


def _page_texts(page: str) -> list[str]:
    groups = group_blocks(reflow_paragraphs(clean_lines(dehyphenate(page)), 1))
    return [text for group in groups if (text := clean_multiline(join_blocks(group)))]


def _extract_with_pdfium(data: bytes) -> list[str]:
    import pypdfium2  # noqa: PLC0415  - needed only if kreuzberg found nothing

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code == _PASSWORD:
            raise EncryptedFile("The PDF is locked with a password.") from error
        raise CorruptFile("The PDF is damaged or incomplete.") from error
    try:
        return [page.get_textpage().get_text_bounded() for page in document]
    except pypdfium2.PdfiumError as error:
        raise CorruptFile("A page of the PDF is damaged.") from error
    finally:
        document.close()
