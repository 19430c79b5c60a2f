"""Each part of a generated file that has a text is read, or named."""

from __future__ import annotations

import tarfile
from io import BytesIO

import pytest

from engine.parsers.base import ParserLimits
from engine.parsers.detection import detect_format
from engine.parsers.registry import PARSERS
from engine.parsers.sandbox.worker import parse_documents
from tests.engine.parsers.samples import (
    archive,
    docx,
    epub,
    opendocument,
    opendocument_rows,
    paragraph,
    pdf,
    pptx,
    shape,
    with_files,
    xlsx,
)
from tests.engine.parsers.test_pdf_objects import form_pdf

_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_DRAWING = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
_CHART = (
    f'<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" {_DRAWING}><c:chart><c:title>'
    "<c:tx><c:rich><a:p><a:r><a:t>chartword</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart><c:ser>"
    "<c:tx><c:strRef><c:strCache><c:pt idx='0'><c:v>seriesword</c:v></c:pt></c:strCache></c:strRef></c:tx><c:cat>"
    "<c:strRef><c:strCache><c:pt idx='0'><c:v>categoryword</c:v></c:pt></c:strCache></c:strRef></c:cat><c:val>"
    "<c:numRef><c:numCache><c:formatCode>0.0%</c:formatCode><c:pt idx='0'><c:v>0.345</c:v></c:pt></c:numCache>"
    "</c:numRef></c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>"
).encode()
_DIAGRAM = (
    f'<dgm:dataModel xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" {_DRAWING}><dgm:ptLst>'
    "<dgm:pt><dgm:t><a:p><a:r><a:t>diagramword</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>"
).encode()
_BROKEN = b"<broken"


def _relations(**targets: str) -> bytes:
    """References to parts by the last word of their types."""
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    rows = "".join(
        f'<Relationship Id="x{at}" Type="{kind}/{name}" Target="{target}"/>'
        for at, (name, target) in enumerate(targets.items())
    )
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{rows}</Relationships>'.encode()


def _word(element: str, text: str, attributes: str = "") -> bytes:
    inner = f"<w:{element} {attributes}>{paragraph(text)}</w:{element}>" if element else paragraph(text)
    return f"<w:root {_WORD}>{inner}</w:root>".encode()


WORD_PARTS = {
    "word/_rels/document.xml.rels": _relations(
        footnotes="footnotes.xml",
        endnotes="endnotes.xml",
        comments="comments.xml",
        header="header1.xml",
        footer="footer1.xml",
        chart="charts/chart1.xml",
        diagramData="diagrams/data1.xml",
        aFChunk="chunk.html",
        package="embeddings/list.csv",
    ),
    "word/footnotes.xml": _word("footnote", "footnoteword"),
    "word/endnotes.xml": _word("endnote", "endnoteword"),
    "word/comments.xml": _word("comment", "commentword", 'w:author="Ada"'),
    "word/header1.xml": _word("", "headerword"),
    "word/footer1.xml": _word("", "footerword"),
    "word/charts/chart1.xml": _CHART,
    "word/diagrams/data1.xml": _DIAGRAM,
    "word/chunk.html": b"<html><body><p>chunkword</p></body></html>",
    "word/embeddings/list.csv": b"Name,Port\nembeddedword,Rye\n",
}
TEXT_BOX = (
    "<w:p><w:r><w:pict><w:txbxContent><w:p><w:r><w:t>boxword</w:t></w:r></w:p></w:txbxContent></w:pict></w:r></w:p>"
)
SLIDE_PARTS = {
    "ppt/slides/_rels/slide1.xml.rels": _relations(
        chart="../charts/chart1.xml",
        diagramData="../diagrams/data1.xml",
        comments="../comments/comment1.xml",
        notesSlide="../notesSlides/notesSlide9.xml",
    ),
    "ppt/charts/chart1.xml": _CHART,
    "ppt/diagrams/data1.xml": _DIAGRAM,
    "ppt/comments/comment1.xml": b'<p:l xmlns:p="p"><p:cm authorId="0"><p:text>commentword</p:text></p:cm></p:l>',
    "ppt/notesSlides/notesSlide9.xml": _BROKEN,
}
ODT_BODY = (
    "<text:p>bodyword<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>noteword</text:p>"
    "</text:note-body></text:note></text:p><table:table><table:table-row><table:table-cell><text:list><text:list-item>"
    "<text:p><text:span>cellword</text:span></text:p></text:list-item></text:list></table:table-cell></table:table-row>"
    "</table:table><text:p><draw:frame><draw:text-box><text:p>boxword</text:p></draw:text-box></draw:frame></text:p>"
)
RTF = (
    rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset161 B;}}{\header headerword\par}\f0 bodyword"
    rb"{\footnote noteword}{\*\annotation commentword}\par\f1 \'eb\'e9\'ec\'dc\'ed\'e9\par"
    rb"\trowd\intbl cellword\cell other\cell\row\pard {\object\objemb{\*\objdata 00}{\result boxword}}\par}"
)
MAIL = """From: Ada Fromword <a@town.example>
Subject: subjectword
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/html

<p>bodyword</p>
--b
Content-Type: message/rfc822

Subject: innerword

forwardedword
--b
Content-Disposition: attachment; filename=list.csv

Name,Port
attachedword,Rye
--b
Content-Disposition: attachment; filename=drawingword.dwg

\x01\x02
--b--
"""
MAIL_START = "From a Mon Jan "
NOTEBOOK = (
    '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "markdown", "source": ["bodyword"]},'
    ' {"cell_type": "code", "source": ["codeword"], "outputs": [{"output_type": "stream", "text": ["outputword"]}]}]}'
)
SAVED_PAGE = MAIL.replace("From: Ada Fromword <a@town.example>", "From: <Saved by a browser>\nMIME-Version: 1.0")
SHEETS = xlsx({"sheetword": [["headword", 3], ["cellword", 4]], "second": [["lastword", 1]]})
PACKED = {
    "folder/a.txt": b"memberword",
    "inner.zip": archive({"b.txt": b"deepword"}),
    "mail.eml": MAIL.encode(),
    "brokenword.docx": b"PK broken",
}


