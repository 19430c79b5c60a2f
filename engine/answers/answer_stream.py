"""Filters of a streamed reply: repaired Unicode, unwrapped code fences, checked citations, a length limit.

A model may reply with only blanks, invisible characters or an empty code fence; such a reply has no visible text.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import aclosing
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category

from engine.boundary import repair_surrogates

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from engine.answers.citations import CitationFilter


# Characters filtered at once. The time grows with their square, and the event loop is blocked during it.
SLICE_CHARACTERS = 2_000

# Separators, controls, invisible formatting, and combining marks.
_UNSEEN_CATEGORIES = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Mn", "Mc", "Me"})
# Hangul fillers, the Braille blank, the replacement character, and code markers.
_UNSEEN = frozenset("\u115f\u1160\u3164\uffa0\u2800\ufffd`~")
_FENCE = re.compile(r"(?:`{3,64}|~{3,64})[ \t]{0,8}[^\s`]{0,40}")
_CITATION = re.compile(r"[\[【［][^\[【［\]】］]{0,200}[\]】］]")
MARKDOWN_NAMES = frozenset({"markdown", "md", "mdx", "gfm", "commonmark"})
PLAIN_TEXT_NAMES = frozenset({"", "text", "txt", "plain", "plaintext"})
MAX_FENCE_CHARACTERS = 120  # a longer line is not a fence

_WRAPPING_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*")
_FENCE_START = re.compile(r" {0,3}(?:`{1,2}|~{1,2})?|" + _WRAPPING_FENCE.pattern)
# Not an index in code such as `a[1]`.
_FENCED_CITATION = re.compile(r"(?<![\w)\]])[\[【]\^?\d{1,3}[\]】](?=[\s.,;:!?)\[]|\Z)")


async def repair_deltas(deltas: AsyncGenerator[str, None]) -> AsyncGenerator[str, None]:
    """Repair invalid surrogates, including pairs split over two deltas; closes `deltas`."""
    half = ""
    async with aclosing(deltas):
        async for delta in deltas:
            text = half + delta
            half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
            yield repair_surrogates(text[: len(text) - len(half)])
    if half:
        yield repair_surrogates(half)


class AnswerFilter:
    """Turns the deltas of a model into the text that users see. Yields nothing before the first visible character.

    `max_characters`: the text after them is dropped.
    """

    def __init__(self, citation_filter: CitationFilter, max_characters: int) -> None:
        self.is_full = False
        self._remaining = max_characters
        self._citation_filter = citation_filter
        self._unwrapper = FenceUnwrapper()
        self._head = VisibleTextGate()

    @property
    def has_visible_text(self) -> bool:
        """Whether anything visible was yielded."""
        return self._head.is_open

    async def feed(self, delta: str) -> AsyncGenerator[str, None]:
        """Yield the text that can be shown after this delta; sets `is_full` if the answer exceeds its limit."""
        self.is_full = len(delta) > self._remaining
        delta = delta[: self._remaining]
        self._remaining -= len(delta)
        async for piece in self._filter_citations(self._unwrapper.feed(delta)):
            yield piece

    async def close(self) -> AsyncGenerator[str, None]:
        """Yield the remaining text at the end of the answer."""
        async for piece in self._filter_citations(self._unwrapper.close()):
            yield piece
        if piece := self._head.feed(self._citation_filter.close()):
            yield piece

    async def _filter_citations(self, text: str) -> AsyncGenerator[str, None]:
        for at in range(0, len(text), SLICE_CHARACTERS):
            if at:
                await asyncio.sleep(0)
            if piece := self._head.feed(self._citation_filter.feed(text[at : at + SLICE_CHARACTERS])):
                yield piece


def has_visible_text(text: str) -> bool:
    """Whether a text contains more than blanks, invisible characters and fence lines."""
    return any(map(_is_visible_line, text.split("\n")))


def has_visible_uncited_text(text: str) -> bool:
    """Whether a text has visible text outside brackets, which may hold citations that will be removed."""
    return has_visible_text(_CITATION.sub("", text))


class VisibleTextGate:
    """Holds back a streamed text until its first visible character."""

    def __init__(self) -> None:
        self.is_open = False
        self._held: list[str] = []
        self._line = ""

    def feed(self, text: str) -> str:
        """Add a piece; returns the text that can be shown now."""
        if self.is_open:
            return text
        self._held.append(text)
        line = self._line + text
        self.is_open = _has_visible(text) and has_visible_text(line)
        self._line = line.rpartition("\n")[2]
        return "".join(self._held) if self.is_open else ""


def _is_visible_line(line: str) -> bool:
    return _has_visible(line) and not _FENCE.fullmatch(line.strip())


def _has_visible(text: str) -> bool:
    return any(char not in _UNSEEN and category(char) not in _UNSEEN_CATEGORIES for char in text)


class _Fence(NamedTuple):
    """A line that opens or closes a code block."""

    marker: str
    length: int
    info: str

    def closes(self, opening: _Fence) -> bool:
        """Whether this fence may close the block that `opening` opened."""
        return not self.info and self.marker == opening.marker and self.length >= opening.length


class _State(Enum):
    START = auto()  # only blank lines so far
    PASSING = auto()  # not wrapped: everything passes
    INSIDE = auto()  # in a Markdown fence whose first line was dropped
    CLOSED = auto()  # after a line that may close the fence: the text after it is held back
    UNDECIDED = auto()  # in a fence without a language: held back to its end
    ENDED = auto()  # after the end of a fence without a language


class FenceUnwrapper:
    """Removes a code fence around a whole streamed answer.

    A Markdown fence is dropped while the text streams. A fence without a language is dropped only if it contains
    citations and nothing follows it; its content is held back until that is certain. Other code passes unchanged.
    """

    def __init__(self) -> None:
        self._state = _State.START
        self._mid_line = False
        self._partial_line = ""  # start of a line that may become a fence
        self._opening = _Fence("", 0, "")
        self._nested: _Fence | None = None
        self._held: list[str] = []

    def feed(self, delta: str) -> str:
        """Add a piece of the answer; returns the text that can be shown now."""
        text, self._partial_line = self._partial_line + delta, ""
        shown: list[str] = []
        at = 0
        while at < len(text):
            if self._state is _State.PASSING:
                shown.append(text[at:])
                break
            end = text.find("\n", at) + 1 or len(text)
            line = text[at:end]
            if not self._mid_line and not line.endswith("\n") and _may_be_fence(line):
                self._partial_line = line
                break
            shown.append(self._process_line(line))
            self._mid_line = not line.endswith("\n")
            at = end
        return "".join(shown)

    def close(self) -> str:
        """End the answer; returns the remaining text."""
        shown = self._process_line(self._partial_line) if self._partial_line else ""
        self._partial_line = ""
        content = "".join(self._held[1:])
        if self._state is _State.CLOSED:  # the closing fence is dropped
            return shown + (content if content.strip() else "")
        if self._state in {_State.UNDECIDED, _State.ENDED}:
            fenced = "".join(self._held)
            body = content.rstrip() if self._state is _State.UNDECIDED else content.rstrip().rpartition("\n")[0]
            return shown + (body if _FENCED_CITATION.search(content) else fenced)
        return shown

    def _process_line(self, line: str) -> str:
        """The text shown for a line, or for the next part of a line."""
        fence = None if self._mid_line else _parse_fence(line)
        match self._state:
            case _State.START:
                return self._process_start(line, fence)
            case _State.PASSING:
                return line
            case _State.INSIDE:
                return self._process_inside(line, fence)
            case _State.CLOSED:
                return self._process_closed(line, fence)
            case _:
                return self._process_undecided(line, fence)

    def _process_start(self, line: str, fence: _Fence | None) -> str:
        if not line.strip():
            return line
        if fence is None or fence.info not in MARKDOWN_NAMES | PLAIN_TEXT_NAMES:
            self._state = _State.PASSING
            return line
        self._opening = fence
        if fence.info in MARKDOWN_NAMES:
            self._state = _State.INSIDE
        else:
            self._state, self._held = _State.UNDECIDED, [line]
        return ""

    def _process_inside(self, line: str, fence: _Fence | None) -> str:
        if fence is not None and self._closes_wrapper(fence):
            self._state, self._held = _State.CLOSED, [line]
            return ""
        return line

    def _process_closed(self, line: str, fence: _Fence | None) -> str:
        """Read a line behind a fence that seemed to close; if another such fence follows, it opened a block instead."""
        self._held.append(line)
        if fence is None or not self._closes_wrapper(fence):
            return ""
        self._state, shown, self._held = _State.INSIDE, "".join(self._held), []
        return shown

    def _process_undecided(self, line: str, fence: _Fence | None) -> str:
        self._held.append(line)
        if self._state is _State.UNDECIDED:
            if fence is not None and self._closes_wrapper(fence):
                self._state = _State.ENDED
        elif line.strip():  # more text follows: the fence was an ordinary block
            self._state, shown, self._held = _State.PASSING, "".join(self._held), []
            return shown
        return ""

    def _closes_wrapper(self, fence: _Fence) -> bool:
        """Whether a fence closes the wrapper rather than a block within it."""
        if self._nested is not None:
            if fence.closes(self._nested):
                self._nested = None
            return False
        if fence.closes(self._opening):
            return True
        self._nested = fence
        return False


def _may_be_fence(line: str) -> bool:
    return len(line) <= MAX_FENCE_CHARACTERS and _FENCE_START.fullmatch(line) is not None


def _parse_fence(line: str) -> _Fence | None:
    found = _WRAPPING_FENCE.fullmatch(line.strip("\r\n")) if len(line) <= MAX_FENCE_CHARACTERS else None
    return _Fence(found[1][0], len(found[1]), found[2].lower()) if found else None
