"""Pages without readable text beside others, and pictures: recognized, described, or left as they are."""

from __future__ import annotations

import base64
import shutil
from email.message import EmailMessage
from io import BytesIO

import pytest
from PIL import Image

from engine import FileParser, ParserLimits
from engine.errors import CorruptFile, DocumentTooLarge, EmptyDocument, ModelUnavailable
from engine.models import Omission
from engine.parsers.base import ParsedFile
from engine.parsers.sandbox.worker import parse_documents
from engine.parsers.scans.descriptions import MAX_DESCRIBED_PICTURES
from engine.parsers.scans.pictures import MAX_SIDE, encode_picture, open_picture
from tests.engine.parsers.samples import pdf
from tests.engine.parsers.scans.test_tesseract import picture, scan
from tests.support.fake_describer import Eyes

PROGRAM = shutil.which("tesseract") or ""
needs_tesseract = pytest.mark.skipif(not PROGRAM, reason="tesseract is not installed")
LIMITS = ParserLimits(workers=1)
VISION = ParserLimits(workers=1, describes_pictures=True)
GARBAGE = ["xqk ztw wfr kkp pps lmn"] * 30
TEXT = ["The ferry leaves at noon, and the tickets cost seven crowns in winter."]


def merge(first: bytes, second: bytes) -> bytes:
    """A PDF with the pages of both."""
    import pypdfium2  # noqa: PLC0415 - as in the product

    document, target = pypdfium2.PdfDocument(first), BytesIO()
    document.import_pages(pypdfium2.PdfDocument(second))
    document.save(target)
    return target.getvalue()


def shown(parsed: ParsedFile) -> list[tuple[str, str]]:
    return [(passage.label, passage.text[:13]) for passage in parsed.passages]


@pytest.mark.share(2)
@needs_tesseract
@pytest.mark.parametrize("layer", [[], GARBAGE], ids=["no text layer", "garbage in it"])
def test_only_pages_without_readable_text_are_recognized(layer: list[str]) -> None:
    limits = ParserLimits(ocr_program=PROGRAM)
    blank = pdf([layer, TEXT]) if not layer else pdf([TEXT])
    [parsed] = parse_documents("mixed.pdf", merge(merge(pdf([TEXT]), scan(["The library closes."])), blank), limits)
    pages = ["p. 1", "p. 2", "p. 4" if not layer else "p. 3"]
    assert shown(parsed) == list(zip(pages, ["The ferry lea", "The library c", "The ferry lea"], strict=True))


@pytest.mark.long
@needs_tesseract
def test_a_garbled_page_keeps_its_text_if_nothing_better_is_recognized() -> None:
    [parsed] = parse_documents("a.pdf", pdf([TEXT * 20, GARBAGE[:10]]), ParserLimits(ocr_program=PROGRAM))
    assert parsed.passages[-1].text.startswith("xqk ztw")


@pytest.mark.long
@needs_tesseract
def test_a_long_scan_becomes_parts_within_the_time_limit() -> None:
    limits = ParserLimits(ocr_program=PROGRAM, timeout_seconds=16)
    first, second = parse_documents("long.pdf", scan(["The library closes."], pages=3), limits)
    assert [passage.label for passage in first.passages] == ["p. 1", "p. 2"]
    assert (second.key, shown(second)) == ("part-2", [("p. 3", "The library c")])


def test_too_many_scanned_pages_are_refused_before_the_first() -> None:
    data = scan(["The ferry."], pages=60)
    with pytest.raises(DocumentTooLarge, match="60 scanned pages"):
        next(parse_documents("long.pdf", data, VISION))


async def test_pictures_and_scans_are_described_and_cited_as_such() -> None:
    eyes = Eyes("A board.\n\nFerry: late", "A **page** with a stamp.")
    async with FileParser(LIMITS, eyes) as parser:
        board = await parser.parse("board.png", picture("Ferry: late"))
        mixed = await parser.parse("mixed.pdf", merge(pdf([TEXT]), scan(["The library."])))
    assert [(passage.key, passage.label, passage.text) for passage in board.passages] == [
        ("picture-1", "picture", "A board.\n\nFerry: late")
    ]
    assert [(passage.key, passage.label) for passage in mixed.passages] == [("p1-1", "p. 1"), ("p2-1", "p. 2")]
    assert mixed.passages[1].text == "A page with a stamp."
    assert [max(Image.open(BytesIO(each)).size) <= MAX_SIDE for each in eyes.seen] == [True, True]