def _tar(files: dict[str, bytes]) -> bytes:
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as found:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            found.addfile(entry, BytesIO(data))
    return packed.getvalue()


# One file or more of each format that is not of old Office, whose files are tested in test_old_office.
FILES: dict[str, tuple[bytes, str]] = {
    "a.txt": (b"bodyword", "bodyword"),
    "a.md": (
        b"# headword\n\n<table><tr><td>cellword</td></tr></table>\n\n```\ncodeword\n```",
        "headword cellword codeword",
    ),
    "a.mdpages": (b"# headword\n\f\n<!-- image -->\n\f\nlastword", "headword page lastword"),
    "a.html": (
        (
            b"<h1>headword</h1><table><tr><th>cellword</th></tr></table><details><summary>sumword</summary>innerword"
            b"</details><img alt=pictureword src=x.png>"
        ),
        "headword cellword sumword innerword pictureword",
    ),
    "a.xlsx": (SHEETS, "sheetword headword cellword lastword"),
    "a.ods": (
        opendocument(
            "spreadsheet", f'<table:table table:name="sheetword">{opendocument_rows([["cellword", 4]])}</table:table>'
        ),
        "sheetword cellword",
    ),
    "a.odp": (
        opendocument(
            "presentation",
            "<draw:page><draw:frame><draw:text-box><text:p>bodyword</text:p></draw:text-box></draw:frame>"
            "<presentation:notes><draw:frame><draw:text-box><text:p>noteword</text:p></draw:text-box></draw:frame>"
            "</presentation:notes></draw:page>",
        ),
        "bodyword noteword",
    ),
    "a.epub": (epub({"chapterword": "<p>bodyword</p>", "second": "<p>lastword</p>"}), "chapterword bodyword lastword"),
    "a.eml": (MAIL.encode(), "Fromword subjectword bodyword innerword forwardedword attachedword drawingword.dwg"),
    "a.emlx": (b"48\nFrom: a@b.example\nSubject: headword\n\nbodyword\n\n\n\n<plist/>", "headword bodyword"),
    "a.fodt": (
        (
            b'<office:document xmlns:office="o" xmlns:text="t" office:mimetype='
            b'"application/vnd.oasis.opendocument.text">'
            b"<office:body><text:p>bodyword</text:p></office:body></office:document>"
        ),
        "bodyword",
    ),
    "a.mbox": (
        f"{MAIL_START} 5 10:00:00 2026\n{MAIL}\n{MAIL_START} 6 10:00:00 2026\nSubject: lastword\n\nendword\n".encode(),
        "subjectword bodyword forwardedword attachedword drawingword.dwg lastword endword",
    ),
    "a.mht": (SAVED_PAGE.encode(), "bodyword"),
    "a.ics": (
        (
            b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:eventword\nDTSTART:20260512T180000Z\nLOCATION:placeword\n"
            b"DESCRIPTION:moreword\nEND:VEVENT\nBEGIN:VTODO\nSUMMARY:taskword\nEND:VTODO\nBEGIN:VJOURNAL\n"
            b"SUMMARY:dayword\nEND:VJOURNAL\nEND:VCALENDAR"
        ),
        "eventword placeword moreword taskword dayword",
    ),
    "a.vcf": (
        b"BEGIN:VCARD\nVERSION:3.0\nFN:Ada Nameword\nORG:firmword\nNOTE:noteword\nTITLE:jobword\nEND:VCARD",
        "Nameword firmword noteword jobword",
    ),
    "a.zip": (archive(PACKED), "memberword deepword forwardedword attachedword drawingword.dwg brokenword.docx"),
    "a.tgz": (_tar(PACKED), "memberword deepword forwardedword attachedword drawingword.dwg brokenword.docx"),
    "a.pages": (archive({"Index/Document.iwa": b"\0", "QuickLook/Preview.pdf": pdf([["bodyword"]])}), "bodyword"),
    "a.ipynb": (NOTEBOOK.encode(), "bodyword codeword outputword"),
    "a.csv": (b"headword,b\ncellword,4\n", "headword cellword"),
    "a.json": (b'{"keyword": ["valueword", {"inner": "deepword"}]}', "keyword valueword deepword"),
    "a.yaml": (b"keyword:\n  - valueword\n", "keyword valueword"),
    "a.xml": (
        b"<a title='attributeword'>textword<b>innerword</b>tailword</a>",
        "attributeword textword innerword tailword",
    ),
    "a.srt": (b"1\n00:00:01,000 --> 00:00:02,000\nspokenword\n", "spokenword"),
    "a.py": (b'"""docword"""\nname = "valueword"\n', "docword valueword"),
    "a.jsonl": (b'{"id": "1", "user": "Ada", "time": "2026-05-12T10:00:00Z", "text": "saidword"}\n', "saidword"),
    "a.docx": (
        with_files(docx(paragraph("bodyword"), TEXT_BOX), WORD_PARTS),
        (
            "bodyword boxword footnoteword endnoteword commentword headerword footerword chartword seriesword"
            " categoryword 34.5% diagramword chunkword embeddedword"
        ),
    ),
    "a.pptx": (
        with_files(pptx([shape("bodyword")]), SLIDE_PARTS),
        "bodyword chartword seriesword categoryword 34.5% diagramword commentword notes",
    ),
    "a.odt": (opendocument("text", ODT_BODY), "bodyword noteword cellword boxword"),
    "a.rtf": (RTF, "headerword bodyword noteword commentword λιμάνι cellword boxword object"),
    "a.pdf": (form_pdf(), "Gull insured harbor Valid Oar"),
}


