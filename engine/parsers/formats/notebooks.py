"""Parse Jupyter notebooks cell by cell, with the text of outputs. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from engine.errors import CorruptFile
from engine.parsers.base import ParsedFile
from engine.parsers.encodings.decoding import decode_text
from engine.parsers.markdown import parse_blocks
from engine.parsers.passages import Block, find_first_heading, passages_by_part

if TYPE_CHECKING:
    from collections.abc import Iterator

# A longer output of a cell is a log or data: its beginning is kept.
_MAX_OUTPUT_LENGTH = 4000


def parse(name: str, data: bytes) -> ParsedFile:
    """Passages labeled "cell 12". The title is the first heading, else the name. Raises CorruptFile."""
    try:
        notebook = json.loads(decode_text(data))
    except (ValueError, RecursionError) as error:
        raise CorruptFile(f"{name} is not a notebook: it is not JSON.") from error
    if not isinstance(notebook, dict):
        raise CorruptFile(f"{name} is not a notebook.")
    worksheets = [
        worksheet for worksheet in _list(notebook.get("worksheets")) if isinstance(worksheet, dict)
    ]  # format version 3
    cells = _list(notebook.get("cells")) or [cell for worksheet in worksheets for cell in _list(worksheet.get("cells"))]
    parts = [(f"cell {at}", list(_cell_blocks(cell))) for at, cell in enumerate(cells, 1) if isinstance(cell, dict)]
    title = find_first_heading([block for _, blocks in parts for block in blocks])
    return ParsedFile(title or name, passages_by_part(parts))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _cell_blocks(cell: dict[str, Any]) -> Iterator[Block]:
    source = _join(cell.get("source") or cell.get("input"))
    if cell.get("cell_type") == "markdown":
        yield from parse_blocks(source)
        return
    if source.strip():
        yield Block(source.strip("\n"), 0, 0, "code")
    for output in _list(cell.get("outputs")):
        text = _output_text(output) if isinstance(output, dict) else ""
        if text.strip():
            yield Block(text.strip("\n")[:_MAX_OUTPUT_LENGTH], 0, 0, "code")


def _output_text(output: dict[str, Any]) -> str:
    if output.get("output_type") == "error":
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    shown = output.get("data")
    return _join(output.get("text") or (shown.get("text/plain") if isinstance(shown, dict) else ""))


def _join(lines: Any) -> str:
    return "".join(map(str, lines)) if isinstance(lines, list) else str(lines or "")
