"""Group blocks of text into passages, by section: short enough to check at a glance, long enough to mean something."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from engine.models import Passage
from engine.parsers.dates import find_heading_date
from engine.text.cleanup import clean_multiline, clean_single_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

BlockType = Literal["heading", "text", "item", "code", "table"]

TARGET_WORDS = 100
MAX_WORDS = 250
_MIN_TAIL_WORDS = 40
# A code block is split only if it would fill a chunk of its own.
_MAX_CODE_WORDS = 800
_SENTENCES = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
# In scripts without spaces, six characters count as a word.
_CHARACTERS_PER_WORD = 6
_CELL_BORDERS = re.compile(r"(?<!\\)\|")
_TABLE_RULE = re.compile(r"---(?: \| ---)*+")

_MAX_LABEL_LENGTH = 160
_MAX_SPANNED_COLUMNS = 100
_MAX_REPEATED = 500_000  # characters of cells that cover several places, in one table


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list item, code block or table (first row: its header), or a heading of `level`.

    `start` and `stop` are its location in the file (lines or paragraphs, from 1, both included).
    """

    text: str
    start: int
    stop: int
    type: BlockType = "text"
    level: int = 0


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table, and how many columns and rows it covers; 0 rows: all that follow."""

    text: str
    columns: int = 1
    rows: int = 1


def word_count(text: str) -> int:
    """Number of words, or the equivalent in a script without spaces."""
    return max(len(text.split()), len(text) // _CHARACTERS_PER_WORD)


def render_table(rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table of these rows, the first of which is its header; empty rows are left out."""
    lines = [" | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in row) for row in rows if any(row)]
    if lines:
        lines.insert(1, " | ".join(["---"] * (len(_CELL_BORDERS.findall(lines[0])) + 1)))
    return "\n".join(lines)


def expand_spans(rows: Sequence[Sequence[Cell]]) -> list[list[str]]:
    """The rows of a table as texts: a cell that covers several columns or rows stands in each of them.

    A cell alone in its row, such as a title, is not repeated.
    """
    grid: list[list[str]] = []
    below: dict[int, tuple[str, int]] = {}  # by column, what reaches into further rows, and into how many
    budget = _MAX_REPEATED
    for row in rows:
        if not row:
            continue
        budget -= sum(len(text) + 1 for text, _ in below.values())
        if budget < 0:
            below = {}
        line = {column: text for column, (text, _) in below.items()}
        below = {column: (text, left - 1) for column, (text, left) in below.items() if left != 1}
        at = 0
        for cell in row:
            while at in line:
                at += 1
            columns = min(max(cell.columns, 1), _MAX_SPANNED_COLUMNS) if (line or len(row) > 1) and budget > 0 else 1
            budget -= (columns - 1) * (len(cell.text) + 1)
            line |= dict.fromkeys(range(at, at + columns), cell.text)
            if cell.rows != 1:
                below |= dict.fromkeys(range(at, at + columns), (cell.text, cell.rows - 1))
            at += columns
        grid.append([line.get(column, "") for column in range(max(line) + 1)])
    return grid


def group_blocks(blocks: Iterable[Block]) -> list[list[Block]]:
    """Groups of about 100 to 250 words, in order; longer blocks are split, a short last group joins the one before."""
    groups: list[list[Block]] = []
    total = 0
    for block in (part for block_ in blocks for part in split_block(block_)):
        words = word_count(block.text)
        if not groups or total >= TARGET_WORDS or total + words > MAX_WORDS:
            groups.append([])
            total = 0
        groups[-1].append(block)
        total += words
    return _merge_short_tail(groups)


def join_blocks(blocks: Sequence[Block]) -> str:
    """The text of a group: list items and lines without, everything else with an empty line in between."""
    text = blocks[0].text if blocks else ""
    for before, block in pairwise(blocks):
        text += ("\n" if before.type == block.type == "item" else "\n\n") + block.text
    return text


def split_block(block: Block) -> list[Block]:
    """The block, or its parts if it is too long: code is split at lines, a table at rows, text at sentences."""
    max_words = _MAX_CODE_WORDS if block.type == "code" else MAX_WORDS
    if word_count(block.text) <= max_words:
        return [block]
    if block.type == "table":
        return [replace(block, text=text) for text in _split_table(block.text)]
    if block.type == "code":
        return [replace(block, text=text) for text in _merge_pieces(block.text.split("\n"), max_words, "\n")]
    return [replace(block, text=text) for text in _merge_pieces(_split_text(block.text), max_words, " ")]


def _merge_short_tail(groups: list[list[Block]]) -> list[list[Block]]:
    if len(groups) > 1:
        last, before = (sum(word_count(block.text) for block in group) for group in (groups[-1], groups[-2]))
        if last < _MIN_TAIL_WORDS and last + before <= MAX_WORDS + _MIN_TAIL_WORDS:
            return [*groups[:-2], groups[-2] + groups[-1]]
    return groups


def _split_table(text: str) -> list[str]:
    """Tables of at most MAX_WORDS words, each with the header row if that is short."""
    head, *rows = text.split("\n")
    if rows and _TABLE_RULE.fullmatch(rows[0]):
        head += "\n" + rows.pop(0)
    spare = MAX_WORDS - word_count(head)
    if spare < MAX_WORDS // 2:
        return _merge_pieces([head, *rows], MAX_WORDS, "\n")
    return [f"{head}\n{part}" for part in _merge_pieces(rows, spare, "\n")]


def _split_text(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCES.split(text) if sentence.strip()]


def _merge_pieces(pieces: Iterable[str], max_words: int, separator: str) -> list[str]:
    """Join adjacent pieces up to `max_words` words."""
    parts: list[list[str]] = []
    total = 0
    for piece in (cut for whole in pieces for cut in _split_piece(whole, max_words)):
        words = word_count(piece)
        if not parts or total + words > max_words:
            parts.append([])
            total = 0
        parts[-1].append(piece)
        total += words
    return [text for part in parts if (text := separator.join(part)).strip()]


def _split_piece(piece: str, max_words: int) -> Iterator[str]:
    """The piece, or windows of it if it has no sentence or line end to split at."""
    if word_count(piece) <= max_words:
        yield piece
        return
    words = piece.split()
    if max(map(len, words)) > max_words * _CHARACTERS_PER_WORD or len(words) < max_words:
        step = max_words * _CHARACTERS_PER_WORD
        yield from (piece[start : start + step] for start in range(0, len(piece), step))
    else:
        yield from (" ".join(words[start : start + max_words // 2]) for start in range(0, len(words), max_words // 2))


@dataclass(slots=True)
class _Section:
    """The content between two headings."""

    path: tuple[str, ...]
    headings: list[Block] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)


def passages_by_section(blocks: Iterable[Block], unit: str) -> tuple[Passage, ...]:
    """Passages with keys s1.1, s1.2, s2.1... and labels "Title › Section".

    A section begins with its headings, including headings without text of their own, and has the date that these state.
    Outside of headings the label is
    the location in `unit`s: "lines 3–9".
    """
    passages: list[Passage] = []
    for number, section in enumerate(_split_sections(blocks)):
        groups = group_blocks(section.blocks) or [[]]
        groups[0] = section.headings + groups[0]
        for part, group in enumerate(groups, 1):
            if text := clean_multiline(join_blocks(group)):
                label = _section_label(section.path) or format_span(unit, group[0].start, group[-1].stop)
                dated = find_heading_date(section.path)
                passages.append(Passage(f"s{number}.{part}", text, label, time=dated, position=len(passages)))
    return tuple(passages)


def passages_by_part(parts: Iterable[tuple[str, Sequence[Block]]]) -> tuple[Passage, ...]:
    """Passages of parts such as slides or cells, each labeled with its part; keys s1.1, s1.2, s2.1..."""
    passages: list[Passage] = []
    for number, (label, blocks) in enumerate(parts, 1):
        for part, group in enumerate(group_blocks(blocks), 1):
            if text := clean_multiline(join_blocks(group)):
                passages.append(Passage(f"s{number}.{part}", text, shorten_label(label), position=len(passages)))
    return tuple(passages)


def format_span(unit: str, start: int, stop: int) -> str:
    """A location as "line 3" or "lines 3–9"."""
    return f"{unit} {start}" if start == stop else f"{unit}s {start}–{stop}"


def find_first_heading(blocks: Sequence[Block]) -> str:
    """The text of the first heading if no other heading has a higher level, else an empty string."""
    headings = [block for block in blocks if block.type == "heading"]
    if headings and headings[0].level == min(block.level for block in headings):
        return clean_single_line(headings[0].text)
    return ""


def _split_sections(blocks: Iterable[Block]) -> list[_Section]:
    """The text before the first heading, then one section per heading; headings without text join the next section."""
    sections = [_Section(())]
    levels: list[tuple[int, str]] = []
    for block in blocks:
        if block.type != "heading":
            sections[-1].blocks.append(block)
            continue
        levels = [(level, text) for level, text in levels if level < block.level]
        levels.append((block.level, clean_single_line(block.text)))
        pending = [] if sections[-1].blocks else sections[-1].headings
        if not sections[-1].blocks and sections[-1].path:
            sections.pop()
        sections.append(_Section(tuple(text for _, text in levels if text), [*pending, block]))
    return sections


def _section_label(path: tuple[str, ...]) -> str:
    return shorten_label(" › ".join(path))


def shorten_label(label: str) -> str:
    """The label, or its end if it is very long."""
    return label if len(label) <= _MAX_LABEL_LENGTH else "… " + label[-_MAX_LABEL_LENGTH:].lstrip()
