"""Find spans in which a text may not be split: links, brackets, code spans and autolinks. Pure.

One pass from left to right. A decision never depends on a later character: a construct that may continue is reported as
unfinished until it ends or exceeds its maximum length.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_LABEL_LENGTH = 300  # characters of a link's text, or of a code span
MAX_URL_LENGTH = 1000  # characters

_TOKEN = re.compile(
    rf"\\[^\n]|(?P<whole>(?<!`)`++[^`\n]{{1,{MAX_LABEL_LENGTH}}}`++|<[^<>\s]{{1,{MAX_URL_LENGTH}}}>)"
    rf"|(?P<unfinished>(?<!`)`++[^`\n]{{0,{MAX_LABEL_LENGTH}}}\Z|<[^<>\s]{{0,{MAX_URL_LENGTH}}}\Z)"
    r"|(?P<open>\[)|(?P<close>\])|(?P<blank>\n[ \t]*\n)"
)
_URL_START = r"\((?:[^()\s]++|\([^()\s]*+\))*+"
_GAP = r"[ \t]{1,4}"
_TARGET = re.compile(
    rf"""{_URL_START}(?:{_GAP}(?:"[^"\n]{{0,{MAX_LABEL_LENGTH}}}"|'[^'\n]{{0,{MAX_LABEL_LENGTH}}}'))?\)"""
)
_TARGET_SO_FAR = re.compile(
    rf"""(?:{_URL_START}(?:\([^()\s]*+|{_GAP}(?:"[^"\n]{{0,{MAX_LABEL_LENGTH}}}"?|'[^'\n]{{0,{MAX_LABEL_LENGTH}}}'?)?)?)?\Z"""
)


class LinkSpans(NamedTuple):
    """Starts and ends of links and code, of brackets, and where unfinished ones begin, outermost first.

    What is unfinished ends behind the end of the text.
    """

    links: list[tuple[int, int]]
    brackets: list[tuple[int, int]]
    unfinished: list[int]


def find_link_spans(text: str) -> LinkSpans:
    """Find the constructs of a text that may still grow."""
    spans = LinkSpans([], [], [])
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
                at = _close_bracket(text, at, opened, spans)
    spans.unfinished.extend(start for start in opened if len(text) - start <= MAX_LABEL_LENGTH)
    spans.unfinished.sort()
    return spans


def _close_bracket(text: str, at: int, opened: list[int], spans: LinkSpans) -> int:
    """Record the link or the brackets whose text ends at `at`; returns where to continue.

    A link cannot contain another link, but it can contain an image.
    """
    start = opened.pop()
    if at - start > MAX_LABEL_LENGTH:
        return at
    target = _TARGET.match(text, at)
    if target and target.end() - at <= MAX_URL_LENGTH + MAX_LABEL_LENGTH:
        spans.links.append((start, target.end()))
        if not text.endswith("!", 0, start):
            opened.clear()
        return target.end()
    spans.brackets.append((start, at))
    if len(text) - at <= MAX_URL_LENGTH + MAX_LABEL_LENGTH and _TARGET_SO_FAR.match(text, at):
        spans.unfinished.append(start)
    return at
