"""Join exports of the same chat, which may overlap, into one. Pure."""

from __future__ import annotations

import heapq
import posixpath
from collections import Counter
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from datetime import datetime

    from adapters.chats.source import ChatLine


def join_exports(exports: Sequence[Iterator[ChatLine]], names: Collection[str]) -> Iterator[ChatLine]:
    """The messages of all exports of a chat by time; what several contain comes once.

    Of a message with an id, a later version follows if it was edited later, or has more of the files that are here:
    those in `names`. Where exports of different accounts use an id for different messages, the id is numbered.
    """
    if len(exports) == 1:
        yield from exports[0]
        return
    joined = _JoinedChat(names)
    numbered = (zip(repeat(number), lines) for number, lines in enumerate(exports))
    for number, line in heapq.merge(*numbered, key=lambda each: each[1].time):
        if (found := joined.take(number, line)) is not None:
            yield found


class _JoinedChat:
    """Remembers which messages were there."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        self._seen: Counter[int] = Counter()  # of each message without an id, in each export and at most in one
        self._versions: dict[tuple[str, datetime], tuple[str, int]] = {}
        self._times: dict[str, list[datetime]] = {}  # of the messages with an id

    def take(self, number: int, line: ChatLine) -> ChatLine | None:
        """The message as it is to be read; None if it was there in another export."""
        files = [posixpath.basename(file) for file in line.files if file in self._names]
        if line.id:
            return self._take_version(line, len(files))
        message = (line.time, line.author, line.text, *files)
        here, most = hash((number, message)), hash(message)
        self._seen[here] += 1
        if self._seen[here] <= self._seen[most]:
            return None
        self._seen[most] += 1
        return line

    def _take_version(self, line: ChatLine, files: int) -> ChatLine | None:
        version, key = (line.edited, files), (line.id, line.time)
        known = self._versions.get(key)
        if known is not None and version <= known:
            return None
        self._versions[key] = version
        times = self._times.setdefault(line.id, [])
        if line.time not in times:
            times.append(line.time)
        place = times.index(line.time)
        return replace(line, id=f"{line.id}-{place + 1}") if place else line
