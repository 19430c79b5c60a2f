from __future__ import annotations

import pytest

from engine.parsers.base import ParserLimits
from engine.parsers.detection.detect import detect_format
from tests.engine.parsers.samples import archive, docx, paragraph, pdf

PAGE = b"<!doctype html><html><body>Sign in</body></html>"
ODT = archive({"mimetype": b"application/vnd.oasis.opendocument.text"})


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
    ],
)
def test_the_bytes_decide_before_the_name(name: str, data: bytes, kind: str) -> None:
    assert detect_format(name, data, ParserLimits()) == kind