@pytest.mark.long
async def test_the_attachments_of_a_file_share_the_limit_of_described_pictures() -> None:
    part = b'--x\nContent-Disposition: attachment; filename="%d.png"\nContent-Transfer-Encoding: base64\n\n%b\n'
    board = base64.b64encode(picture("Ferry"))
    count = MAX_DESCRIBED_PICTURES + 3
    parts = b"".join(part % (number, board) for number in range(count))
    eyes = Eyes(*["A board."] * count)
    async with FileParser(LIMITS, eyes) as parser:
        letter = b"Subject: Boards\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nHello.\n" + parts + b"--x--"
        documents = [each async for each in parser.stream("a.eml", letter)]
    assert len(eyes.seen) == MAX_DESCRIBED_PICTURES
    assert [document.title for document in documents if document.key][:2] == ["Boards › 0.png", "Boards › 1.png"]
    assert len({document.key for document in documents}) == 1 + MAX_DESCRIBED_PICTURES
    [mail] = [document for document in documents[1:] if not document.key]
    assert [omission.part for omission in mail.omissions] == [f"attachment {count - left}.png" for left in (3, 2, 1)]
    assert {omission.reason for omission in mail.omissions} == {
        f"only the first {MAX_DESCRIBED_PICTURES} pictures of an upload are described"
    }


@pytest.mark.long
async def test_an_attachment_that_cannot_be_described_is_named_with_its_mail() -> None:
    letter = EmailMessage()
    letter["Subject"] = "Boards"
    letter.set_content("Hello.")
    for name in ("one", "two"):
        letter.add_attachment(picture(name), "image", "png", filename=f"{name}.png")
    async with FileParser(LIMITS, Eyes("A board.", EmptyDocument("Nobody may describe it."))) as parser:
        documents = [each async for each in parser.stream("a.eml", letter.as_bytes())]
    assert [document.title for document in documents] == ["Boards", "Boards › one.png", "Boards"]
    assert documents[-1].omissions == (Omission("Boards › two.png", "Nobody may describe it"),)


@pytest.mark.long
async def test_what_cannot_be_described_is_refused_left_out_or_tried_again() -> None:
    refusal = EmptyDocument("The picture could not be described.")
    eyes = Eyes(refusal, refusal, ModelUnavailable("It sleeps."))
    async with FileParser(LIMITS, eyes) as parser:
        with pytest.raises(EmptyDocument, match="could not be described"):
            await parser.parse("board.png", picture("Ferry"))
        mixed = await parser.parse("mixed.pdf", merge(pdf([TEXT]), scan(["The library."])))
        assert [passage.label for passage in mixed.passages] == ["p. 1"]
        assert [omission.part for omission in mixed.omissions] == ["p. 2"]
        with pytest.raises(ModelUnavailable):
            await parser.parse("board.png", picture("Ferry"))


@pytest.mark.long
def test_a_picture_is_sent_small_upright_on_white_and_without_metadata() -> None:
    file, exif = BytesIO(), Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "the place"  # turned by a quarter; a description
    Image.new("RGBA", (4000, 2000), (0, 0, 0, 0)).save(file, "PNG", exif=exif)
    sent = encode_picture(open_picture(file.getvalue()))
    again = Image.open(BytesIO(sent))
    assert again.size == (MAX_SIDE // 2, MAX_SIDE)
    assert again.getpixel((5, 5)) == (255, 255, 255)
    assert not again.getexif()
    assert b"the place" not in sent


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "JPEG", "TIFF"])
def test_the_first_frame_of_each_format_is_opened(kind: str) -> None:
    file = BytesIO()
    Image.new("RGB", (30, 20), "green").save(file, kind)
    [parsed] = parse_documents(f"a.{kind.lower()}", file.getvalue(), VISION)
    assert [(each.key, each.label) for each in parsed.pictures] == [("picture", "picture")]


@pytest.mark.long
def test_a_damaged_picture_or_one_of_too_many_pixels_is_refused() -> None:
    with pytest.raises(CorruptFile):
        next(parse_documents("cut.png", picture("Ferry")[:400], VISION))
    file = BytesIO()
    Image.new("1", (20_000, 20_000)).save(file, "PNG")
    with pytest.raises(DocumentTooLarge, match="pixels"):
        next(parse_documents("huge.png", file.getvalue(), VISION))
