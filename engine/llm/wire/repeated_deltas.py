"""Read streams whose deltas repeat what came before: all of them, or the last one; or that send each delta twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MIN_DELTAS = 3  # before one that repeats the whole reply
MIN_REPEATED = 20  # characters of it
MIN_PAIRS = 3  # of equal deltas, with different words, at the start of a stream that sends each twice
MIN_WHOLE_PAIRS = 2  # of a whole stream that has nothing else
MAX_PAIRS = 12  # after so many without that, a stream repeats a word


class DoubledDeltas:
    """Gives each delta once of a stream that sends each twice: it begins with pairs of equal deltas."""

    def __init__(self) -> None:
        self._first = ""
        self._held: list[str] = []  # from the second delta on, until it is certain
        self._is_certain = False
        self._is_doubled = False

    def feed(self, delta: str) -> list[str]:
        """The deltas that are certain now."""
        if self._is_certain:
            return self._pass_on(delta)
        if not self._first:
            self._first = delta
            return [delta]
        self._held.append(delta)
        pairs = self._list_pairs()
        if any(one != other for one, other in pairs) or len(pairs) > MAX_PAIRS:
            return self._decide(is_doubled=False)
        return self._decide(is_doubled=True) if _count_words(pairs) >= MIN_PAIRS else []

    def finish(self) -> list[str]:
        """The rest at the end of the stream."""
        pairs = self._list_pairs()
        # "高高兴兴", a character a delta, repeats itself.
        has_word = any(len(one.strip()) > 1 and any(map(str.isalpha, one)) for one, _ in pairs)
        differ = len(set(pairs)) >= MIN_WHOLE_PAIRS and has_word
        return self._decide(is_doubled=differ and len(self._held) % 2 == 1)

    def _list_pairs(self) -> list[tuple[str, str]]:
        deltas = [self._first, *self._held]
        return list(zip(deltas[::2], deltas[1::2], strict=False))

    def _decide(self, *, is_doubled: bool) -> list[str]:
        held, self._held = self._held, []
        self._is_certain, self._is_doubled = True, is_doubled
        self._first = ""
        return held[1::2] if is_doubled else held

    def _pass_on(self, delta: str) -> list[str]:
        """The delta; nothing if it is the second one of a pair."""
        is_second = self._is_doubled and delta == self._first
        self._first = "" if is_second else delta
        return [] if is_second else [delta]


def _count_words(pairs: Sequence[tuple[str, str]]) -> int:
    """How many different texts with letters there are."""
    return len({one for one, _ in pairs if any(map(str.isalpha, one))})


class RepeatedDeltas:
    """Gives the new text of each delta.

    A stream is one of repeating deltas if its first three are each the beginning of the next.
    """

    def __init__(self) -> None:
        self._doubled = DoubledDeltas()
        self._parts: list[str] = []
        self._length = 0
        self._doubtful = ""  # a second delta that begins with the first one
        self._repeats = False

    def feed(self, delta: str) -> str:
        """The text that a delta adds."""
        return "".join(map(self._read, self._doubled.feed(delta)))

    def _read(self, delta: str) -> str:
        if doubtful := self._doubtful:
            self._doubtful = ""
            self._repeats = len(delta) > len(doubtful) and delta.startswith(doubtful)
            return self._read(delta) if self._repeats else self._record(doubtful) + self._read(delta)
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
        last = "".join(map(self._read, self._doubled.finish()))
        rest, self._doubtful = self._doubtful, ""
        return last + self._record(rest)

    def _record(self, text: str) -> str:
        if text:
            self._parts.append(text)
            self._length += len(text)
        return text
