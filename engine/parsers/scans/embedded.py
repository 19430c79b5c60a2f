"""Read the pictures within documents: described by a model, or recognized; they follow the text as further parts."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from itertools import chain, islice, takewhile
from typing import TYPE_CHECKING

from engine.errors import EmptyDocument, InvalidDocument
from engine.models import Omission, Passage
from engine.parsers.base import IS_PICTURE, NO_OCR, WITHOUT_WORDS, UnreadPicture
from engine.parsers.formats.pdf.parser import page_texts
from engine.parsers.passages import shorten_label
from engine.parsers.scans.pages import INSTALL_HINT, pages_per_part
from engine.parsers.scans.pictures import encode_picture, open_picture
from engine.parsers.scans.tesseract import recognize
from engine.parsers.scans.text_quality import is_garbled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PIL.Image import Image

    from engine.parsers.base import EmbeddedPicture, ParsedFile, ParserLimits

    Piece = Passage | UnreadPicture | Omission | None

MAX_DESCRIBED, MAX_RECOGNIZED = 20, 50  # of one document
_MAX_COUNTED = 200  # pictures that nothing reads
_MIN_SIDE = 48  # pixels; smaller ones are icons and lines
_POSITIONS = 100  # of one picture
_WORD = re.compile(r"[^\W\d_]{3,}")
_MIN_WORDS = 2  # fewer are noise in a photograph


def read_embedded(parsed: ParsedFile, limits: ParserLimits) -> ParsedFile:
    """The document with its pictures as further parts, so that its text does not wait for them; named if too many.

    Raises EmptyDocument if it has nothing but pictures, and nothing reads them.
    """
    pictures = iter(parsed.embedded)
    parsed = replace(parsed, embedded=())
    if not (limits.ocr_program or limits.describes_pictures):
        if not (parsed.passages or parsed.attachments) and next(pictures, None) is not None:
            raise EmptyDocument(f"There is no text in {parsed.title}, only pictures.", hint=INSTALL_HINT)
        return _name_pictures(parsed, pictures)
    parsed = _without_pictures_named(parsed)
    pieces = _read_all(pictures, len(parsed.passages), limits)
    if parsed.passages:
        return replace(parsed, further=chain(parsed.further, (None,), pieces))
    head = list(takewhile(lambda piece: piece is not None, pieces))
    return replace(
        parsed,
        passages=tuple(piece for piece in head if isinstance(piece, Passage)),
        pictures=tuple(piece for piece in head if isinstance(piece, UnreadPicture)),
        omissions=(*parsed.omissions, *(piece for piece in head if isinstance(piece, Omission))),
        further=chain((None,), pieces),
    )


def _name_pictures(parsed: ParsedFile, pictures: Iterator[EmbeddedPicture]) -> ParsedFile:
    """The document with the number of its pictures as an omission, besides the pages that are nothing else."""
    named = {omission.part for omission in parsed.omissions if omission.reason == IS_PICTURE}
    found = sum(
        picture.label.partition(",")[0].partition(":")[0] not in named
        for picture, _ in islice(_open_all(pictures), _MAX_COUNTED)
    )
    return replace(parsed, omissions=(*parsed.omissions, *_name_number(found, NO_OCR)))


def _name_number(found: int, reason: str) -> tuple[Omission, ...]:
    """The number of pictures, counted up to a maximum, as an omission; nothing if there are none."""
    part = "1 picture" if found == 1 else f"{found}{'+' * (found == _MAX_COUNTED)} pictures"
    return (Omission(part, reason),) if found else ()


def _without_pictures_named(parsed: ParsedFile) -> ParsedFile:
    """The document whose pictures are read, too: no page of it is left out because it is a picture."""
    kept = tuple(omission for omission in parsed.omissions if omission.reason != IS_PICTURE)
    return replace(parsed, omissions=kept, coverage=parsed.coverage if kept else "")


def _read_all(pictures: Iterator[EmbeddedPicture], first: int, limits: ParserLimits) -> Iterator[Piece]:
    """Each picture once, although several places show it; None after as many as a part may take.

    Ends early if one picture after the other holds no words, because nothing is sent meanwhile. Those that are left
    are counted as an omission.
    """
    most, in_part = MAX_DESCRIBED if limits.describes_pictures else MAX_RECOGNIZED, pages_per_part(limits)
    read = fruitless = 0
    opened = _open_all(pictures)
    for picture, image in opened:
        found = _read(picture, image, (first + read * _POSITIONS, read + 1), limits)
        yield from found
        read, fruitless = read + 1, 0 if found else fruitless + 1
        if read == most or fruitless == 2 * in_part:
            reason = f"only the first {most} pictures of a document are read" if read == most else WITHOUT_WORDS
            yield from _name_number(sum(1 for _ in islice(opened, _MAX_COUNTED)), reason)
            return
        if read % in_part == 0:
            yield None


def _open_all(pictures: Iterator[EmbeddedPicture]) -> Iterator[tuple[EmbeddedPicture, Image]]:
    """Different pictures, without icons and without what cannot be opened, such as WMF."""
    seen = set[bytes]()
    with suppress(InvalidDocument):  # a damaged part ends the pictures, not the document
        for picture in pictures:
            digest = sha256(picture.data).digest()
            if digest not in seen:
                seen.add(digest)
                with suppress(InvalidDocument):
                    image = open_picture(picture.data)
                    if min(image.size) >= _MIN_SIDE:
                        yield picture, image


def _read(
    picture: EmbeddedPicture, image: Image, place: tuple[int, int], limits: ParserLimits
) -> list[Passage] | list[UnreadPicture]:
    """A picture at its position, with its number, or its text if there are words in it."""
    (position, number), label = place, shorten_label(picture.label)
    if limits.describes_pictures:
        return [UnreadPicture(f"picture-{number}", label, position, encode_picture(image))]
    text = ""
    with suppress(InvalidDocument):  # tesseract knows fewer formats
        text = recognize(picture.data, limits)
    if is_garbled(text) or len(_WORD.findall(text)) < _MIN_WORDS:
        return []
    return [
        Passage(f"picture-{number}-{part}", each, label, position=position + part - 1)
        for part, each in enumerate(page_texts(text), 1)
    ]
