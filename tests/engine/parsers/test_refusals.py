"""What is refused, in this process and in a worker."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from random import Random

import pytest

from engine import FileParser, ParserLimits
from engine.errors import (
    CorruptFile,
    DocumentTooLarge,
    EmptyDocument,
    EmptyPicture,
    EncryptedFile,
    InvalidDocument,
    NoTextFormat,
    UnsupportedFormat,
)
from engine.parsers.registry import PARSERS
from engine.parsers.sandbox.worker import parse_file
from tests.engine.parsers.samples import archive, bomb, docx, paragraph, pdf

pytestmark = pytest.mark.asyncio(loop_scope="module")
LIMITS = ParserLimits(workers=1, max_unpacked_size=35_000_000)
PAGE = b"<!doctype html><html><body>Sign in</body></html>"
DOCX = docx(paragraph("text"))
LOCKED_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le")


@pytest.mark.parametrize(
    ("name", "data", "error", "words"),
    [
        ("a.txt", b"", EmptyDocument, "empty"),
        ("a.txt", b" \n", EmptyDocument, "empty"),
        ("a.txt", b"\xff\xfe\x00\x00", EmptyDocument, "empty"),
        ("scan.pdf", pdf([[], []]), EmptyDocument, "text"),
        ("a.pdf", PAGE, CorruptFile, "web page"),
        ("a.docx", PAGE, CorruptFile, "web page"),
        ("a.pdf", b"just words", CorruptFile, "not a PDF"),
        ("junk.pdf", b"%PDF-1.4\njunk", CorruptFile, "damaged"),
        ("null.pdf", b"%PDF-1.7\n" + bytes(500), CorruptFile, "damaged"),
        ("cut.pdf", pdf([["text"]])[:120], CorruptFile, "damaged"),
        ("cut.docx", DOCX[:-40], CorruptFile, "archive"),
        ("cut.docx", DOCX[:200], CorruptFile, "damaged"),
        ("junk.txt", bytes(range(256)) * 20, CorruptFile, "binary"),
        ("a.png", b"\x89PNG\r\n\x1a\n rest", EmptyPicture, "picture"),
        ("garbage.pdf", pdf([["xqk ztw wfr kkp pps lmn"] * 30]), EmptyDocument, "unreadably"),
        ("a.docx", archive({"a.txt": b"text"}), CorruptFile, "not a DOCX"),
        ("a.zip", archive({}), EmptyDocument, "no files"),
        ("a.vsdx", archive({"[Content_Types].xml": b"<Types/>"}), UnsupportedFormat, "Packages"),
        ("a.key", archive({"Index/Document.iwa": b"\0"}), UnsupportedFormat, "preview"),
        ("a.tar.gz", gzip.compress(bytes(20 * 2**20), mtime=0), DocumentTooLarge, "unpack"),
        ("a.tgz", gzip.compress(b"x" * 5000, mtime=0)[:30], CorruptFile, "archive"),
        ("a.xyz", bytes(range(256)), NoTextFormat, ".xyz"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c" + bytes(40), UnsupportedFormat, "Archives of this kind"),
        ("program", b"MZ" + bytes(range(32)) * 40, NoTextFormat, "a program"),
        ("voice", b"OggS\0\2" + bytes(60), NoTextFormat, "a sound or a film"),
        ("clip", b"\0\0\0\x20ftypisom" + bytes(60), NoTextFormat, "a sound or a film"),
        ("letters", b"wOF2\0\1\0\0" + bytes(60), NoTextFormat, "a font"),
        ("blob", bytes(range(256)), NoTextFormat, "Binary"),
        ("shot.raw", Random(5).randbytes(5000), NoTextFormat, ".raw"),
        ("calls.vcf", b"BEGIN:VCARD\nEND:VCARD\n", EmptyDocument, "no contacts"),
        ("year.ics", b"BEGIN:VCALENDAR\nEND:VCALENDAR\n", EmptyDocument, "no events"),
        ("all.jsonl", b"no JSON\nat all\n", CorruptFile, "Line 1"),
        ("locked.xlsx", LOCKED_OLE, EncryptedFile, "password"),
        ("locked.pdf", pdf([["secret"]], locked=True), EncryptedFile, "password"),
        ("bomb.docx", lambda: bomb(30_000_000), DocumentTooLarge, "zip bomb"),
        ("long.docx", lambda: bomb(36_000_000), DocumentTooLarge, "34 MiB in"),
        ("many.zip", lambda: archive({str(n): b"" for n in range(10_001)}), DocumentTooLarge, "10001 parts"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_file_that_cannot_be_read_is_refused_with_a_hint(
    parser: FileParser, name: str, data: bytes | Callable[[], bytes], error: type[InvalidDocument], words: str
) -> None:
    data = data if isinstance(data, bytes) else data()
    with pytest.raises(error, match=words) as here:
        parse_file(name, data, LIMITS)
    with pytest.raises(error, match=words) as in_worker:
        await parser.parse(name, data)
    assert type(in_worker.value) is type(here.value) is error
    assert in_worker.value.hint == here.value.hint
    assert here.value.hint


async def test_a_damaged_docx_is_corrupt_for_its_parser_too() -> None:
    with pytest.raises(CorruptFile):
        PARSERS["docx"].parse("a.docx", DOCX[:200])


@pytest.mark.parametrize(
    ("limits", "data", "words"),
    [
        (ParserLimits(max_text_length=100), b"word " * 50, "100 characters"),
        (ParserLimits(timeout_seconds=0.001), b"one", "longer than"),
        (ParserLimits(max_memory=192 * 2**20), b"a b c d e\n" * 3_000_000, "memory"),
    ],
    ids=["text", "time", "memory"],
)
async def test_a_file_that_exceeds_a_limit_is_too_large(limits: ParserLimits, data: bytes, words: str) -> None:
    async with FileParser(limits) as parser:
        with pytest.raises(DocumentTooLarge, match=words):
            await parser.parse("a.txt", data)
        assert words != "longer than" or parser._processes[0].pid is None


@pytest.mark.parametrize("words", [b"MZ is the sign of a program.", b"ID3 tags of the songs", b"wOF2 and OTTO"])
async def test_a_text_may_begin_like_another_format(words: bytes) -> None:
    assert parse_file("notes", words, LIMITS).passages[0].text == words.decode()
