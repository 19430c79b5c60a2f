"""Read what has no text of its own: by tesseract if it is installed, else as pictures that a model describes."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from itertools import chain, takewhile
from typing import TYPE_CHECKING

from engine.errors import CorruptFile, DocumentTooLarge, EmptyDocument, EmptyPicture
from engine.models import Omission, Passage
from engine.parsers.base import IS_PICTURE, NO_OCR, UnreadPicture, count_parts
from engine.parsers.formats.pdf.parser import page_of, page_texts, position_of
from engine.parsers.scans.pictures import encode_picture, open_picture
from engine.parsers.scans.tesseract import recognize
from engine.parsers.scans.text_quality import is_garbled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from PIL.Image import Image
    from pypdfium2 import PdfDocument, PdfPage

    from engine.parsers.base import ParsedFile, ParserLimits

    Piece = Passage | UnreadPicture | Omission | None

INSTALL_HINT = (
    "Install tesseract to read scans and pictures (THREADLORE_OCR), or set a model that describes them"
    " (THREADLORE_VISION_MODEL)."
)
_UNREADABLE_HINT = "Add a better scan, or its text."
_RESOLUTION = 200 / 72  # pixels per point
_MAX_PIXELS = 4000  # of the longer side of a page
_SECONDS_PER_PAGE = 2.0
# A part of a scan takes about a fourth of the time limit of a part.
_PART_SHARE = 0.25
_MAX_SCANNED_PAGES = 1000
_MAX_DESCRIBED_PAGES = 50  # of one file: each is a call of a model
_IN_PICTURE = "only its text layer is read, not its picture"
_TOO_MANY = "too many pages are pictures"
_BLANK_RANGE = 24  # of 255 levels of gray, between the lightest and the darkest pixel


def read_scans(parsed: ParsedFile, data: bytes, limits: ParserLimits) -> ParsedFile:
    """The file with the text of its `unread_pages`, or with those pages as pictures; the first ones at once.

    A page whose text layer is garbage keeps it if nothing better is found, unless all of the file is garbage. Raises
    EmptyDocument if there is nothing to read, CorruptFile, or DocumentTooLarge for a scan of too many pages.
    """
    if not (limits.ocr_program or limits.describes_pictures):
        if parsed.passages or parsed.attachments:
            return _name_unread(parsed, data)
        raise _build_refusal(parsed, _no_text(parsed), INSTALL_HINT)
    most = _MAX_SCANNED_PAGES if limits.ocr_program else _MAX_DESCRIBED_PAGES
    if not parsed.passages and len(parsed.unread_pages) > most:
        raise DocumentTooLarge(f"{parsed.title} has {len(parsed.unread_pages)} scanned pages; {most} are allowed.")
    if _is_picture(parsed):
        pieces, kept = _read_picture(data, limits), []
    else:
        layers: dict[int, list[Passage]] = {number: [] for number in parsed.unread_pages}
        kept = list[Passage]()
        for passage in parsed.passages:
            layers.get(page_of(passage), kept).append(passage)
        pieces = _read_pages(layers, data, limits)
    head = list(takewhile(lambda piece: piece is not None, pieces))
    omitted = tuple(piece for piece in head if isinstance(piece, Omission))
    passages = [*kept, *(piece for piece in head if isinstance(piece, Passage))]
    pictures = tuple(piece for piece in head if isinstance(piece, UnreadPicture))
    if not passages and not pictures:
        raise _build_refusal(parsed, f"No text was recognized in {parsed.title}.", _UNREADABLE_HINT)
    return replace(
        parsed,
        passages=tuple(sorted(passages, key=lambda each: each.position)),
        pictures=pictures,
        omissions=(*parsed.omissions, *omitted),
        further=chain(parsed.further, (None,), pieces),
    )


def _name_unread(parsed: ParsedFile, data: bytes) -> ParsedFile:
    """The file with its unread pages as omissions: those without text, and those with garbage."""
    with_text = {page_of(passage) for passage in parsed.passages}
    omitted = (
        *name_pages([page for page in parsed.unread_pages if page not in with_text], NO_OCR),
        *name_pages([page for page in parsed.unread_pages if page in with_text], _IN_PICTURE),
    )
    with _open_pdf(data) as document:
        total = len(document)
    read = total - len(set(parsed.unread_pages) - with_text)
    return replace(parsed, omissions=(*parsed.omissions, *omitted), coverage=count_parts(read, total, "page"))


def name_pages(numbers: Sequence[int], reason: str) -> list[Omission]:
    """An omission for each run of adjacent pages: "p. 3", "pp. 5–9"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] + 1 == number:
            runs[-1].append(number)
        else:
            runs.append([number])
    return [Omission(f"p. {run[0]}" if len(run) == 1 else f"pp. {run[0]}–{run[-1]}", reason) for run in runs]


