"""Unwrap a streamed answer that a model wrapped in a code fence; otherwise its citations would count as code."""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple

MARKDOWN_NAMES = frozenset({"markdown", "md", "mdx", "gfm", "commonmark"})
PLAIN_TEXT_NAMES = frozenset({"", "text", "txt", "plain", "plaintext"})
MAX_FENCE_CHARACTERS = 120  # a longer line is not a fence

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*")
_FENCE_START = re.compile(r" {0,3}(?:`{1,2}|~{1,2})?|" + _FENCE.pattern)
# Not an index in code such as `a[1]`.
_CITATION = re.compile(r"(?<![\w)\]])[\[【]\^?\d{1,3}[\]】](?=[\s.,;:!?)\[]|\Z)")


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
            return shown + (body if _CITATION.search(content) else fenced)
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
    found = _FENCE.fullmatch(line.strip("\r\n")) if len(line) <= MAX_FENCE_CHARACTERS else None
    return _Fence(found[1][0], len(found[1]), found[2].lower()) if found else None
