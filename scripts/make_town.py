# /// script
# requires-python = ">=3.11"
# dependencies = ["python-docx==1.2.0", "reportlab==4.4.4"]
# ///
"""Typeset the PDF and DOCX files of the demo's town from the Markdown in scripts/town_src/.

    uv run scripts/make_town.py

Its two libraries are no dependencies of the project. The same sources give the same bytes. A source knows titles (#),
headings (##), paragraphs of one line, tables (|), and --- for a new page.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Literal

import docx
from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A5
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate, Table

SOURCES = Path(__file__).parent / "town_src"
TOWN = Path(__file__).parents[1] / "bot" / "demo" / "town"
PDFS = ("harbour-rules", "lighthouse-survey")
DOCXS = ("cooperative-report", "lifeboat-rota")
PRINTED = datetime(2026, 1, 1, tzinfo=UTC)

INK, RULE = HexColor("#1d2b36"), HexColor("#9aa7b0")
BODY = ParagraphStyle("body", fontName="Times-Roman", fontSize=10.5, leading=14, spaceAfter=6, textColor=INK)
HEADING = ParagraphStyle("heading", BODY, fontName="Times-Bold", fontSize=13, leading=17, spaceBefore=8)
TITLE = ParagraphStyle("title", BODY, fontName="Times-Bold", fontSize=18, leading=22, spaceAfter=10)
STYLES = {"title": TITLE, "heading": HEADING, "text": BODY}

Kind = Literal["title", "heading", "text", "table", "page"]


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph-like piece of a source; only a table has more than one row."""

    kind: Kind
    rows: tuple[tuple[str, ...], ...]

    @property
    def text(self) -> str:
        return self.rows[0][0]


def kind_of(line: str) -> Kind:
    starts: tuple[tuple[str, Kind], ...] = (("# ", "title"), ("## ", "heading"), ("|", "table"), ("---", "page"))
    return next((kind for start, kind in starts if line.startswith(start)), "text")


def blocks(source: str) -> list[Block]:
    lines = [line for line in source.splitlines() if line and not line.startswith("| ---")]
    found: list[Block] = []
    for kind, group in groupby(lines, kind_of):
        if kind == "table":
            found.append(
                Block(kind, tuple(tuple(cell.strip() for cell in line.strip("|").split("|")) for line in group))
            )
        else:
            found.extend(Block(kind, ((line.lstrip("# "),),)) for line in group)
    return found


def flowable(block: Block) -> Flowable:
    if block.kind == "page":
        return PageBreak()
    if block.kind == "table":
        look = [
            ("FONT", (0, 0), (-1, 0), "Times-Bold", 10),
            ("FONT", (0, 1), (-1, -1), "Times-Roman", 10),
            ("LINEBELOW", (0, 0), (-1, -1), 0.4, RULE),
        ]
        return Table(block.rows, style=look, hAlign="LEFT", spaceAfter=8)
    return Paragraph(block.text, STYLES[block.kind])


def write_pdf(found: list[Block], target: Path) -> None:
    page = SimpleDocTemplate(
        str(target),
        pagesize=A5,
        **dict.fromkeys(("leftMargin", "rightMargin", "topMargin", "bottomMargin"), 18 * mm),
        title=found[0].text,
        author="Ploverness",
        invariant=True,  # no date and no random id, so that the bytes repeat
    )
    page.build([flowable(block) for block in found])


def add_table(document: docx.document.Document, rows: tuple[tuple[str, ...], ...]) -> None:
    table = document.add_table(len(rows), len(rows[0]), style="Light Grid Accent 1")
    for row, texts in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text


def write_docx(found: list[Block], target: Path) -> None:
    document = docx.Document()
    about = document.core_properties
    about.title, about.author, about.comments, about.created, about.modified = (
        found[0].text,
        "Ploverness",
        "",
        PRINTED,
        PRINTED,
    )
    for block in found:
        if block.kind == "table":
            add_table(document, block.rows)
        elif block.kind == "text":
            document.add_paragraph(block.text)
        else:
            document.add_heading(block.text, 0 if block.kind == "title" else 1)
    loose = io.BytesIO()
    document.save(loose)
    target.write_bytes(without_clock(loose))


def without_clock(packed: io.BytesIO) -> bytes:
    """The same archive with one fixed time on every member."""
    fixed = io.BytesIO()
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(fixed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), old.read(name), zipfile.ZIP_DEFLATED)
    return fixed.getvalue()


def main() -> None:
    for names, suffix, write in ((PDFS, ".pdf", write_pdf), (DOCXS, ".docx", write_docx)):
        for name in names:
            target = (TOWN / name).with_suffix(suffix)
            write(blocks((SOURCES / f"{name}.md").read_text(encoding="utf-8")), target)
            print(f"{target.name}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
