"""Remove a leading <think> block from a streamed reply."""

from __future__ import annotations

_OPEN = "<think>"
_CLOSE = "</think>"


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
