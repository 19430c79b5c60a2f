"""Group the rows of a table into passages that repeat its header. Pure."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from engine.models import Omission, Passage
from engine.parsers.passages import MAX_WORDS, Block, format_span, render_table, shorten_label, split_block, word_count
from engine.text.cleanup import clean_multiline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    NumberedRow = tuple[int, Sequence[str]]
    _Range = tuple[tuple[int, int], tuple[int, int]]

# The header is looked for in the first rows only; above it there may be a title.
_HEAD_ROWS = 6


def table_passages(rows: Iterable[NumberedRow], key_prefix: str = "", label_prefix: str = "") -> Iterator[Passage]:
    """Passages of a table with its header repeated, labeled "rows 2–40"; keys r2, r41... after the prefixes."""
    filled = (row for row in rows if any(map(str.strip, row[1])))
    head = list(islice(filled, _HEAD_ROWS))
    at = _find_header(head)
    header = head[at][1] if at >= 0 else ()
    for group in chain(_group_rows(head[: max(at, 0)], ()), _group_rows(chain(head[at + 1 :], filled), header)):
        yield from _render_group(group, header if group[0][0] > head[at][0] else (), key_prefix, label_prefix)
    if at >= 0 and len(head) == at + 1:  # nothing but a header
        yield from _render_group(head[at:], (), key_prefix, label_prefix)


def repeat_merged(
    rows: Iterable[tuple[int, list[str]]], merged: Iterable[_Range], left: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """The rows, numbered from 1, with the text of merged cells in each of them; not that of a title beside nothing.

    `merged`: the first and the last cell of each range, as row and column from 0; `left`: the column of the first cell.
    """
    waiting = sorted(merged, reverse=True)
    active: list[tuple[_Range, str]] = []
    for number, row in rows:
        at = number - 1
        active = [(each, text) for each, text in active if each[1][0] >= at]
        while waiting and waiting[-1][0][0] <= at:
            each = waiting.pop()
            place = each[0][1] - left
            active += [(each, row[place])] if 0 <= place < len(row) and each[0][0] == at and row[place] else []
        is_title = len(set(filter(None, row))) == 1
        for each, text in active:
            if not (is_title and each[0][0] == at):
                for column in range(max(0, each[0][1] - left), min(len(row), each[1][1] - left + 1)):
                    row[column] = row[column] or text
        yield number, row


def number_passages(pieces: Iterable[Passage | Omission]) -> Iterator[Passage | Omission]:
    """The passages with their positions in this order; empty ones are left out."""
    at = 0
    for piece in pieces:
        if isinstance(piece, Omission):
            yield piece
        elif piece.text:
            yield replace(piece, position=at)
            at += 1


def _find_header(rows: Sequence[NumberedRow]) -> int:
    """The index of the first row of words that is as wide as the widest, or -1."""
    widest = max((_filled(row) for _, row in rows), default=0)
    for at, (_, row) in enumerate(rows):
        if _filled(row) == widest and (widest > 1 or len(rows) > 1):
            return at if all(not cell or any(map(str.isalpha, cell)) for cell in row) else -1
    return -1


def _filled(row: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)


def _group_rows(rows: Iterable[NumberedRow], header: Sequence[str]) -> Iterator[list[NumberedRow]]:
    """Adjacent rows up to MAX_WORDS with their header."""
    group: list[NumberedRow] = []
    total = first = 2 * word_count(" | ".join(header))
    for number, row in rows:
        words = word_count(" | ".join(row))
        if group and total + words > MAX_WORDS:
            yield group
            group, total = [], first
        group.append((number, row))
        total += words
    if group:
        yield group


def _render_group(
    group: list[NumberedRow], header: Sequence[str], key_prefix: str, label_prefix: str
) -> Iterator[Passage]:
    """One passage; several if a single row is too long for one."""
    first, last = group[0][0], group[-1][0]
    rows = [row for _, row in group]
    if header:
        text = render_table([header, *rows])
    else:
        text = "\n".join(" | ".join(filter(None, map(str.strip, row))) for row in rows)
    label = shorten_label(f"{label_prefix}{format_span('row', first, last)}")
    for part, block in enumerate(split_block(Block(text, first, last)) if len(group) == 1 else [Block(text, 0, 0)], 1):
        key = f"{key_prefix}r{first}" if part == 1 else f"{key_prefix}r{first}.{part}"
        yield Passage(key, clean_multiline(block.text), label)
