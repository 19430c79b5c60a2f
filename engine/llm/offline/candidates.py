"""Split sources into quotable sentences and chat lines, each with the words around it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.llm.offline.text.sentences import MAX_SENTENCE_LENGTH, parse_chat_line, split_sentences
from engine.llm.offline.text.words import MONEY, has_price, is_stop_word, split_words, stem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from engine.models import Source

# Number of preceding sentences or messages that give a sentence its context.
PRECEDING_COUNT = 2
_NAME_SEPARATORS = re.compile(r"[-_./]")
_MAX_TITLE_WORDS = 6


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence or a chat message of a numbered source.

    `stems` are those of its words (for a message also those of the speaker), `context_stems` those of the two before it
    in its passage or conversation, `heading_stems` those of title and heading. `preceding` are the positions of the two
    before it, nearest last.
    """

    source: Source
    text: str
    speaker: str
    time_text: str
    stems: frozenset[str]
    context_stems: frozenset[str]
    heading_stems: frozenset[str]
    preceding: tuple[int, ...]

    @property
    def time(self) -> datetime | None:
        return self.source.time

    @property
    def attributed_text(self) -> str:
        """The text that is compared with a question: with its speaker."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text

    @property
    def is_title(self) -> bool:
        """Whether it is short and ends without punctuation, or only repeats the title and heading above it."""
        bare = self.text[-1:].isalnum() and ": " not in self.text and len(self.text.split()) <= _MAX_TITLE_WORDS
        return not self.speaker and (bare or self.stems <= self.heading_stems)

    @property
    def is_question(self) -> bool:
        return self.text.rstrip("\"'”’)").endswith("?")


def build_candidates(sources: Iterable[Source]) -> list[Candidate]:
    """Quotable candidates in the order of the sources; equal texts are kept once, for the newest source."""
    candidates: list[Candidate] = []
    for source in _deduplicate_sources(sources):
        head = content_stems(_NAME_SEPARATORS.sub(" ", f"{source.title} {source.label}"))  # all words of a file's name
        for speaker, when, text in _split_source(source):
            before = _preceding_positions(candidates, source, chat=bool(speaker))
            near = frozenset().union(*(candidates[at].stems for at in before))
            words = content_stems(f"{speaker} {text}") | ({MONEY} if has_price(text) else set())
            candidates.append(Candidate(source, text, speaker, when, words, near, head, before))
    return candidates


def content_stems(text: str) -> frozenset[str]:
    """The stems of the content words."""
    return frozenset(stem(word) for word in split_words(text) if not is_stop_word(word))


def _deduplicate_sources(sources: Iterable[Source]) -> list[Source]:
    newest: dict[str, Source] = {}
    for source in sources:
        key = " ".join(source.text.split())
        if key not in newest or _is_newer(source, newest[key]):
            newest[key] = source
    kept = {source.number for source in newest.values()}
    return [source for source in newest.values() if source.number in kept]


def _is_newer(one: Source, other: Source) -> bool:
    return one.time is not None and (other.time is None or one.time > other.time)


def _split_source(source: Source) -> list[tuple[str, str, str]]:
    """Speaker, time and text of each piece of a source; a message is one piece unless it is long.

    Only a source with an author is a message: in a file, a line of that form may name anyone.
    """
    line = parse_chat_line(source.text) if source.author else None
    if line is None:
        return [("", "", text) for text in split_sentences(source.text) if any(map(str.isalnum, text))]
    whole = " ".join(line.text.split())
    texts: Sequence[str] = [whole] if len(whole) <= MAX_SENTENCE_LENGTH else split_sentences(line.text)
    return [(line.speaker, line.time, text) for text in texts if text]


def _preceding_positions(found: Sequence[Candidate], source: Source, *, chat: bool) -> tuple[int, ...]:
    """Positions of the last two candidates before it, in its passage or conversation."""
    last = range(max(0, len(found) - PRECEDING_COUNT), len(found))
    return tuple(at for at in last if is_adjacent(found[at].source, source, chat=chat))


def is_adjacent(one: Source, other: Source, *, chat: bool) -> bool:
    """Whether the two are adjacent in one passage or one conversation."""
    return one.document == other.document and (chat or one.passage == other.passage)