def pages_per_part(limits: ParserLimits) -> int:
    """How many pages or pictures are recognized in a part, so that it ends in time."""
    return max(1, int(_PART_SHARE * limits.timeout_seconds / _SECONDS_PER_PAGE))


def _build_refusal(parsed: ParsedFile, what: str, hint: str) -> EmptyDocument:
    return (EmptyPicture if _is_picture(parsed) else EmptyDocument)(what, hint=hint)


def _is_picture(parsed: ParsedFile) -> bool:
    return parsed.unread_pages == (0,)


def _no_text(parsed: ParsedFile) -> str:
    if _is_picture(parsed):
        return f"There is no text in {parsed.title}: it is a picture."
    return f"There is no text in {parsed.title}: its pages are pictures, or their text is stored unreadably."


def _read_picture(data: bytes, limits: ParserLimits) -> Iterator[Piece]:
    """A picture as a picture if a model describes pictures, which reads its text as well, else its text."""
    if limits.describes_pictures:
        yield UnreadPicture("picture", "picture", 0, encode_picture(open_picture(data)))
        return
    text = recognize(data, limits)
    for part, each in enumerate([] if is_garbled(text) else page_texts(text), 1):
        yield Passage(f"picture-{part}", each, "picture", position=part - 1)


def _read_pages(layers: Mapping[int, Sequence[Passage]], data: bytes, limits: ParserLimits) -> Iterator[Piece]:
    """The pages of a PDF, by number with the text that they have; None after as many as a part may take."""
    described, in_part = 0, pages_per_part(limits)
    with _open_pdf(data) as document:
        yield from name_pages(sorted(layers)[_MAX_SCANNED_PAGES:], _TOO_MANY)
        for count, number in enumerate(sorted(layers)[:_MAX_SCANNED_PAGES], 1):
            found = _read_page(document[number - 1], number, layers[number], limits)
            pictures = sum(isinstance(frame, UnreadPicture) for frame in found)
            if described + pictures <= _MAX_DESCRIBED_PAGES:
                described += pictures
                yield from found
            else:
                yield Omission(f"p. {number}", _TOO_MANY)
            if count % in_part == 0:
                yield None


def _read_page(
    page: PdfPage, number: int, layer: Sequence[Passage], limits: ParserLimits
) -> Sequence[Passage | UnreadPicture | Omission]:
    """The text layer of a page with what is recognized on it; garbage in the layer goes if something is."""
    picture = _render_page(page)
    if _is_blank(picture):
        return layer
    text = recognize(_encode_gray(picture), limits) if limits.ocr_program else ""
    if not is_garbled(text) and (texts := page_texts(text)):
        kept = [passage for passage in layer if not is_garbled(passage.text) and passage.text not in texts]
        return kept + [
            Passage(f"p{number}-{part}", each, f"p. {number}", position=position_of(number, part))
            for part, each in enumerate(texts, 1 + len(layer))
        ]
    if layer or not limits.describes_pictures:
        return layer or [Omission(f"p. {number}", IS_PICTURE)]
    return [UnreadPicture(f"p{number}", f"p. {number}", position_of(number, 1), encode_picture(picture))]


@contextmanager
def _open_pdf(data: bytes) -> Iterator[PdfDocument]:
    import pypdfium2  # noqa: PLC0415  - needed for scans only

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise CorruptFile("The PDF is damaged or incomplete.") from error
    try:
        yield document
    except pypdfium2.PdfiumError as error:
        raise CorruptFile("A page of the PDF is damaged.") from error
    finally:
        document.close()


def _render_page(page: PdfPage) -> Image:
    width, height = page.get_size()
    scale = min(_RESOLUTION, _MAX_PIXELS / max(width, height, 1))
    picture: Image = page.render(scale=scale).to_pil()
    return picture


def _encode_gray(picture: Image) -> bytes:
    file = BytesIO()
    picture.convert("L").save(file, "PPM")
    return file.getvalue()


def _is_blank(picture: Image) -> bool:
    levels = [level for level, count in enumerate(picture.convert("L").histogram()) if count]
    return levels[-1] - levels[0] < _BLANK_RANGE
