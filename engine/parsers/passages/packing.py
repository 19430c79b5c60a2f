"""Blocks of text packed to passages: narrow enough to be checked at a glance, wide enough to mean something. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Shape = Literal["heading", "text", "item", "code", "table"]

ENOUGH = 100
MOST = 250
_SCRAP = 40
# A listing is cut only where it would fill a chunk of its own.
_MOST_CODE = 800
_SENTENCES = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
# Scripts without spaces: six characters weigh as much as a word.
_CHARACTERS_A_WORD = 6


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list item, listing or table (first row: its head), or a heading of `level`.

    `start` and `stop` say where it stands in the file (lines or paragraphs, counted from 1, both included).
    """

    text: str
    start: int
    stop: int
    shape: Shape = "text"
    level: int = 0


def weight(text: str) -> int:
    """How many words it is, or would be in a script with spaces."""
    return max(len(text.split()), len(text) // _CHARACTERS_A_WORD)


def pack(blocks: Iterable[Block]) -> list[list[Block]]:
    """Groups of about 100 to 250 words, in order; a longer block is split, a scrap at the end joins its neighbour."""
    groups: list[list[Block]] = []
    total = 0
    for block in (part for whole in blocks for part in split(whole)):
        heavy = weight(block.text)
        if not groups or total >= ENOUGH or total + heavy > MOST:
            groups.append([])
            total = 0
        groups[-1].append(block)
        total += heavy
    return _without_scrap(groups)


def joined(blocks: Sequence[Block]) -> str:
    """The text of a group: list items and lines close together, all else with an empty line between."""
    text = blocks[0].text if blocks else ""
    for before, block in pairwise(blocks):
        text += ("\n" if before.shape == block.shape == "item" else "\n\n") + block.text
    return text


def split(block: Block) -> list[Block]:
    """The block itself, or its parts if it is too long: a listing at lines, a table at rows, a text at sentences."""
    most = _MOST_CODE if block.shape == "code" else MOST
    if weight(block.text) <= most:
        return [block]
    if block.shape == "table":
        return [replace(block, text=text) for text in _rows(block.text)]
    if block.shape == "code":
        return [replace(block, text=text) for text in _gathered(block.text.split("\n"), most, "\n")]
    return [replace(block, text=text) for text in _gathered(_sentences(block.text), most, " ")]


def _without_scrap(groups: list[list[Block]]) -> list[list[Block]]:
    if len(groups) > 1:
        last, before = (sum(weight(block.text) for block in group) for group in (groups[-1], groups[-2]))
        if last < _SCRAP and last + before <= MOST + _SCRAP:
            return [*groups[:-2], groups[-2] + groups[-1]]
    return groups


def _rows(text: str) -> list[str]:
    """Tables of at most so many words, each under the first row if that is short."""
    head, *rows = text.split("\n")
    spare = MOST - weight(head)
    if spare < MOST // 2:
        return _gathered([head, *rows], MOST, "\n")
    return [f"{head}\n{part}" for part in _gathered(rows, spare, "\n")]


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCES.split(text) if sentence.strip()]


def _gathered(pieces: Iterable[str], most: int, glue: str) -> list[str]:
    """Neighbours joined up to the weight."""
    parts: list[list[str]] = []
    total = 0
    for piece in (cut for whole in pieces for cut in _cut(whole, most)):
        heavy = weight(piece)
        if not parts or total + heavy > most:
            parts.append([])
            total = 0
        parts[-1].append(piece)
        total += heavy
    return [text for part in parts if (text := glue.join(part)).strip()]


def _cut(piece: str, most: int) -> Iterator[str]:
    """The piece, or windows of it if it has no place to break."""
    if weight(piece) <= most:
        yield piece
        return
    words = piece.split()
    if max(map(len, words)) > most * _CHARACTERS_A_WORD or len(words) < most:
        step = most * _CHARACTERS_A_WORD
        yield from (piece[start : start + step] for start in range(0, len(piece), step))
    else:
        yield from (" ".join(words[start : start + most // 2]) for start in range(0, len(words), most // 2))
