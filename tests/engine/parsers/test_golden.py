"""Each input in golden/, and each made here, is parsed to the passages that its .golden file shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.parsers.base import ParsedFile
from engine.parsers.registry import PARSERS, find_by_extension
from tests.engine.parsers.samples import (
    docx,
    epub,
    opendocument,
    opendocument_rows,
    paragraph,
    pdf,
    pptx,
    shape,
    shape_table,
    table,
    xlsx,
)

FOLDER = Path(__file__).parent / "golden"
SECTIONS = (paragraph("Town", "Heading1"), paragraph("# a_b *x* 漢字"), paragraph("Hours", "Heading2"))
TABLE = (paragraph("Nine to five:"), table([["Day", "Open"], ["Monday", "9–5"]]))
LINES: list[list[str | int]] = [["A long rope for the old ferry", n] for n in range(40)]
ROWS: list[list[str | int]] = [["Budget of 2026"], ["Item", "Cost"], *LINES]
SLIDES = (
    shape("by Ada") + shape("The Ferry", "title") + shape("7", "sldNum"),
    shape_table([["Ship", "Seats"], ["Gull", "80"]]),
)
PAGE = (
    '<draw:page><draw:frame presentation:class="title"><text:p>The Ferry</text:p></draw:frame>'
    "<draw:frame><text:p>leaves <text:span>at</text:span> noon</text:p></draw:frame>"
    "<presentation:notes><text:p>Speak slowly.</text:p></presentation:notes></draw:page>"
)
INPUTS = {path.name: path.read_bytes() for path in FOLDER.iterdir() if path.suffix != ".golden"} | {
    "sections.docx": docx(*SECTIONS, *TABLE),
    "table.docx": docx(*TABLE),
    "ferry.pptx": pptx(SLIDES, ["Speak slowly."]),
    "ferry.odp": opendocument("presentation", PAGE + PAGE.replace("Ferry", "Pier")),
    "budget.xlsx": xlsx({"Empty": [], "Budget": ROWS}),
    "budget.ods": opendocument(
        "spreadsheet", f'<table:table table:name="Budget">{opendocument_rows(ROWS[1:4])}</table:table>'
    ),
    "book.epub": epub({"The Start": "<p>It begins.</p>", "Storm": "<h1>Storm</h1><h2>Night</h2><p>It rains.</p>"}),
    "guide.pdf": pdf([["The first page."], [], ["The third page."]]),
}


def render(parsed: ParsedFile) -> str:
    time = parsed.time.isoformat() if parsed.time else "no time"
    passages = [f"[{passage.key}] {passage.label}\n{passage.text}" for passage in parsed.passages]
    return "\n\n----\n".join([f"{parsed.title}, {time}", *passages]) + "\n"


@pytest.mark.parametrize("name", sorted(INPUTS))
def test_a_file_is_parsed_as_its_golden_file_shows(compare_with_golden: Callable[[Path, str], None], name: str) -> None:
    parser = PARSERS[find_by_extension(name.rpartition(".")[2])]
    compare_with_golden(FOLDER / f"{name}.golden", render(parser.parse(name, INPUTS[name])))
