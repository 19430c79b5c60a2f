from __future__ import annotations

import pytest

from engine.errors import (
    CorruptFile,
    DocumentTooLarge,
    EmptyDocument,
    EncryptedFile,
    InvalidDocument,
    UnsupportedFormat,
)
from engine.parsers.base import ParserLimits
from engine.parsers.detection.detect import detect_format
from tests.engine.parsers.samples import archive, bomb, docx, paragraph, pdf

LIMITS = ParserLimits()
PAGE = b"<!doctype html><html><body>Sign in</body></html>"


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
        ("a.odt", archive({"mimetype": b"application/vnd.oasis.opendocument.text"}), "odt"),
    ],
)
def test_the_bytes_have_the_first_word_and_the_name_the_second(name: str, data: bytes, kind: str) -> None:
    assert detect_format(name, data, LIMITS) == kind


@pytest.mark.parametrize(
    ("name", "data", "error", "words"),
    [
        ("a.txt", b"", EmptyDocument, "empty"),
        ("a.txt", b"\xff\xfe\x00\x00", EmptyDocument, "empty"),
        ("a.pdf", PAGE, CorruptFile, "web page"),
        ("a.docx", PAGE, CorruptFile, "web page"),
        ("a.pdf", b"just words", CorruptFile, "not a PDF"),
        ("a.png", b"\x89PNG....", UnsupportedFormat, "image"),
        ("a.zip", archive({"a.txt": b"text"}), UnsupportedFormat, "archive"),
        ("a.xyz", b"text", UnsupportedFormat, ".xyz"),
        ("a.docx", docx(paragraph("text"))[:-40], CorruptFile, "archive"),
        ("a.docx", bomb(30_000_000), DocumentTooLarge, "unpack"),
        (
            "a.xlsx",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
            EncryptedFile,
            "password",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_hint(
    name: str, data: bytes, error: type[InvalidDocument], words: str
) -> None:
    with pytest.raises(error, match=words) as caught:
        detect_format(name, data, LIMITS)
    assert caught.value.hint


def test_an_archive_may_not_unfold_beyond_the_limit_whatever_its_ratio() -> None:
    with pytest.raises(DocumentTooLarge, match="unpack"):
        detect_format("a.docx", docx(paragraph("text " * 1000)), ParserLimits(max_unpacked_size=1000))


def test_an_archive_may_not_have_countless_parts() -> None:
    with pytest.raises(DocumentTooLarge, match="10001 parts"):
        detect_format("a.zip", archive({str(n): b"" for n in range(10_001)}), LIMITS)
