"""Split sources into quotable sentences and chat messages, each with the words around it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.llm.offline.attendance import list_attendance
from engine.llm.offline.sentences import MAX_SENTENCE_LENGTH, TextPiece, parse_chat_line, split_pieces
from engine.llm.offline.words import MONEY, content_stems, count_words, date_stems, has_price

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine.models import Passage, Source

# Number of preceding sentences or messages that give a sentence its context.
PRECEDING_COUNT = 2
_NAME_SEPARATORS = re.compile(r"[-_./]")
_MAX_TITLE_WORDS = 6
# Says how many people a group has without a word for them: "there are 61 of us", "nous sommes 61".
_COUNTS_US = re.compile(
    r"\b\d{1,6} of us\b"
    r"|\b(?:we are|wir sind|nous sommes|somos) (?:now |jetzt |zu |maintenant |ahora |agora )?\d{1,6}\b",
    re.IGNORECASE,
)
PEOPLE = content_stems("people employees")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence or a chat message of a numbered source.

    `stems` are those of its words (for a message also those of the speaker), `nearby_stems` those of title and heading,
    of the two sentences before it in its passage or conversation, and of the day of a message; `preceding` are the
    positions of these two, nearest last. `is_item`: it belongs to a list or a table. `until`: the day on which a newer
    one replaced it.
    """

    source: Source
    text: str
    speaker: str
    time_text: str
    stems: frozenset[str]
    nearby_stems: frozenset[str]
    is_title: bool
    preceding: tuple[int, ...]
    is_item: bool = False
    until: str = ""

    @property
    def attributed_text(self) -> str:
        """The text that is compared with a question: with its speaker."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text

    @property
    def is_question(self) -> bool:
        return self.text.rstrip("\"'”’)").endswith("?")


def build_candidates(sources: Iterable[Source]) -> list[Candidate]:
    """Quotable candidates in the order of the sources; equal texts are kept once, for the newest source."""
    candidates: list[Candidate] = []
    for source in _deduplicate_sources(sources):
        heading = content_stems(_NAME_SEPARATORS.sub(" ", f"{source.title} {source.label} {_describe_day(source)}"))
        for speaker, time, (text, is_item) in split_source(source):
            before = _preceding_positions(candidates, source, chat=bool(speaker))
            nearby = heading.union(*(candidates[at].stems for at in before))
            stems = content_stems(f"{speaker} {text}") | ({MONEY} if has_price(text) else set())
            stems |= date_stems(text) | (PEOPLE if _COUNTS_US.search(text) else frozenset())
            attendance, meetings = list_attendance(text)
            stems, nearby = stems | attendance, nearby | meetings
            is_title = not speaker and not is_item and (_looks_like_title(text) or stems <= heading)
            candidates.append(Candidate(source, text, speaker, time, stems, nearby, is_title, before, is_item))
    return candidates


def is_adjacent(one: Source, other: Source, *, chat: bool) -> bool:
    """Whether the two are adjacent in one passage or one conversation."""
    return one.document == other.document and (chat or one.passage == other.passage)


def _looks_like_title(text: str) -> bool:
    return text[-1:].isalnum() and ": " not in text and count_words(text) <= _MAX_TITLE_WORDS


def _deduplicate_sources(sources: Iterable[Source]) -> list[Source]:
    newest: dict[str, Source] = {}
    for source in sources:
        known = newest.setdefault(" ".join(source.text.split()), source)
        if source.time is not None and (known.time is None or source.time > known.time):
            newest[" ".join(source.text.split())] = source
    return list(newest.values())


def _describe_day(source: Source) -> str:
    """The day of a message, as people write it."""
    time = source.time if source.author else None
    return f"{time.day} {_MONTHS[time.month - 1]} {time.year}" if time else ""


def split_source(source: Source | Passage) -> list[tuple[str, str, TextPiece]]:
    """Speaker, time and text of each piece of a source; a message is one piece unless it is long.

    Only a source with an author is a message: in a file, a line of that form may name anyone.
    """
    line = parse_chat_line(source.text) if source.author else None
    if line is None:
        return [("", "", piece) for piece in split_pieces(source.text) if any(map(str.isalnum, piece.text))]
    whole = " ".join(line.text.split())
    is_short = len(whole) <= MAX_SENTENCE_LENGTH
    pieces = [TextPiece(whole, is_item=False)] if is_short else split_pieces(line.text)
    return [(line.speaker, line.time, piece) for piece in pieces if piece.text]


def _preceding_positions(found: Sequence[Candidate], source: Source, *, chat: bool) -> tuple[int, ...]:
    last = range(max(0, len(found) - PRECEDING_COUNT), len(found))
    return tuple(at for at in last if is_adjacent(found[at].source, source, chat=chat))
