from __future__ import annotations

from engine.parsers.formats.slides import parse_odp, parse_pptx
from engine.parsers.formats.spreadsheets import parse as parse_sheets
from engine.parsers.registry import PARSERS
from tests.engine.parsers.samples import archive, pptx, shape

_SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "drawing", "text", "presentation", "style", "table")
)


def odp(content: str, styles: str) -> bytes:
    parts = {
        "mimetype": "application/vnd.oasis.opendocument.presentation",
        "content.xml": f"<office:document-content {_SPACES}>{content}</office:document-content>",
        "styles.xml": f"<office:document-styles {_SPACES}>{styles}</office:document-styles>",
        "meta.xml": f"<office:document-meta {_SPACES}/>",
    }
    return archive({name: text.encode() for name, text in parts.items()})


def test_the_footers_of_slides_are_read_once() -> None:
    slides = [shape("Depths") + shape("Harbor office, internal", "ftr") + shape("3", "sldNum")] * 2
    passages = parse_pptx("a.pptx", pptx(slides, ["Ask Ingrid."]), "").passages
    assert [(passage.label, passage.text) for passage in passages][-1] == (
        "header and footer",
        "Harbor office, internal",
    )
    assert sum("internal" in passage.text for passage in passages) == 1
    [alone] = parse_pptx("a.pptx", pptx([shape("Harbor office, internal", "ftr")]), "").passages
    assert alone.text == "Harbor office, internal"


def frame(kind: str, text: str) -> str:
    box = f"<drawing:text-box><text:p>{text}</text:p></drawing:text-box>"
    return f'<drawing:frame presentation:class="{kind}">{box}</drawing:frame>'


def test_the_footers_of_opendocument_slides_are_read_once() -> None:
    frames = frame("footer", "&lt;footer&gt;") + frame("header", "Pilots only") + frame("page-number", "9")
    masters = f"<office:master-styles><style:master-page>{frames}</style:master-page></office:master-styles>"
    footer = "<presentation:footer-decl>Harbor office</presentation:footer-decl>"
    page = f"<drawing:page>{frame('title', 'Depths')}</drawing:page>"
    content = f"<office:body><office:presentation>{footer}{page}</office:presentation></office:body>"
    passages = parse_odp("a.odp", odp(content, masters), "").passages
    assert [passage.text for passage in passages] == ["Depths", "Harbor office\nPilots only"]
    damaged = parse_odp("a.odp", odp(content, "<"), "")
    assert [passage.text for passage in damaged.passages] == ["Depths", "Harbor office"]
    assert [omission.part for omission in damaged.omissions] == ["styles.xml"]


def test_the_footers_of_opendocument_sheets_are_read_unless_they_are_page_numbers() -> None:
    cell = "<table:table-cell><text:p>Eel</text:p></table:table-cell>"
    table = f'<table:table table:name="Prices"><table:table-row>{cell}</table:table-row></table:table>'
    content = f"<office:body><office:spreadsheet>{table}</office:spreadsheet></office:body>"
    footers = "<style:footer><text:p>{}</text:p></style:footer>"
    for text, found in (("Page 1 / 9", ["Eel"]), ("Valid until spring", ["Eel", "Footer: Valid until spring"])):
        page = f"<style:master-page>{footers.format(text)}</style:master-page>"
        data = odp(content, f"<office:master-styles>{page}</office:master-styles>")
        parsed = parse_sheets("a.ods", data, PARSERS["ods"].mime)
        assert [passage.text for passage in parsed.parse_whole()] == found
