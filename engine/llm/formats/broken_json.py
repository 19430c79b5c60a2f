"""Read broken JSON in one pass: single quotes, missing commas and brackets, quotes in texts, a cut-off end. Pure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, cast

from engine.text.patterns import compile_late

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 40  # of nested values; a deeper one counts as cut off
MAX_ITEMS = 8_000  # keys and values; what follows is left out
MAX_NUMBER_CHARACTERS = 40

_GAP = compile_late(r"[\s,]*")
_BLANKS = compile_late(r"\s*")
_BARE = compile_late(r"[^,:{}\[\]\"'\n]*")
_STRING_PARTS = {'"': compile_late(r"[^\"\\]+"), "'": compile_late(r"[^'\\]+")}
# What follows the quote that closes a text.
_STRING_END = compile_late(
    r"\s{0,40}(?:[:}\]]|\Z|,\s{0,40}(?:[\"'{}\[\]\d-]|\Z|[A-Za-z_]\w{0,40}\s{0,4}:|(?:true|false|null|None)\b))",
    re.IGNORECASE,
)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_COLON = compile_late(r"\s{0,40}:")
_CODE_UNIT = compile_late(r"[0-9a-fA-F]{4}")
_WORDS = {"true": True, "false": False, "null": None, "none": None}
_CLOSING = frozenset("]}")
_STRAY_QUOTE = compile_late(r"'(?=\")")
_OBJECT = compile_late(r"(?<![^\W_] )(?<![^\W_])\{\s{0,40}(?:[\"']\w|[A-Za-z_]{1,30}\s?:)")
_STRAY_BRACKET = compile_late(r"[\]}](?=\s{0,40}[\"'])")
MAX_BEFORE = 120  # characters of a line before a value of a program
# A bullet, "entities = [", "], 'relations': [", "**Entity 1:**", or the end of the value before; then brackets.
_KEY = r"[\"'][\w ]{1,40}[\"']\s?:"
_BEFORE_VALUE = compile_late(
    r"\s{0,40}(?:[-*•|]\s{1,4}|\d{1,3}[.)]\s{1,4})?"
    r"(?:(?:const |let |var )?[\w.]{1,60}\s?(?::\s?[\w\[\], .]{1,40})?="
    rf"|[\[\]{{}}(),\s]{{0,8}}{_KEY}"
    r"|[*#_]{0,4}(?i:entit\w{1,4}|entidad\w{0,2}|relat?i?on\w{0,6}|nodes?|edges?)(?: \d{1,3})?[:*_]{1,4}"
    r")?[\s\[\](){},;]{0,40}"
)
_BEHIND_VALUE = compile_late(r"[ \t\])},;\"|]{0,40}(?:\n|\Z|[\[({]|#|//|`|<\||[\"']?[\w ]{1,40}[\"']\s?:)")


def read_broken_json(text: str) -> object:
    """The value that starts at the beginning of a text, as far as it can be read; what is missing is left out."""
    return _Reader(text).read_value(0)


def read_first_value(text: str) -> tuple[object, int]:
    """The value at the beginning of a text, and where it ends; broken JSON is read as far as possible."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        reader = _Reader(text)
        return reader.read_value(0), reader.at


def stands_alone(text: str, begin: int, start: int, end: int) -> bool:
    """Whether a value of a program is no part of a sentence or call; `begin` is the end of the value before it."""
    begin = max(begin, start - MAX_BEFORE)
    line = max(begin, text.rfind("\n", begin, start) + 1)
    return bool(_BEFORE_VALUE.fullmatch(text, line, start) and _BEHIND_VALUE.match(text, end))


def list_objects(text: str) -> Iterator[dict[str, object]]:
    """The objects of a text, each read once, without those that stand in a sentence or call or lack their end."""
    at, begin = 0, 0
    while found := _OBJECT.search(text, at):
        try:
            value, at = json.JSONDecoder(strict=False).raw_decode(text, found.start())
        except (ValueError, RecursionError):
            reader = _Reader(text, found.start())
            value, at = reader.read_value(0), reader.at
        is_whole = text.endswith("}", 0, at) and stands_alone(text, begin, found.start(), at)
        if is_whole and isinstance(value, dict):
            begin = at
            yield value


