"""With the real program, if it is installed."""

from __future__ import annotations

import shutil
from io import BytesIO

import pypdfium2
import pytest
from matplotlib.figure import Figure

from engine import FileParser, ParserLimits
from engine.errors import CorruptFile, EmptyDocument
from engine.parsers.sandbox.worker import parse_file
from engine.parsers.scans.pages import _render_page
from tests.engine.parsers.samples import assemble_pdf, pdf

PROGRAM = shutil.which("tesseract") or ""
needs_tesseract = pytest.mark.skipif(not PROGRAM, reason="tesseract is not installed")
LIMITS = ParserLimits(workers=1, ocr_program=PROGRAM)


def picture(text: str) -> bytes:
    figure, file = Figure((6, 2)), BytesIO()
    figure.text(0.05, 0.5, text, size=18)
    figure.savefig(file, format="png")
    return file.getvalue()


def scan(lines: list[str], pages: int = 1) -> bytes:
    """A PDF whose pages are pictures of these lines."""
    page = _render_page(pypdfium2.PdfDocument(pdf([lines]))[0]).convert("L")
    (width, height), pixels = page.size, page.tobytes()
    image = b"<</Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace/DeviceGray/BitsPerComponent 8/Length %d>>"
    content = b"595 0 0 842 0 0 cm /I Do"
    sheet = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 3 0 R/Resources<</XObject<</I 4 0 R>>>>>>"
    kids = b" ".join(b"%d 0 R" % (5 + number) for number in range(pages))
    return assemble_pdf(
        (
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[%b]/Count %d>>" % (kids, pages),
            b"<</Length %d>>\nstream\n%b\nendstream" % (len(content), content),
            image % (width, height, len(pixels)) + b"\nstream\n" + pixels + b"\nendstream",
            *[sheet] * pages,
        )
    )


@needs_tesseract
async def test_scans_and_pictures_are_read_in_the_sandbox() -> None:
    async with FileParser(LIMITS) as parser:
        scanned = await parser.parse("scan.pdf", scan(["The ferry leaves at noon.", "Tickets cost seven crowns."]))
        shown = await parser.parse("board.png", picture("The ferry is late today."))
    assert [(passage.key, passage.label) for passage in scanned.passages] == [("p1-1", "p. 1")]
    assert "ferry leaves at noon" in scanned.passages[0].text
    assert [(passage.key, passage.label) for passage in shown.passages] == [("picture-1", "picture")]
    assert "ferry is late" in shown.passages[0].text


@pytest.mark.long
@needs_tesseract
def test_what_cannot_be_recognized_is_refused() -> None:
    with pytest.raises(EmptyDocument, match="No text was recognized"):
        parse_file("blank.png", picture(""), LIMITS)
    with pytest.raises(CorruptFile):
        parse_file("cut.png", picture("The ferry")[:40], LIMITS)
    with pytest.raises(EmptyDocument, match="xyz") as caught:
        parse_file("a.png", picture("The ferry"), ParserLimits(ocr_program=PROGRAM, ocr_languages="xyz"))
    assert "THREADLORE_OCR_LANGUAGES" in caught.value.hint


@pytest.mark.parametrize(("name", "data"), [("scan.pdf", scan(["The ferry."])), ("a.png", picture("The ferry"))])
def test_without_the_program_the_hint_names_it(name: str, data: bytes) -> None:
    with pytest.raises(EmptyDocument, match="no text") as caught:
        parse_file(name, data, ParserLimits())
    assert "tesseract" in caught.value.hint
