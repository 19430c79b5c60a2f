"""Read large JSON files value by value: memory depends on the largest value alone."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

CHUNK_SIZE = 2**18  # characters
MAX_VALUE_SIZE = 2**23  # characters, such as of one message
SPACE = " \t\r\n"


class ValueTooLarge(ValueError):
    """A value has more than MAX_VALUE_SIZE characters."""


class JsonStream:
    """The values of a stream of UTF-8, read in order. Every method raises ValueError, or RecursionError if too deep."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = io.TextIOWrapper(stream, encoding="utf-8-sig")
        self._decoder = json.JSONDecoder()
        self._text, self._at = "", 0

    def read_items(self) -> Iterator[Any]:
        """The values of a list."""
        self._expect("[")
        if self._peek() == "]":
            return
        while True:
            yield self._read_value()
            if self._expect(",]") == "]":
                return

    def read_members(self, until: str) -> dict[str, Any]:
        """The members of an object before the one with the key `until`, whose value is read next; else all."""
        found: dict[str, Any] = {}
        self._expect("{")
        while self._peek() != "}":
            key = self._read_value()
            self._expect(":")
            if key == until:
                break
            found[str(key)] = self._read_value()
            if self._expect(",}") == "}":
                break
        return found

    def _expect(self, characters: str) -> str:
        """Consume one of these characters."""
        found = self._peek()
        if not found or found not in characters:
            raise ValueError(f"Expected one of {characters}, found {found!r}.")
        self._at += 1
        return found

    def _peek(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in SPACE:
                    return self._text[self._at]
                self._at += 1
            if not self._read_chunk():
                return ""

    def _read_value(self) -> Any:
        self._peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError:
                if not self._read_chunk():
                    raise
                continue
            if end == len(self._text) and self._read_chunk():
                continue  # a number may go on
            self._at = end
            return value

    def _read_chunk(self) -> bool:
        """Append as much as is unused, so that a large value is not decoded often; false at the end."""
        unused = len(self._text) - self._at
        if unused > MAX_VALUE_SIZE:
            raise ValueTooLarge
        chunk = self._stream.read(max(CHUNK_SIZE, unused))
        self._text, self._at = self._text[self._at :] + chunk, 0
        return bool(chunk)
