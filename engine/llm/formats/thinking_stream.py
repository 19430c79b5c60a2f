"""A stream without what a reasoning model thinks aloud at its head."""

from __future__ import annotations

_OPEN = "<think>"
_CLOSE = "</think>"


class ThinkingFilter:
    """Fed with deltas, gives the text that is no thinking: a `<think>` block at the very start is left out."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "start"

    def feed(self, delta: str) -> str:
        """What may be shown now."""
        if self._state == "open":
            return delta
        self._held += delta
        if self._state == "start":
            self._look_for_opening()
        if self._state == "thinking":
            self._look_for_end()
        return self._shown()

    def finish(self) -> str:
        """What is left at the end of the stream; thoughts without an end stay hidden."""
        held, self._held = self._held, ""
        return "" if self._state == "thinking" else held

    def _look_for_opening(self) -> None:
        head = self._held.lstrip()
        if head.startswith(_OPEN):
            self._held, self._state = head[len(_OPEN) :], "thinking"
        elif not _OPEN.startswith(head):
            self._state = "open"

    def _look_for_end(self) -> None:
        _, mark, rest = self._held.partition(_CLOSE)
        if mark:
            self._held, self._state = rest.lstrip(), "open" if rest.strip() else "after"
        else:
            self._held = self._held[-len(_CLOSE) :]

    def _shown(self) -> str:
        if self._state == "after":  # blanks between the thoughts and the answer
            self._held = self._held.lstrip()
            self._state = "open" if self._held else "after"
        if self._state != "open":
            return ""
        held, self._held = self._held, ""
        return held
