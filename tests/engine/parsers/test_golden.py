"""Each input in golden/, and each made here, is parsed to the passages that its .golden file shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.parsers.base import ParsedFile
from engine.parsers.registry import PARSERS, find_by_extension
from tests.engine.parsers.samples import docx, paragraph, pdf, table

FOLDER = Path(__file__).parent / "golden"
SECTIONS = (paragraph("Town", "Heading1"), paragraph("# a_b *x* 漢字"), paragraph("Hours", "Heading2"))
TABLE = (paragraph("Nine to five:"), table([["Day", "Open"], ["Monday", "9–5"]]))
INPUTS = {path.name: path.read_bytes() for path in FOLDER.iterdir() if path.suffix != ".golden"} | {
    "sections.docx": docx(*SECTIONS, *TABLE),
    "table.docx": docx(*TABLE),
    "guide.pdf": pdf([["The first page."], [], ["The third page."]]),
}


def render(parsed: ParsedFile) -> str:
    time = parsed.time.isoformat() if parsed.time else "no time"
    passages = [f"[{each.key}] {each.label}\n{each.text}" for each in parsed.passages]
    return "\n\n----\n".join([f"{parsed.title}, {time}", *passages]) + "\n"


@pytest.mark.parametrize("name", sorted(INPUTS))
def test_a_file_is_parsed_as_its_golden_file_shows(compare_with_golden: Callable[[Path, str], None], name: str) -> None:
    parser = PARSERS[find_by_extension(name.rpartition(".")[2])]
    compare_with_golden(FOLDER / f"{name}.golden", render(parser.parse(name, INPUTS[name])))
