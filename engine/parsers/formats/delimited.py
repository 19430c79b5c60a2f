"""Parse CSV and TSV into groups of rows. Pure."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from engine.errors import CorruptFile
from engine.parsers.base import stream_passages
from engine.parsers.encodings.decoding import decode_text
from engine.parsers.formats.row_passages import number_passages, table_passages
from engine.parsers.plain_text import iterate_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.parsers.base import ParsedFile

_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 20
_MAX_FIELD_LENGTH = 100_000_000  # characters of one cell; all of a file may be one


def parse(name: str, data: bytes) -> ParsedFile:
    """Passages of rows with the header repeated, labeled "rows 2–40". Raises CorruptFile if it is not text."""
    text = decode_text(data)
    return stream_passages(name, number_passages(table_passages(_read_rows(text, _find_delimiter(text)))))


def _read_rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(_MAX_FIELD_LENGTH)
    try:
        yield from enumerate(csv.reader(iterate_lines(text), delimiter=delimiter), 1)
    except csv.Error as error:
        raise CorruptFile(f"A row of the table cannot be read: {error}.") from error


def _find_delimiter(text: str) -> str:
    """The delimiter that splits most of the first lines into the same number of cells."""
    lines = [line for line in text[:20_000].splitlines()[:_SAMPLE_LINES] if line.strip()]

    def agreement(delimiter: str) -> tuple[int, int]:
        counts = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        usual = max(set(counts), key=counts.count, default=1)
        return (counts.count(usual) if usual > 1 else 0, usual)

    return max(_DELIMITERS, key=agreement)
