"""Which columns of a Markdown table hold the numbers of sources. Pure."""

from __future__ import annotations

from engine.answers.citing.words import LABELS
from engine.answers.links.visible_text import visible_text

MAX_ROW = 1000  # characters of a heading row


class TableColumns:
    """Reads the rows of a text as it comes; "Source" in a cell of the heading row makes its column one of sources."""

    def __init__(self) -> None:
        self._row = ""  # the start of the line
        self._bars = 0
        self._was_row = False
        self._cited: frozenset[int] = frozenset()

    def record(self, text: str) -> None:
        """Read on."""
        first, *lines = text.split("\n")
        self._read(first)
        for line in lines:
            self._end_line()
            self._read(line)

    def is_cited_after(self, bar: str) -> bool:
        """Whether the cell after a bar that comes next belongs to a column of sources."""
        return (
            bool(self._cited)
            and bar == "|"
            and (not self._row.strip() or self._row.lstrip()[0] == "|")
            and (self._bars in self._cited)
        )

    def _read(self, text: str) -> None:
        self._bars += text.count("|")
        if len(self._row) < MAX_ROW:
            self._row += text[:MAX_ROW]

    def _end_line(self) -> None:
        is_row = self._row.lstrip().startswith("|")
        if is_row and not self._was_row:
            cells = self._row.strip().strip("|").split("|")
            self._cited = frozenset(
                place for place, cell in enumerate(cells) if visible_text(cell).strip(" .:#").casefold() in LABELS
            )
        elif not is_row:
            self._cited = frozenset()
        self._was_row, self._row, self._bars = is_row, "", 0