class _Reader:
    """Reads a text from left to right; each step moves forward."""

    def __init__(self, text: str, at: int = 0) -> None:
        self.text = text
        self.at = at
        self.items = 0

    @property
    def next(self) -> str:
        """The next character; empty at the end."""
        return self.text[self.at : self.at + 1]

    def skip(self, pattern: re.Pattern[str]) -> str:
        """Skip what matches here; returns it."""
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found[0] if found else ""

    def read_value(self, depth: int) -> object:
        """The value after blanks; None if there is none."""
        self.skip(_BLANKS)
        if depth > MAX_DEPTH:
            self.at = len(self.text)
        match self.next:
            case "{":
                self.at += 1
                return self.read_object(depth)
            case "[":
                return self.read_array(depth)
            case '"' | "'":
                return self.read_string()
            case _:
                return _parse_bare(self.read_bare())

    def read_object(self, depth: int) -> dict[str, object]:
        """The object whose first key comes here. A bracket that closes an array around it ends it too."""
        found: dict[str, object] = {}
        while True:
            self.skip_gap()
            if self.ends_at("}"):
                return found
            before = self.at
            key = self.read_key()
            self.skip(_BLANKS)
            if self.next == ":":
                self.at += 1
                self.skip(_BLANKS)
                self.skip(_STRAY_BRACKET)
                found[key] = self.read_value(depth + 1)
            self.at += self.at == before

    def read_array(self, depth: int) -> list[object]:
        """The array that starts here. A bracket that closes an object around it ends it too."""
        found: list[object] = []
        self.at += 1
        while True:
            self.skip_gap()
            if self.ends_at("]"):
                return found
            before = self.at
            value = self.read_value(depth + 1)
            self.skip(_BLANKS)
            if self.next == ":" and isinstance(value, str):  # the key of an object whose bracket is missing
                self.at += 1
                first = {value: self.read_value(depth + 1)}
                value = {**first, **self.read_object(depth + 1)}
            if self.at == before:
                self.at += 1  # a colon
            else:
                found.append(value)

    def read_key(self) -> str:
        """The key that starts here."""
        return self.read_string(is_key=True) if self.next in _STRING_PARTS else self.read_bare()

    def read_bare(self) -> str:
        """The words that start here, whose opening quote may be missing."""
        words = self.skip(_BARE).strip()
        self.at += bool(words) and self.next in _STRING_PARTS
        return words

    def skip_gap(self) -> None:
        """Skip what is between two items; to the end if there are too many."""
        self.skip(_GAP)
        self.items += 1
        if self.items > MAX_ITEMS:
            self.at = len(self.text)

    def ends_at(self, closing: str) -> bool:
        """Whether an object or array ends here; its own bracket is skipped."""
        if self.next == closing:
            self.at += 1
            return True
        return not self.next or self.next in _CLOSING

    def read_string(self, *, is_key: bool = False) -> str:
        """The text in quotes that starts here; a quote within it is part of it unless a separator follows.

        A colon follows keys only: a value before it lacks its closing quote, and ends before the comma and the key.
        """
        self.skip(_STRAY_QUOTE)
        quote, parts = self.next, list[str]()
        key_at, kept = 0, 0  # where the key after an unclosed value starts, and the parts before it
        self.at += 1
        while self.next:
            parts.append(self.skip(_STRING_PARTS[quote]))
            if self.next == "\\":
                self.at += 1
                parts.append(self.read_escape())
            elif self.next:
                self.at += 1
                if _STRING_END.match(self.text, self.at):
                    break
                if parts[-1].rstrip().endswith(","):
                    key_at, kept = self.at - 1, len(parts)
                parts.append(quote)
        if key_at and not is_key and _COLON.match(self.text, self.at):
            self.at = key_at
            parts = [*parts[: kept - 1], parts[kept - 1].rstrip().removesuffix(",")]
        return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def read_escape(self) -> str:
        """The character after a backslash."""
        letter = self.next
        self.at += 1
        if letter == "u" and (digits := self.skip(_CODE_UNIT)):
            return chr(int(digits, 16))
        return _ESCAPED.get(letter, letter)


def _parse_bare(word: str) -> object:
    """A word without quotes: true, false, null, a number or a text; None if it is empty."""
    if word.lower() in _WORDS or not word:
        return _WORDS.get(word.lower())
    try:
        return cast("object", json.loads(word)) if len(word) <= MAX_NUMBER_CHARACTERS else word
    except ValueError:
        return word
