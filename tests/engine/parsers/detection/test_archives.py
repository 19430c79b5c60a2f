from __future__ import annotations

import struct
import zipfile
import zlib
from contextlib import suppress
from io import BytesIO
from random import Random
from typing import TYPE_CHECKING

import pytest

from engine.errors import CorruptFile, InvalidDocument
from engine.parsers.base import ParserLimits
from engine.parsers.detection.archives import detect_zip_format
from engine.parsers.sandbox.pool import FileParser

if TYPE_CHECKING:
    from collections.abc import Callable

ODT = "application/vnd.oasis.opendocument.text"


def zipped(packing: int) -> bytes:
    held = BytesIO()
    with zipfile.ZipFile(held, "w", packing) as archive:
        archive.writestr("mimetype", ODT)
        archive.writestr("content.xml", "x" * 100)
    return held.getvalue()


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damage_anywhere_in_an_archive_is_told_as_such(packing: int) -> None:
    whole, random, refused = zipped(packing), Random(packing), set[type[InvalidDocument]]()
    assert detect_zip_format(whole, ParserLimits()) == "odt"
    for _ in range(250):
        damaged = bytearray(whole)
        for _ in range(random.randint(1, 6)):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        try:
            detect_zip_format(bytes(damaged), ParserLimits())
        except InvalidDocument as error:
            refused.add(type(error))
    assert CorruptFile in refused


def lying(size: int) -> bytes:
    """A DOCX whose text unfolds to `size` MiB, though all its headers say that it has a thousand bytes."""
    made, block = zlib.compressobj(9, zlib.DEFLATED, -15), b"<w:p/>" * (2**20 // 6)
    packed = b"".join([*(made.compress(block) for _ in range(size)), made.flush()])
    name, file = b"word/document.xml", BytesIO()
    head = (20, 0, 8, 0, 0, 12345, len(packed), 1000, len(name))
    file.write(struct.pack("<IHHHHHIIIHH", 0x04034B50, *head, 0) + name + packed)
    start = file.tell()
    file.write(struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, *head, 0, 0, 0, 0, 0, 0) + name)
    file.write(struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 1, 1, file.tell() - start, start, 0))
    return file.getvalue()


ENTITIES = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 20}">' for n in range(9))
LAUGHS = f'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY e0 "ha">{ENTITIES}]><w:document>&e9;</w:document>'.encode()


def paged(size: int) -> bytes:
    """A PDF with a page whose content unfolds to `size` MiB."""
    made, block = zlib.compressobj(9), b"(ha) Tj " * (2**20 // 8)
    packed = b"".join([*(made.compress(block) for _ in range(size)), made.flush()])
    parts = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>",
        b"<</Length %d/Filter/FlateDecode>>\nstream\n%b\nendstream" % (len(packed), packed),
    )
    body = b"".join(b"%d 0 obj\n%b\nendobj\n" % (number, part) for number, part in enumerate(parts, 1))
    return b"%PDF-1.4\n" + body + b"trailer<</Root 1 0 R>>\n%%EOF"


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("lies.docx", lambda: lying(256)),
        ("laughs.xml", lambda: LAUGHS),
        ("laughs.html", lambda: LAUGHS),
        ("pages.pdf", lambda: paged(64)),
        ("deep.html", lambda: b"<div>" * 100_000 + b"x"),
        ("deep.json", lambda: b"[" * 500_000),
        ("deep.ipynb", lambda: b'{"cells":' + b"[" * 500_000),
        ("deep.md", lambda: b">" * 50_000 + b"x"),
    ],
)
async def test_what_unfolds_without_saying_so_stays_within_the_limits(name: str, make: Callable[[], bytes]) -> None:
    limits = ParserLimits(workers=1, max_memory=1024 * 2**20, max_text_length=5_000_000, timeout_seconds=4)
    async with FileParser(limits) as reader:
        with suppress(InvalidDocument):
            read = await reader.parse(name, make())
            assert sum(len(passage.text) for passage in read.passages) <= limits.max_text_length
        after = await reader.parse("after.txt", b"The ferry leaves at noon.")
    assert after.passages
