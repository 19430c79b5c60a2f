"""Parse source code into passages located by class, function and lines. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.models import Passage
from engine.parsers.base import ParsedFile
from engine.parsers.encodings.decoding import decode_text
from engine.parsers.passages import MAX_WORDS, format_span, shorten_label, word_count
from engine.text.cleanup import clean_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MAX_LINE = 300
# Adjacent definitions with fewer words in all share a passage.
_MIN_WORDS = 60
_MODIFIERS = (
    "export|default|pub|public|private|protected|internal|static|final|abstract|async|override|open|sealed|data"
    "|virtual|inline|extern|unsafe|declare|local|partial|create|or|replace"
)
_KINDS = (
    "class|interface|struct|enum|trait|impl|def|fn|func|function|fun|module|namespace|object|record|protocol|extension"
    "|type|message|service|rpc|sub|table|view|procedure|trigger|resource"
)
_DEFINITION = re.compile(
    rf"(?P<indent>[ \t]{{0,40}}+)(?:(?:{_MODIFIERS})\b(?:\([a-z]{{1,9}}\))?[ \t]++){{0,6}}+"
    rf"(?P<kind>{_KINDS})\b[ \t*]*+(?:\([^()]{{0,80}}\)[ \t]++)?(?:<[^<>]{{0,60}}>[ \t]*+)?"
    r"(?:if not exists[ \t]++)?(?P<name>[\w$~\"][\w$.:<>~\"]{0,79}+)(?![ \t]*+[=:](?!=)(?!:))",
    re.IGNORECASE,
)
# Definitions without a keyword: methods of C-like languages, functions as values, functions of shells.
_METHOD = re.compile(
    r"(?P<indent>[ \t]{0,40}+)(?:[\w<>\[\],.*&:?]{1,60}[ \t]++){1,6}[*&]?"
    r"(?P<name>[\w:~]{1,80})\([^;{}]{0,200}\{[ \t]*+\Z"
)
_VALUE = re.compile(
    r"(?P<indent>[ \t]{0,40}+)(?:export[ \t]++)?(?:(?:const|let|var)[ \t]++)?(?P<name>[\w$.]{1,80})[ \t]*+"
    r"(?:=|<-|\(\))[ \t]*+"
    r"(?:(?:async[ \t]++)?(?:function\b|\([^()]{0,200}\)[ \t]*+=>|\w{1,60}[ \t]*+=>)|\{[ \t]*+\Z)"
)
_STATEMENTS = frozenset(
    {"if", "for", "while", "switch", "catch", "return", "else", "do", "try", "with", "new", "await"}
)
_ATTACHED = re.compile(r"[ \t]{0,40}+(?:@|#|//|/\*|\*|--|///|\"\"\")")


@dataclass(frozen=True, slots=True)
class _Definition:
    """A class or function: its first line (from 0), the width of its indentation, its path "class A › def b"."""

    line: int
    indent: int
    path: str


def parse(name: str, data: bytes) -> ParsedFile:
    """Passages labeled "class Boat › def sail, lines 12–40". Raises CorruptFile if it is not text."""
    lines = clean_lines(decode_text(data))
    passages: list[Passage] = []
    for path, start, stop in _spans(lines):
        text = "\n".join(line.rstrip() for line in lines[start:stop]).strip("\n")
        if text.strip():
            first = start + next(at for at, line in enumerate(lines[start:stop]) if line.strip())
            place = format_span("line", first + 1, first + text.count("\n") + 1)
            key = f"C{first + 1}"
            label = f"{shorten_label(path)}, {place}" if path else place
            passages.append(Passage(key, text, label, position=len(passages)))
    return ParsedFile(name, tuple(passages))


def _spans(lines: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Path, first line and line after the last: short definitions together, long ones in parts."""
    found = _find_definitions(lines)
    starts = [*(definition_.line for definition_ in found), len(lines)]
    path, first, total = "", 0, sum(map(_words, lines[: starts[0]]))
    for definition, stop in zip(found, starts[1:], strict=True):
        words = sum(map(_words, lines[definition.line : stop]))
        if total and total + words > _MIN_WORDS:
            yield from _split_span(lines, path, first, definition.line)
            path, first, total = definition.path, definition.line, 0
        elif not path:
            path = definition.path
        total += words
    yield from _split_span(lines, path, first, len(lines))


def _split_span(lines: Sequence[str], path: str, first: int, stop: int) -> Iterator[tuple[str, int, int]]:
    total = 0
    for at in range(first, stop):
        words = _words(lines[at])
        if total and total + words > MAX_WORDS:
            yield path, first, at
            first, total = at, 0
        total += words
    if stop > first:
        yield path, first, stop


def _words(line: str) -> int:
    return word_count(line.strip())


def _find_definitions(lines: Sequence[str]) -> list[_Definition]:
    found: list[_Definition] = []
    outer: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        if not (match := _match_definition(line[:_MAX_LINE])):
            continue
        indent, title = match
        outer = [row for row in outer if row[0] < indent]
        outer.append((indent, title))
        floor = found[-1].line + 1 if found else 0
        found.append(_Definition(_attached_start(lines, number, floor), indent, " › ".join(each for _, each in outer)))
    return found


def _match_definition(line: str) -> tuple[int, str] | None:
    """The width of the indentation and the title of the definition that begins on this line."""
    if match := _DEFINITION.match(line):
        title = f"{match['kind']} {match['name'].rstrip(':')}"
    elif (match := _METHOD.match(line) or _VALUE.match(line)) and not _STATEMENTS & {
        match["name"],
        line.split(maxsplit=1)[0],
    }:
        title = match["name"]
    else:
        return None
    return len(match["indent"].expandtabs(4)), title


def _attached_start(lines: Sequence[str], number: int, floor: int) -> int:
    """The first of the comments and decorators directly above a line."""
    while number > floor and _ATTACHED.match(lines[number - 1]):
        number -= 1
    return number
