"""Sources to what can be quoted of them: sentences and chat lines, each with the words around it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.llm.offline.text.sentences import LONGEST, chat_line, sentences
from engine.llm.offline.text.words import MONEY, is_stop, stem, tells_price, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from engine.models import Source

# How many sentences or messages before one still tell what it is about.
BEFORE = 2
_JOINTS = re.compile(r"[-_./]")
_TITLE_WORDS = 6


@dataclass(frozen=True, slots=True)
class Quotable:
    """A sentence or a chat message of a numbered source.

    `words` are the stems it says (a message also says who speaks), `near` those of the two before it in its passage or
    conversation, `head` those of title and heading. `before` are the positions of these two, nearest last.
    """

    source: Source
    text: str
    speaker: str
    when: str
    words: frozenset[str]
    near: frozenset[str]
    head: frozenset[str]
    before: tuple[int, ...]

    @property
    def time(self) -> datetime | None:
        return self.source.time

    @property
    def shown(self) -> str:
        """As it is compared with a question: with its speaker."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text

    @property
    def is_title(self) -> bool:
        """Whether it is short and ends without a mark, or says nothing but what stands above it."""
        bare = self.text[-1:].isalnum() and ": " not in self.text and len(self.text.split()) <= _TITLE_WORDS
        return not self.speaker and (bare or self.words <= self.head)

    @property
    def asks(self) -> bool:
        return self.text.rstrip("\"'”’)").endswith("?")


def quotables(sources: Iterable[Source]) -> list[Quotable]:
    """What can be quoted, in the order of the sources; equal texts stand once, where the newest source says them."""
    found: list[Quotable] = []
    for source in _without_doubles(sources):
        head = stemmed(_JOINTS.sub(" ", f"{source.title} {source.label}"))  # of a file's name every word
        for speaker, when, text in _pieces(source):
            before = _before(found, source, chat=bool(speaker))
            near = frozenset().union(*(found[at].words for at in before))
            words = stemmed(f"{speaker} {text}") | ({MONEY} if tells_price(text) else set())
            found.append(Quotable(source, text, speaker, when, words, near, head, before))
    return found


def stemmed(text: str) -> frozenset[str]:
    """The stems of the words that say something."""
    return frozenset(stem(word) for word in tokens(text) if not is_stop(word))


def _without_doubles(sources: Iterable[Source]) -> list[Source]:
    newest: dict[str, Source] = {}
    for source in sources:
        key = " ".join(source.text.split())
        if key not in newest or _later(source, newest[key]):
            newest[key] = source
    kept = {source.number for source in newest.values()}
    return [source for source in newest.values() if source.number in kept]


def _later(one: Source, other: Source) -> bool:
    return one.time is not None and (other.time is None or one.time > other.time)


def _pieces(source: Source) -> list[tuple[str, str, str]]:
    """Speaker, time and text of what the source says; a message is one piece unless it is long.

    Only a source with an author is a message: in a file, a line of that form may name anybody.
    """
    line = chat_line(source.text) if source.author else None
    if line is None:
        return [("", "", text) for text in sentences(source.text) if any(map(str.isalnum, text))]
    whole = " ".join(line.text.split())
    texts: Sequence[str] = [whole] if len(whole) <= LONGEST else sentences(line.text)
    return [(line.speaker, line.time, text) for text in texts if text]


def _before(found: Sequence[Quotable], source: Source, *, chat: bool) -> tuple[int, ...]:
    """The positions of the last two that the reader has just read: of the passage, or of the conversation."""
    last = range(max(0, len(found) - BEFORE), len(found))
    return tuple(at for at in last if is_beside(found[at].source, source, chat=chat))


def is_beside(one: Source, other: Source, *, chat: bool) -> bool:
    """Whether what they say is read one after the other: in one passage, or in one conversation."""
    return one.document == other.document and (chat or one.passage == other.passage)
