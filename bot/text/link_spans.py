"""Where a text may not be cut: links, words in brackets, code spans and addresses in angle brackets. Pure.

One pass from left to right, and what it decides never depends on a later character: a construct that may still go on
is reported as unfinished until it ends or grows too long for one.
"""

from __future__ import annotations

import re
from typing import NamedTuple

LABEL = 300  # characters of a link's words, or of a code span
ADDRESS = 1000  # characters of an address

_TOKEN = re.compile(
    rf"\\[^\n]|(?P<whole>(?<!`)`++[^`\n]{{1,{LABEL}}}`++|<[^<>\s]{{1,{ADDRESS}}}>)"
    rf"|(?P<unfinished>(?<!`)`++[^`\n]{{0,{LABEL}}}\Z|<[^<>\s]{{0,{ADDRESS}}}\Z)"
    r"|(?P<open>\[)|(?P<close>\])|(?P<blank>\n[ \t]*\n)"
)
_PLACE = r"\((?:[^()\s]++|\([^()\s]*+\))*+"
_GAP = r"[ \t]{1,4}"
_TARGET = re.compile(rf"""{_PLACE}(?:{_GAP}(?:"[^"\n]{{0,{LABEL}}}"|'[^'\n]{{0,{LABEL}}}'))?\)""")
_TARGET_SO_FAR = re.compile(
    rf"""(?:{_PLACE}(?:\([^()\s]*+|{_GAP}(?:"[^"\n]{{0,{LABEL}}}"?|'[^'\n]{{0,{LABEL}}}'?)?)?)?\Z"""
)


class Spans(NamedTuple):
    """Starts and ends of links and code, of brackets, and where unfinished ones begin, outermost first.

    What is unfinished ends behind the end of the text.
    """

    links: list[tuple[int, int]]
    brackets: list[tuple[int, int]]
    unfinished: list[int]


def link_spans(text: str) -> Spans:
    """The constructs of a text that may still grow."""
    spans = Spans([], [], [])
    opened: list[int] = []
    at = 0
    while found := _TOKEN.search(text, at):
        at = found.end()
        match found.lastgroup:
            case "whole":
                spans.links.append(found.span())
            case "unfinished":
                spans.unfinished.append(found.start())
            case "open":
                opened.append(found.start())
            case "blank":
                opened.clear()
                at -= 1
            case "close" if opened:
                at = _close(text, at, opened, spans)
    spans.unfinished.extend(start for start in opened if len(text) - start <= LABEL)
    spans.unfinished.sort()
    return spans


def _close(text: str, at: int, opened: list[int], spans: Spans) -> int:
    """Note the link or the brackets whose words end at `at`; returns where to go on.

    No link stands in another one, but a picture may.
    """
    start = opened.pop()
    if at - start > LABEL:
        return at
    target = _TARGET.match(text, at)
    if target and target.end() - at <= ADDRESS + LABEL:
        spans.links.append((start, target.end()))
        if not text.endswith("!", 0, start):
            opened.clear()
        return target.end()
    spans.brackets.append((start, at))
    if len(text) - at <= ADDRESS + LABEL and _TARGET_SO_FAR.match(text, at):
        spans.unfinished.append(start)
    return at
