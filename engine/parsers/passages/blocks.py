"""Group blocks of text into passages: short enough to check at a glance, long enough to be meaningful. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

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


def word_count(text: str) -> int:
    """Number of words, or the equivalent in a script without spaces."""
    return max(len(text.split()), len(text) // _CHARACTERS_PER_WORD)


def group_blocks(blocks: Iterable[Block]) -> list[list[Block]]:
    """Groups of about 100 to 250 words, in order; longer blocks are split, a short last group joins the one before."""
    groups: list[list[Block]] = []
    total = 0
    for block in (part for whole in blocks for part in split_block(whole)):
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
