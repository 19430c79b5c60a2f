"""Documents of Office that are a single XML file of today."""

from __future__ import annotations

import base64

import pytest

from engine.parsers.base import ParserLimits
from engine.parsers.detection import detect_format
from engine.parsers.formats.xml_text import parse
from tests.engine.parsers.samples import blip

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(300)).decode()
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
CELL = "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
TABLE = f"<w:tbl><w:tr>{CELL.format('Pier')}{CELL.format(7)}</w:tr></w:tbl>"
TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"


def relation(*kinds_and_targets: str) -> str:
    """The relations of a part: each kind is followed by its target and is the id."""
    space = "http://schemas.openxmlformats.org"
    rows = "".join(
        f'<Relationship Id="{kind}" Type="{space}/officeDocument/2006/relationships/{kind}" Target="{target}"/>'
        for kind, target in zip(kinds_and_targets[::2], kinds_and_targets[1::2], strict=True)
    )
    return f'<Relationships xmlns="{space}/package/2006/relationships">{rows}</Relationships>'


def package(*, is_hoisted: bool = False) -> str:
    """A package with a text, a comment and a picture; its namespace is declared around the parts if `is_hoisted`."""
    around, inside = (f' xmlns:w="{WORD}"', "") if is_hoisted else ("", f' xmlns:w="{WORD}"')
    parts = {
        "/_rels/.rels": relation("officeDocument", "word/document.xml"),
        "/word/_rels/document.xml.rels": relation("comments", "comments.xml", "image", "media/a.png"),
        "/word/document.xml": f"<w:document{inside}><w:body><w:p><w:r><w:t>Grüße an die Mole &amp; den Kai</w:t></w:r>"
        f"</w:p>{TABLE}<w:p>{blip('image')}</w:p></w:body></w:document>",
        "/word/comments.xml": f'<w:comments{inside}><w:comment w:id="0" w:author="Mo"><w:p><w:r><w:t>Ask her</w:t>'
        "</w:r></w:p></w:comment></w:comments>",
    }
    written = "".join(
        f'<pkg:part pkg:name="{name}" pkg:contentType="{TYPE}.main+xml"><pkg:xmlData>{text}</pkg:xmlData></pkg:part>'
        for name, text in parts.items()
    )
    picture = (
        '<pkg:part pkg:name="/word/media/a.png" pkg:contentType="image/png" pkg:compression="store">'
        f"<pkg:binaryData>{PNG[:76]}\n{PNG[76:]}</pkg:binaryData></pkg:part>"
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?><?mso-application progid="Word.Document"?>'
        f'<pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage"{around}>{written}{picture}'
        "</pkg:package>"
    )


@pytest.mark.parametrize("name", ["a.xml", "a.doc"])
@pytest.mark.parametrize("is_hoisted", [False, True])
def test_a_document_in_one_file_is_read_as_its_archive(name: str, *, is_hoisted: bool) -> None:
    data = package(is_hoisted=is_hoisted).encode()
    assert detect_format(name, data, ParserLimits()) == "xml"
    found = parse(name, data)
    texts = [passage.text for passage in found.passages]
    assert texts[0].startswith("Grüße an die Mole & den Kai\n\nPier | 7")
    assert "Ask her" in texts[-1]
    assert [picture.data for picture in found.embedded] == [base64.b64decode(PNG)]


@pytest.mark.parametrize("end", ["</w:body>", "</pkg:xmlData>", "<pkg:binaryData>"])
def test_a_package_that_is_cut_off_is_read_up_to_there(end: str) -> None:
    whole = package()
    found = parse("a.xml", whole[: whole.rindex(end) + 4].encode())
    assert "Mole" in " ".join(passage.text for passage in found.passages)
