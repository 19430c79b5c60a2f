"""Read the text of pictures and scanned pages with the program tesseract, within the limits of the worker."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from engine.errors import CorruptFile, DocumentTooLarge, EmptyDocument
from engine.models import Passage
from engine.parsers.base import ParsedFile
from engine.parsers.pdf import page_texts
from engine.parsers.scans.text_quality import is_garbled

if TYPE_CHECKING:
    from engine.parsers.base import ParserLimits

INSTALL_HINT = "Install tesseract to read scans and pictures (THREADLORE_OCR)."
_RESOLUTION = 200 / 72  # pixels per point
_MAX_PIXELS = 4000  # of the longer side of a page
# A page takes about a second; scans that would take longer than the limit are refused before the first page.
_SECONDS_PER_PAGE = 2.0


def read_scan(name: str, data: bytes, limits: ParserLimits) -> ParsedFile:
    """A PDF of scanned pages, labeled "p. 3", or a picture, labeled "picture"; the text is recognized.

    Raises EmptyDocument without readable text, CorruptFile, or DocumentTooLarge if there are too many pages.
    """
    if b"%PDF-" in data[:1024]:
        pages = [(f"p{at}", f"p. {at}", text) for at, text in enumerate(_read_pdf_pages(name, data, limits), 1)]
    else:
        pages = [("picture", "picture", _recognize(data, limits))]
    if is_garbled("\n".join(text for _, _, text in pages)):
        raise EmptyDocument(f"The text in {name} cannot be recognized.", hint="Add a better scan, or its text.")
    found = [(f"{key}-{part}", label, text) for key, label, page in pages for part, text in _number_texts(page)]
    if not found:
        raise EmptyDocument(f"No text was recognized in {name}.", hint="Add a better scan, or its text.")
    passages = (Passage(key, text, label, position=at) for at, (key, label, text) in enumerate(found))
    return ParsedFile(name, tuple(passages))


def _number_texts(page: str) -> list[tuple[int, str]]:
    return list(enumerate(page_texts(page), 1))


def _read_pdf_pages(name: str, data: bytes, limits: ParserLimits) -> list[str]:
    import pypdfium2  # noqa: PLC0415  - needed for scans only

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise CorruptFile("The PDF is damaged or incomplete.") from error
    try:
        if len(document) * _SECONDS_PER_PAGE > limits.timeout_seconds:
            raise DocumentTooLarge(
                f"{name} has {len(document)} scanned pages, which take longer than {limits.timeout_seconds:g} seconds.",
                hint="Split it, or raise THREADLORE_PARSER_TIMEOUT_SECONDS.",
            )
        return [_recognize(_render_page(page), limits) for page in document]
    except pypdfium2.PdfiumError as error:
        raise CorruptFile("A page of the PDF is damaged.") from error
    finally:
        document.close()


def _render_page(page: object) -> bytes:
    """A page as a gray picture in the format PGM."""
    width, height = page.get_size()  # type: ignore[attr-defined]
    scale = min(_RESOLUTION, _MAX_PIXELS / max(width, height, 1))
    bitmap = page.render(scale=scale, grayscale=True)  # type: ignore[attr-defined]
    pixels, stride = bytes(bitmap.buffer), bitmap.stride
    rows = (pixels[row * stride : row * stride + bitmap.width] for row in range(bitmap.height))
    return b"P5 %d %d 255\n" % (bitmap.width, bitmap.height) + b"".join(rows)


def _recognize(picture: bytes, limits: ParserLimits) -> str:
    """The text of a picture; empty if there is none. Raises CorruptFile if it is not a picture."""
    command = [limits.ocr_program, "stdin", "stdout", "-l", limits.ocr_languages]
    done = subprocess.run(  # noqa: S603 - the program and its languages are settings
        command, input=picture, capture_output=True, check=False, env={"OMP_THREAD_LIMIT": "1"}
    )
    if done.returncode == 0:
        return done.stdout.decode("utf-8", "replace")
    message = done.stderr.decode("utf-8", "replace")
    if "language" in message.lower():
        raise EmptyDocument(
            f"There is no text in it, and tesseract does not know the language {limits.ocr_languages}.",
            hint="Install the language, or set THREADLORE_OCR_LANGUAGES.",
        )
    raise CorruptFile("The picture is damaged, or its format is not known to tesseract.")
