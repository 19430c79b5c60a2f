"""Read streams whose deltas repeat what came before: all of them, or the last one."""

from __future__ import annotations

MIN_DELTAS = 3  # before one that repeats the whole reply
MIN_REPEATED = 20  # characters of it


class RepeatedDeltas:
    """Gives the new text of each delta.

    A stream is one of repeating deltas if its first three are each the beginning of the next.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._doubtful = ""  # a second delta that begins with the first one
        self._repeats = False

    def feed(self, delta: str) -> str:
        """The text that a delta adds."""
        if doubtful := self._doubtful:
            self._doubtful = ""
            self._repeats = len(delta) > len(doubtful) and delta.startswith(doubtful)
            return self.feed(delta) if self._repeats else self._record(doubtful) + self.feed(delta)
        if len(delta) < self._length or not self._length:
            return self._record(delta)
        whole = "".join(self._parts)
        if self._repeats and delta.startswith(whole):
            return self._record(delta[self._length :])
        if delta == whole and self._length >= MIN_REPEATED and len(self._parts) >= MIN_DELTAS:
            return ""
        if len(self._parts) == 1 and len(delta) > self._length and whole.strip() and delta.startswith(whole):
            self._doubtful = delta
            return ""
        return self._record(delta)

    def finish(self) -> str:
        """The rest at the end of the stream."""
        rest, self._doubtful = self._doubtful, ""
        return self._record(rest)

    def _record(self, text: str) -> str:
        if text:
            self._parts.append(text)
            self._length += len(text)
        return text