def test_each_format_is_walked() -> None:
    walked = {detect_format(name, data, ParserLimits()) for name, (data, _) in FILES.items()}
    old = {name for name, row in PARSERS.items() if row.container == "ole"}
    assert walked == PARSERS.keys() - old - {"picture"}  # a picture has no text without a program or a model


@pytest.mark.parametrize("name", FILES)
def test_each_part_of_a_file_is_read_or_named(name: str) -> None:
    data, words = FILES[name]
    documents = list(parse_documents(name, data, ParserLimits()))
    texts = " ".join(f"{passage.label} {passage.text}" for document in documents for passage in document.passages)
    named = " ".join(omission.part for document in documents for omission in document.omissions)
    assert [word for word in words.split() if word not in texts and word not in named] == []


@pytest.mark.parametrize(
    ("name", "data", "part"),
    [
        ("a.pptx", with_files(pptx([shape("first"), shape("second")]), {"ppt/slides/slide1.xml": _BROKEN}), "slide 2"),
        ("a.docx", with_files(docx(paragraph("first")), {**WORD_PARTS, "word/footnotes.xml": _BROKEN}), "footnotes"),
    ],
)
def test_one_bad_part_does_not_cost_the_file(name: str, data: bytes, part: str) -> None:
    documents = list(parse_documents(name, data, ParserLimits()))
    assert "first" in documents[0].passages[0].text
    assert part in " ".join(omission.part for document in documents for omission in document.omissions)


def test_how_many_slides_were_read_is_said() -> None:
    data = with_files(pptx([shape("first"), shape("second")]), {"ppt/slides/slide1.xml": _BROKEN})
    [parsed] = parse_documents("a.pptx", data, ParserLimits())
    assert parsed.coverage == "1 of 2 slides"
