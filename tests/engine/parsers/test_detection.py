from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from random import Random

import pytest

from engine import FileParser
from engine.errors import CorruptFile, InvalidDocument
from engine.parsers.base import ParserLimits
from engine.parsers.detection import detect_format, detect_zip_format
from tests.engine.parsers.samples import archive, assemble_pdf, docx, paragraph, pdf

PAGE = b"<!doctype html><html><body>Sign in</body></html>"
ODT_FILES = {"mimetype": b"application/vnd.oasis.opendocument.text"}
ODT = archive(ODT_FILES)


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.txt", b"text", "plain"),
        ("README", b"text", "plain"),
        ("a.MD", b"# text", "markdown"),
        ("a.htm", b"<p>text", "html"),
        ("saved", PAGE, "html"),
        ("a.md", b"<html>in markdown", "markdown"),
        ("a.jsonl", b"{}", "messages"),
        ("a.pdf", pdf([["text"]]), "pdf"),
        ("a.txt", pdf([["text"]]), "pdf"),
        ("a.txt", b"A file that begins with %PDF- is a PDF.", "plain"),
        ("a.docx", docx(paragraph("text")), "docx"),
        ("a.bin", docx(paragraph("text")), "docx"),
        ("a.rtf", b"{\\rtf1 text}", "rtf"),
        ("a.eml", b"Subject: text\n\ntext", "eml"),
        ("a.odt", ODT, "odt"),
        ("graph.dot", b"digraph { a -> b }", "plain"),
        ("de.pot", b'msgid "Slates"\nmsgstr ""\n', "plain"),
        ("a.pps", b"text", "plain"),
        ("a.xlt", b"text", "plain"),
        ("a.dbk", b'<article xmlns="http://docbook.org/ns/docbook"><title>Weir</title></article>', "xml"),
        ("a.ttml", b'<tt:tt\n xml:lang="en" xmlns:tt="http://www.w3.org/ns/ttml"/>', "xml"),
        ("a.page", b'<template><p xmlns="a">text</p></template>', "plain"),
    ],
)
def test_the_bytes_decide_before_the_name(name: str, data: bytes, kind: str) -> None:
    assert detect_format(name, data, ParserLimits()) == kind


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_method_that_no_format_permits_is_refused_before_it_takes_memory(packing: int) -> None:
    whole = archive(ODT_FILES, packing)
    greedy = whole.replace(b"\x5d\x00\x00\x80\x00", b"\x5d\xff\xff\xff\xff")  # a dictionary of 4 GiB
    assert (greedy != whole) is (packing == zipfile.ZIP_LZMA)
    for each in (whole, greedy):
        with pytest.raises(CorruptFile, match="does not permit"):
            detect_zip_format(each, ParserLimits())


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_damage_anywhere_in_an_archive_is_an_invalid_document(packing: int) -> None:
    whole, random, errors = (
        archive(ODT_FILES, packing),
        Random(packing),
        set[type[InvalidDocument]](),
    )
    assert detect_zip_format(whole, ParserLimits()) == "odt"
    for _ in range(120):
        damaged = bytearray(whole)
        for _ in range(random.randint(1, 6)):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        try:
            detect_zip_format(bytes(damaged), ParserLimits())
        except InvalidDocument as error:
            errors.add(type(error))
    assert CorruptFile in errors


def deflate(block: bytes, mebibytes: int, window: int) -> bytes:
    """A block repeated up to a size, compressed."""
    packer, block = zlib.compressobj(9, zlib.DEFLATED, window), block * (2**20 // len(block))
    return b"".join([*(packer.compress(block) for _ in range(mebibytes)), packer.flush()])


def lying_docx() -> bytes:
    """A DOCX whose text unpacks to 64 MiB, while all its headers state a thousand bytes."""
    packed, name, file = deflate(b"<w:p/>", 64, -15), b"word/document.xml", BytesIO()
    head = (20, 0, 8, 0, 0, 12345, len(packed), 1000, len(name))
    file.write(struct.pack("<IHHHHHIIIHH", 0x04034B50, *head, 0) + name + packed)
    start = file.tell()
    file.write(struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, *head, 0, 0, 0, 0, 0, 0) + name)
    file.write(struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 1, 1, file.tell() - start, start, 0))
    return file.getvalue()


def packed_pdf() -> bytes:
    """A PDF with a page whose content unpacks to 32 MiB."""
    packed = deflate(b"(ha) Tj ", 32, 15)
    return assemble_pdf(
        (
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>",
            b"<</Length %d/Filter/FlateDecode>>\nstream\n%b\nendstream" % (len(packed), packed),
        )
    )


ENTITIES = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 20}">' for n in range(9))
LAUGHS = f'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY e0 "ha">{ENTITIES}]><w:document>&e9;</w:document>'.encode()
LIMITS = ParserLimits(workers=1, max_memory=1024 * 2**20, max_text_length=5_000_000, timeout_seconds=10)


@pytest.mark.long
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("lies.docx", lying_docx),
        ("laughs.xml", lambda: LAUGHS),
        ("laughs.html", lambda: LAUGHS),
        ("pages.pdf", packed_pdf),
        ("deep.html", lambda: b"<div>" * 100_000 + b"x"),
        ("deep.json", lambda: b"[" * 500_000),
        ("deep.ipynb", lambda: b'{"cells":' + b"[" * 500_000),
        ("deep.md", lambda: b">" * 50_000 + b"x"),
    ],
)
async def test_what_unpacks_to_more_stays_within_the_limits(
    parser: FileParser, name: str, make: Callable[[], bytes]
) -> None:
    with suppress(InvalidDocument):
        parsed = await parser.parse(name, make())
        assert sum(len(passage.text) for passage in parsed.passages) <= LIMITS.max_text_length
    assert (await parser.parse("after.txt", b"The ferry leaves at noon.")).passages
