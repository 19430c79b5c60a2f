"""Split RTF into groups, control words, control symbols, bytes and text. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(
    rb"\\'([0-9a-fA-F]{2})|\\([a-zA-Z]{1,32})(-?[0-9]{1,10})? ?|\\([^a-zA-Z])|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\",
    re.DOTALL,
)


class RichTextToken(NamedTuple):
    """A piece of an RTF file: "{", "}", "word" (with its number), "symbol", "byte" or "text"."""

    kind: str
    data: bytes
    number: int | None = None


def split_tokens(data: bytes) -> Iterator[RichTextToken]:
    """The pieces in order; binary data are skipped."""
    at, end = 0, len(data)
    while at < end:
        found = _TOKEN.match(data, at)
        if found is None:  # cannot be: each byte begins a piece
            return
        at = found.end()
        byte, word, number, symbol, brace, text = found.groups()
        if word is not None:
            value = int(number) if number is not None else None
            if word == b"bin":
                at += min(max(0, value or 0), end - at)
                continue
            yield RichTextToken("word", word, value)
        elif byte is not None:
            yield RichTextToken("byte", bytes.fromhex(byte.decode("ascii")))
        elif brace is not None:
            yield RichTextToken(brace.decode("ascii"), b"")
        elif symbol is not None:
            yield RichTextToken("symbol", symbol)
        elif text is not None:
            yield RichTextToken("text", text)
