"""Pictures within documents: described or recognized after the text, cited by their place."""

from __future__ import annotations

import pytest

from engine import FileParser, ParserLimits
from engine.errors import EmptyDocument
from engine.models import Omission
from engine.parsers.base import WITHOUT_WORDS
from engine.parsers.sandbox.worker import parse_documents
from engine.parsers.scans.embedded import MAX_DESCRIBED
from tests.engine.parsers.samples import blip, docx, epub, opendocument, paragraph, pptx, relation, shape, with_files
from tests.engine.parsers.scans.test_pages import PROGRAM, needs_tesseract
from tests.engine.parsers.scans.test_tesseract import picture
from tests.support.fake_describer import Eyes

LIMITS = ParserLimits(workers=1)
BOARD = picture("The ferry leaves at noon")
IMAGE = '<{}:image xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="{}"/>'
HEADED = f"{paragraph('Harbor', 'Heading1')}{paragraph('The plan.')}<w:p><w:r>{blip('i')}</w:r></w:p>"
SLIDES = pptx([shape("Plans", "title") + blip("i"), shape("Costs", "title") + blip("i")])


def in_slides(*boards: bytes) -> bytes:
    """A presentation with a picture on each slide; its parts are numbered from the end."""
    files = {}
    for number, board in enumerate(boards, 1):
        files[f"ppt/slides/_rels/slide{3 - number}.xml.rels"] = relation("i", f"../media/{number}.png")
        files[f"ppt/media/{number}.png"] = board
    return with_files(SLIDES, files)


DOCUMENTS = {
    "plan.pptx": in_slides(BOARD, picture("Another board")),
    "plan.docx": with_files(
        docx(HEADED), {"word/_rels/document.xml.rels": relation("i", "media/a.png"), "word/media/a.png": BOARD}
    ),
    "plan.odt": with_files(
        opendocument("text", "<text:h>Harbor</text:h><text:p>Text.</text:p>" + IMAGE.format("draw", "Pictures/a.png")),
        {"Pictures/a.png": BOARD},
    ),
    "plan.odp": with_files(
        opendocument(
            "presentation", "<draw:page><text:p>Text.</text:p>" + IMAGE.format("draw", "a.png") + "</draw:page>"
        ),
        {"a.png": BOARD},
    ),
    "plan.epub": with_files(epub({"Harbor": '<p>Text.</p><img alt="" src="a.png"/>'}), {"book/a.png": BOARD}),
}
PLACES = {
    "plan.pptx": ["slide 1: Plans, picture", "slide 2: Costs, picture"],
    "plan.docx": ["Harbor, picture"],
    "plan.odt": ["Harbor, picture"],
    "plan.odp": ["slide 1, picture"],
    "plan.epub": ["Harbor, picture"],
}


@pytest.mark.long
async def test_pictures_follow_the_text_and_are_cited_by_their_place() -> None:
    async with FileParser(LIMITS, Eyes(*["A board."] * 7)) as parser:
        found = {name: [each async for each in parser.stream(name, data)] for name, data in DOCUMENTS.items()}
        whole = await parser.parse("plan.docx", DOCUMENTS["plan.docx"])
    assert {part.key for parts in found.values() for part in parts[:1]} == {""}
    assert {
        name: [passage.label for part in parts[1:] for passage in part.passages] for name, parts in found.items()
    } == PLACES
    assert [passage.text for passage in whole.passages][1:] == ["A board."]


@pytest.mark.long
@needs_tesseract
def test_pictures_are_recognized_unless_they_hold_no_words() -> None:
    data = in_slides(BOARD, picture("7 %"))
    first, second = parse_documents("plan.pptx", data, ParserLimits(ocr_program=PROGRAM))
    assert [passage.label for passage in first.passages] == ["slide 1: Plans", "slide 2: Costs"]
    assert [(passage.label, passage.text) for passage in second.passages] == [
        ("slide 1: Plans, picture", "The ferry leaves at noon")
    ]


@pytest.mark.long
@needs_tesseract
def test_many_photographs_without_words_end_the_reading() -> None:
    many = {f"a{number}.png": picture(f"{number}") for number in range(6)} | {"last.png": BOARD}
    images = "".join(IMAGE.format("draw", name) for name in many)
    data = with_files(opendocument("text", f"<text:p>Text.</text:p>{images}"), many)
    text, last = parse_documents("plan.odt", data, ParserLimits(ocr_program=PROGRAM, timeout_seconds=8))
    assert [passage.text for passage in text.passages] == ["Text."]
    assert [omission.reason for omission in last.omissions] == [WITHOUT_WORDS]


@pytest.mark.long
async def test_a_picture_on_every_slide_is_described_once_and_few_of_many() -> None:
    eyes = Eyes(*["A board."] * 99)
    many = {f"a{number}.png": picture(f"Board {number}") for number in range(MAX_DESCRIBED + 2)}
    images = "".join(IMAGE.format("draw", name) for name in many)
    async with FileParser(LIMITS, eyes) as parser:
        await parser.parse("plan.pptx", in_slides(BOARD, BOARD))
        assert len(eyes.seen) == 1
        data = with_files(opendocument("text", f"<text:p>Text.</text:p>{images}"), many)
        *_, last = [each async for each in parser.stream("plan.odt", data) if not each.key]
    assert len(eyes.seen) == 1 + MAX_DESCRIBED
    reason = f"only the first {MAX_DESCRIBED} pictures of a document are read"
    assert last.omissions == (Omission("2 pictures", reason),)


@pytest.mark.long
async def test_a_refused_description_leaves_the_text() -> None:
    async with FileParser(LIMITS, Eyes(EmptyDocument("no"))) as parser:
        first, last = [each async for each in parser.stream("plan.docx", DOCUMENTS["plan.docx"])]
    assert first.passages[0].label == last.passages[0].label == "Harbor"
    assert [omission.reason for omission in last.omissions] == ["no"]


def test_nothing_but_pictures_is_refused_with_what_would_read_them() -> None:
    only = with_files(
        pptx([blip("i")]), {"ppt/slides/_rels/slide1.xml.rels": relation("i", "../a.png"), "ppt/a.png": BOARD}
    )
    with pytest.raises(EmptyDocument, match="only pictures") as caught:
        next(parse_documents("board.pptx", only, LIMITS))
    assert "tesseract" in caught.value.hint
    [parsed] = parse_documents("board.pptx", only, ParserLimits(describes_pictures=True))
    assert [each.label for each in parsed.pictures] == ["slide 1, picture"]
