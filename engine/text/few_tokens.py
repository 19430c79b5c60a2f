"""Count the tokens of a little text without tiktoken, whose loading takes half a second and 50 MiB.

The pieces of a text are counted by the ranks of the vocabulary, as tiktoken does it: a piece in it is one token, any
other one is merged from its bytes, the pair with the lowest rank first. Texts with other than common characters, and
long pieces, are left to tiktoken.
"""

from __future__ import annotations

import re
import unicodedata
from binascii import b2a_base64
from collections import defaultdict
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from engine.text.patterns import compile_late

if TYPE_CHECKING:
    from collections.abc import Mapping

# Western, Greek and Cyrillic letters, marks of texts, symbols and emoji: what all versions of Unicode class alike.
_RANGES = (
    *((0x0, 0x36F), (0x386, 0x3CE), (0x400, 0x45F), (0x200D, 0x200D), (0x2010, 0x2027), (0x2030, 0x205E)),
    *((0x20AC, 0x20AC), (0x2122, 0x2122), (0x2190, 0x245F), (0x2500, 0x27BF), (0xFE0F, 0xFE0F), (0x1F1E6, 0x1F1FF)),
    *((0x1F300, 0x1F64F), (0x1F680, 0x1F6FF), (0x1F900, 0x1F9FF)),
)
_READ_BYTES = 1 << 18  # at once; all at once take fifteen MiB more
_MAX_PIECE = 64  # bytes; merging takes the square of them


@cache
def _sort_characters() -> dict[str, str]:
    """The common characters by the first letter of their category, letters by both."""
    found: dict[str, str] = defaultdict(str)
    for first, last in _RANGES:
        for char in map(chr, range(first, last + 1)):
            category = unicodedata.category(char)
            if category != "Cc" or char in "\t\n\r":
                found[category if category[0] == "L" else category[0]] += re.escape(char)
    return found


def _write_piece() -> str:
    """The pattern of a piece."""
    found = _sort_characters()
    caseless = found["Lm"] + found["Lo"] + found["M"]
    upper, lower = found["Lu"] + found["Lt"] + caseless, found["Ll"] + caseless
    letters = "".join(chars for category, chars in found.items() if category[0] == "L")
    numbers = found["N"]
    before, ending = rf"[^\r\n{letters}{numbers}]?", "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    return (
        rf"{before}[{upper}]*[{lower}]+{ending}|{before}[{upper}]+[{lower}]*{ending}|[{numbers}]{{1,3}}"
        rf"| ?[^\s{letters}{numbers}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )


_PIECE = compile_late(_write_piece)
_OTHER = compile_late(lambda: f"[^{''.join(_sort_characters().values())}]")


def _read_ranks(file: bytes) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    start = 0
    while start < len(file):
        stop = file.find(b"\n", start + _READ_BYTES) + 1 or len(file)
        tokens = file[start:stop].split()[::2]
        ranks.update(zip(tokens, range(len(ranks), len(ranks) + len(tokens)), strict=True))
        start = stop
    return ranks


def is_common(text: str) -> bool:
    """Whether a text has common characters alone."""
    return _OTHER.search(text) is None


class FewTokens:
    """Counts tokens of texts with common characters by a vocabulary: on each line a token in base64, by rank."""

    def __init__(self, file: bytes) -> None:
        self._ranks: Mapping[bytes, int] = _read_ranks(file)
        self._count_piece = lru_cache(maxsize=4_096)(self._merge_piece)

    def count(self, text: str) -> int | None:
        """The number of tokens of a text; None if tiktoken must count it, as a piece is too long."""
        total = 0
        for piece in _PIECE.findall(text):
            found = self._count_piece(piece)
            if not found:
                return None
            total += found
        return total

    def _merge_piece(self, piece: str) -> int:
        """The number of tokens of a piece, 0 if it is too long."""
        whole = piece.encode()
        if self._find_rank(whole) is not None:
            return 1
        if len(whole) > _MAX_PIECE:
            return 0
        parts = [whole[at : at + 1] for at in range(len(whole))]
        while len(parts) > 1:
            found = [self._find_rank(parts[at] + parts[at + 1]) for at in range(len(parts) - 1)]
            ranks = [(rank, at) for at, rank in enumerate(found) if rank is not None]
            if not ranks:
                break
            _, lowest = min(ranks)
            parts[lowest : lowest + 2] = [parts[lowest] + parts[lowest + 1]]
        return len(parts)

    def _find_rank(self, token: bytes) -> int | None:
        return self._ranks.get(b2a_base64(token, newline=False))
