"""Split a growing text into messages of limited length, and decide when to write again. Pure.

A part ends at a paragraph, a line, a sentence or a word; never within `[1]`, a link, code or a fence line. A fence that
would be cut is closed, and reopened with its language in the next part. Where a part ends depends only on the text
before, so parts that were shown never change.

Lengths are in UTF-16 units, the largest measure that a platform uses; limits are at least 128 of them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


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
    """Find the links, brackets and code of a text that may still grow, in one pass from left to right.

    A decision never depends on a later character: what may continue is unfinished until it ends or is too long.
    """
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


FENCE_RESERVE = 16  # units of a part reserved for the closing fence
CUT_ZONE = 400  # units at the end of a part where it may be split
MAX_FENCE_LENGTH, MAX_INFO_LENGTH = 8, 24  # characters of a fence and its info string that are repeated

MIN_SENTENCE_WORDS = 3  # of a first sentence
LONG_TEXT_LENGTH = 1000  # characters that are shown without a complete sentence

_SENTENCE = re.compile(r"[.!?…:;][\"'”’)\]*_]{0,5}\s|\n")
_LEAD = r"\A[ \t]*+(?:>[ \t]*+)*+"
_FENCE = re.compile(rf"{_LEAD}(`{{3,}}(?=[^`]*\Z)|~{{3,}})[ \t]*(.*)", re.DOTALL)
_FENCE_SO_FAR = re.compile(rf"{_LEAD}(?:`{{1,2}}|~{{1,2}}|`{{3,}}[^`]*|~{{3,}}.*)", re.DOTALL)
_LEAD_ONLY = re.compile(rf"{_LEAD}\Z")
_BREAKS = (
    re.compile(r"\n[ \t]*\n+"),
    re.compile(r"\n"),
    re.compile(r"[.!?…:;][\"'”’)\]]*\s+|[。！？]"),
    re.compile(r"\s+"),
)


@dataclass(frozen=True, slots=True)
class CodeFence:
    """An open code block: its closing marks and its info string."""

    delimiter: str
    info: str

    @property
    def opening(self) -> str:
        """The line that opens the block again."""
        return f"{self.delimiter[:MAX_FENCE_LENGTH]}{self.info[:MAX_INFO_LENGTH]}\n"

    def closing(self, text: str) -> str:
        """The text that closes the block after this text."""
        return ("" if text.endswith("\n") else "\n") + self.delimiter


def split_message(text: str, limit: int) -> tuple[str, ...]:
    """Split a whole text into parts of at most `limit` units; fences are closed in each part."""
    return tuple(close_fence(opening + raw) for opening, raw in _split_raw(text, limit))


def stable_parts(text: str, limit: int) -> tuple[str, ...]:
    """The parts of a growing text that may be shown now: they only grow, except for fences closed at a part's end.

    The fence of the last part is not closed (`close_fence` does that). Text that may still move to the next part, and
    unfinished fence lines, are held back.
    """
    pages = list(_split_raw(text, limit))
    if not pages:
        return ()
    opening, raw = pages.pop()
    raw = _stable_text(raw[: _index_at_units(raw, _stable_units(opening, limit))])
    closed_pages = [close_fence(opening_ + raw_) for opening_, raw_ in pages]
    return (*closed_pages, opening + raw) if raw.strip() else tuple(closed_pages)


def seconds_until_write(now: float, wrote: float | None, every: float) -> float:
    """Seconds until the next write may start; the first one does not wait."""
    return 0.0 if wrote is None else max(0.0, wrote + every - now)


def has_sentence(text: str) -> bool:
    """Whether a growing text contains a complete sentence or line of several words."""
    begun = text.lstrip()[:LONG_TEXT_LENGTH]
    if len(begun) == LONG_TEXT_LENGTH or any(end in begun for end in "。！？"):
        return True
    ends = (found.start() for found in _SENTENCE.finditer(begun))
    return any(len(begun[:end].split()) >= MIN_SENTENCE_WORDS for end in ends)


def close_fence(text: str) -> str:
    """A text with its open fence closed."""
    fence = open_fence(text)
    return text + fence.closing(text) if fence else text


def open_fence(text: str) -> CodeFence | None:
    """The fence that is open at the end of a text."""
    fence: CodeFence | None = None
    for line in text.split("\n"):
        fence = _fence_after_line(line, fence)
    return fence


def _fence_after_line(line: str, fence: CodeFence | None) -> CodeFence | None:
    """The open fence after a line, given the one before it."""
    found = _FENCE.fullmatch(line)
    if found is None:
        return fence
    marks, info = found[1], found[2].strip()
    if fence is None:
        return CodeFence(marks[:MAX_FENCE_LENGTH], info)
    closes = marks[0] == fence.delimiter[0] and len(marks) >= len(fence.delimiter) and not info
    return None if closes else fence


def _split_raw(text: str, limit: int) -> Iterator[tuple[str, str]]:
    """Split a text into parts, each with the fence that it reopens."""
    opening, rest = "", text
    while _utf16_length(opening) + _utf16_length(rest) > limit - FENCE_RESERVE:
        window = rest[: _index_at_units(rest, limit - FENCE_RESERVE - _utf16_length(opening))]
        cut = _find_cut(opening, window, _index_at_units(rest, _stable_units(opening, limit)))
        if rest[:cut].strip():
            yield opening, rest[:cut]
        fence = open_fence(opening + rest[:cut])
        opening, rest = fence.opening if fence else "", rest[cut:]
    if rest.strip():
        yield opening, rest


def _stable_units(opening: str, limit: int) -> int:
    """The number of units of a part that can no longer change."""
    return limit - FENCE_RESERVE - min(CUT_ZONE, limit // 4) - _utf16_length(opening)


def _find_cut(opening: str, window: str, sure: int) -> int:
    """The best position in the window to end a part, after the units that can no longer change."""
    least = max(1, len(_stable_text(window[:sure])))
    links, brackets, unfinished = find_link_spans(window)
    open_ends = [(start, len(window) + 1) for start in unfinished]
    links += open_ends[-1:]
    unbroken = links + brackets + open_ends
    fenced = _fence_lines(opening, window)
    locations = [[found.end() for found in pattern.finditer(window)] for pattern in _BREAKS]
    locations.append([at for at in range(least, len(window) + 1) if not _splits_surrogates(window, at)])
    for spans in map(_merge_spans, (unbroken + fenced, links + fenced, fenced, links, [])):
        for kind in locations:
            last = next((at for at in reversed(kind) if at >= least and not _is_inside_span(at, spans)), None)
            if last is not None:
                return last
    return len(window)


def _merge_spans(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sort spans and merge overlapping ones."""
    found: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(stop, found[-1][1]))
        else:
            found.append((start, stop))
    return found


