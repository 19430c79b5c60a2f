"""Remove the <think> blocks of reasoning models from a reply, whole or streamed."""

from __future__ import annotations

import re

_TAG = re.compile(r"<(/?)think>", re.IGNORECASE)

_OPEN = "<think>"
_CLOSE = "</think>"


def strip_thinking(reply: str) -> str:
    """The reply without its <think> blocks, including blocks without an opening or closing tag.

    An unclosed block counts as thinking only at the beginning of the reply; elsewhere the tag may be part of the text.
    """
    visible, at, opened = list[str](), 0, -1
    for tag in _TAG.finditer(reply):
        if not tag[1]:
            opened = tag.start() if opened < 0 else opened
            continue
        if opened < 0:
            visible.clear()
        else:
            visible.append(reply[at:opened])
        at, opened = tag.end(), -1
    unfinished = opened >= 0 and not "".join((*visible, reply[at:opened])).strip()
    return "" if unfinished else "".join((*visible, reply[at:]))


class ThinkingFilter:
    """Takes deltas and returns the visible text: a `<think>` block at the very start is left out."""

    def __init__(self) -> None:
        self._buffer = ""
        self._state = "start"

    def feed(self, delta: str) -> str:
        """The text that can be shown now."""
        if self._state == "open":
            return delta
        self._buffer += delta
        if self._state == "start":
            self._match_opening_tag()
        if self._state == "thinking":
            self._match_closing_tag()
        return self._release_text()

    def finish(self) -> str:
        """The rest at the end of the stream; thinking without an end stays hidden."""
        held, self._buffer = self._buffer, ""
        return "" if self._state == "thinking" else held

    def _match_opening_tag(self) -> None:
        head = self._buffer.lstrip()
        if head.startswith(_OPEN):
            self._buffer, self._state = head[len(_OPEN) :], "thinking"
        elif not _OPEN.startswith(head):
            self._state = "open"

    def _match_closing_tag(self) -> None:
        _, mark, rest = self._buffer.partition(_CLOSE)
        if mark:
            self._buffer, self._state = rest.lstrip(), "open" if rest.strip() else "after"
        else:
            self._buffer = self._buffer[-len(_CLOSE) :]

    def _release_text(self) -> str:
        if self._state == "after":  # whitespace between the thinking and the answer
            self._buffer = self._buffer.lstrip()
            self._state = "open" if self._buffer else "after"
        if self._state != "open":
            return ""
        held, self._buffer = self._buffer, ""
        return held
