"""Divide texts into the word pieces of multilingual-e5-small: for each word, those whose scores sum to the most.

Source: Kudo 2018 (unigram language model). The library of MiniLM takes 270 MB and seconds for these 250,000 pieces.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FIRST_MARKER, LAST_MARKER, UNKNOWN_PIECE = 0, 2, 3
SPECIAL_PIECES = 4  # the first ids; none of them stands for a part of a text
MAX_WORD_PIECES = 512  # that the model accepts, its two markers included; the rest is cut off
UNKNOWN_LOSS = 10.0  # of a character that no piece has, below the worst piece
WORD_START = "\u2581"  # stands for the space before a word
MAX_KEPT_WORDS, MAX_KEPT_LENGTH = 20_000, 24  # words whose pieces are kept, and their characters
_SPACES = re.compile(" {2,}")
_WORDS = re.compile(f"{WORD_START}[^{WORD_START}]*")


class WordPieceTokenizer:
    """Divides texts. `pieces` and `scores` by id; `characters`: what each is replaced by first. For one thread."""

    def __init__(self, pieces: Sequence[str], scores: Sequence[float], characters: Mapping[int, str]) -> None:
        self._ids = {piece: id_ for id_, piece in enumerate(pieces) if id_ >= SPECIAL_PIECES}
        self._scores = array("f", scores)
        self._characters = characters
        self._unknown_score = min(scores) - UNKNOWN_LOSS
        self._longest = max(map(len, self._ids))
        self._kept: dict[str, list[int]] = {}

    def tokenize(self, text: str) -> list[int]:
        """The ids of the word pieces of a text between its markers, at most 512."""
        plain = _SPACES.sub(" ", unicodedata.normalize("NFC", text).translate(self._characters)).strip()
        ids = [FIRST_MARKER]
        for word in _WORDS.findall(f"{WORD_START}{plain.replace(' ', WORD_START)}"):
            ids += self._divide_word(word)
            if len(ids) >= MAX_WORD_PIECES:
                break
        return [*ids[: MAX_WORD_PIECES - 1], LAST_MARKER]

    def _divide_word(self, word: str) -> list[int]:
        if (known := self._kept.get(word)) is not None:
            return known
        ids = self._find_best_pieces(word)
        if len(word) <= MAX_KEPT_LENGTH:
            if len(self._kept) >= MAX_KEPT_WORDS:
                self._kept.clear()
            self._kept[word] = ids
        return ids

    def _find_best_pieces(self, word: str) -> list[int]:
        """The pieces with the greatest sum of scores (Viterbi); adjacent unknown characters are one piece."""
        size, scores, find = len(word), self._scores, self._ids.get
        best = [0.0, *[float("-inf")] * size]
        last = [(UNKNOWN_PIECE, 0)] * (size + 1)  # by the end of a piece: its id and its start
        for start in range(size):
            so_far = best[start]
            if so_far + self._unknown_score > best[start + 1]:
                best[start + 1], last[start + 1] = so_far + self._unknown_score, (UNKNOWN_PIECE, start)
            for end in range(start + 1, min(start + self._longest, size) + 1):
                id_ = find(word[start:end])
                if id_ is not None and so_far + scores[id_] > best[end]:
                    best[end], last[end] = so_far + scores[id_], (id_, start)
        ids, end = list[int](), size
        while end:
            id_, end = last[end]
            if not (id_ == UNKNOWN_PIECE and ids and ids[-1] == UNKNOWN_PIECE):
                ids.append(id_)
        return ids[::-1]