def _is_inside_span(at: int, spans: list[tuple[int, int]]) -> bool:
    """Whether a position is inside a span; spans are sorted and do not overlap."""
    before = bisect_left(spans, (at, 0)) - 1
    return before >= 0 and at < spans[before][1]


def _fence_lines(opening: str, window: str) -> list[tuple[int, int]]:
    """The spans of fence lines; an opening one includes what a part must not end with."""
    found: list[tuple[int, int]] = []
    at, fence = 0, open_fence(opening)
    for line in window.split("\n"):
        stop = at + len(line) + 1
        fence = _fence_after_line(line, fence)
        if _FENCE_SO_FAR.fullmatch(line):
            found.append((at, stop + (fence is not None)))
        at = stop
    return found


def _splits_surrogates(text: str, at: int) -> bool:
    """Whether a position splits a surrogate pair."""
    return 0 < at < len(text) and "\ud800" <= text[at - 1] <= "\udbff" and "\udc00" <= text[at] <= "\udfff"


def _stable_text(text: str) -> str:
    """A text without an unfinished link or a possible fence line at its end."""
    first = min(find_link_spans(text).unfinished, default=len(text))
    return _without_open_fence_line(text)[:first]


def _without_open_fence_line(text: str) -> str:
    """A text without a last line that is, or may become, a fence."""
    head, newline, line = text.rpartition("\n")
    return head + newline if _LEAD_ONLY.match(line) or _FENCE_SO_FAR.fullmatch(line) else text


def _utf16_length(text: str) -> int:
    """The length of a text in UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _index_at_units(text: str, units: int) -> int:
    """The number of characters that fit into a number of UTF-16 units; surrogate pairs are not split."""
    head = text[: max(0, units)]
    if not head or max(head) < "\ud800":
        return len(head)
    if "\ud800" <= head[-1] <= "\udbff":
        head = head[:-1]
    sizes = accumulate(2 if char >= "\U00010000" else 1 for char in head)
    return sum(size <= units for size in sizes)
