"""Render sources and earlier answers as the model sees them: their lines, and citations by today's numbers. Pure.

The token budget, the key of the answer cache and the request to the model each render all sources of a question. So
short passages, of which a question may have hundreds, are rendered once.

The numbers of an earlier answer mean other passages in the next prompt. Without any citation, an earlier answer would
teach the model not to cite.
"""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from datetime import UTC
from datetime import time as day_time
from typing import TYPE_CHECKING, NamedTuple

from engine.text.cleanup import MESSAGE_TIME, MINUTE_FORMAT
from engine.text.stream_rewriter import RewriteStep, StreamRewriter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from engine.models import ChatTurn, CitedSource, Source


UNDATED = "undated"
MIDNIGHT = day_time()
SHORT_TEXT = 1_000  # characters of a passage that is rendered once
MAX_RENDERED = 4_096  # such passages: those of twenty questions
CONTINUED = "…"  # begins the head of a source whose title stands above it; no title or name begins with it
_MARK_LIKE = re.compile(r"\A[\W_]*?(?:[…⋯‥︙]|\.{2})[\s,.…⋯‥︙]*")
_PART_END = re.compile(r"\s?[›,]")
_MESSAGE_HEAD = re.compile(rf"\[({MESSAGE_TIME})\] ([^:\n]{{1,100}}): ")
MAX_TITLE_CHARACTERS = 60

_CITATION = re.compile(r"( ?)\[(\d{1,9})\]")
_UNSAFE = re.compile(r"[\[\]()`<>\s]+")


class _Parts(NamedTuple):
    """What the head of a source may name."""

    title: str
    label: str
    author: str
    time: datetime | None


def render_sources(sources: Sequence[Source]) -> list[str]:
    """The sources as the model reads them, one below the other: each leaves out what it shares with the one above."""
    return [render_source(source, above) for source, above in zip(sources, (None, *sources), strict=False)]


def render_source(source: Source, above: Source | None = None) -> str:
    """A source as the model sees it: `[n] (title, label, author, date) text`; only its first line begins with [.

    Each part appears once: parts contained in another part are left out, and so is a message head that repeats them.
    Below a source of the same document, `above`, a mark stands for the title, and there is no day if it is the same.
    """
    parts = _Parts(source.title, source.label, source.author, source.time)
    shared_day = None
    if above is not None and above.document == source.document:
        shared_day = _format_day(above.time)
    render = _render_short_passage if len(source.text) <= SHORT_TEXT else _render_passage
    return f"[{source.number}] {render(parts, source.text, shared_day)}"


def _render_passage(parts: _Parts, text: str, shared_day: str | None) -> str:
    """A source without its number; `shared_day`: that of the source above, None below another document."""
    is_continued = shared_day is not None and bool(parts.label or parts.author)
    head = _render_head(parts._replace(title="") if is_continued else parts)
    repeated = _MESSAGE_HEAD.match(text)
    if repeated and all(_contains_words(part, head) for part in repeated.groups()):
        text = text[repeated.end() :]
    if is_continued:
        head = f"{CONTINUED}, {_shorten_day(head, shared_day or '')}"
    return f"({head}) {indent_lines(text)}"


@functools.lru_cache(maxsize=MAX_RENDERED)
def _render_short_passage(parts: _Parts, text: str, shared_day: str | None) -> str:
    return _render_passage(parts, text, shared_day)


def _render_head(parts: _Parts) -> str:
    date = _format_date(parts.time) if parts.time else UNDATED
    head = _join_distinct([_read_part(part) for part in (parts.title, parts.label, parts.author, date)])
    return re.sub(rf"(?<!\w){date}(?!\w| UTC)", f"{date} UTC", head, count=1) if ":" in date else head


def _read_part(text: str) -> str:
    """A title or name on one line, without what looks like the mark of a source that continues another one."""
    return _MARK_LIKE.sub("", join_words(text))


def _shorten_day(head: str, day: str) -> str:
    """A head without its day if that is known: `Ada, 14:20` instead of `Ada, 2026-05-07 14:20 UTC`."""
    if not day:
        return head
    return re.sub(rf"(?<!\w){day} (\d\d:\d\d) UTC", r"\1", head.removesuffix(f", {day}"), count=1)


def _format_day(moment: datetime | None) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d") if moment else ""


def _format_date(moment: datetime) -> str:
    """A time in UTC; midnight means a day without a time."""
    utc = moment.astimezone(UTC)
    return utc.strftime("%Y-%m-%d" if utc.time() == MIDNIGHT else MINUTE_FORMAT)


def _join_distinct(parts: Sequence[str]) -> str:
    """Join the parts, without those that another part contains; the first, a title, must begin it as a whole part."""
    kept = [part for place, part in enumerate(parts) if part and not _is_repeated(place, parts)]
    return ", ".join(kept)


def _is_repeated(place: int, parts: Sequence[str]) -> bool:
    """Whether a longer part, or an equal one before it, contains the part at this place."""
    part = parts[place]
    contains = _contains_words if place else _begins_with
    return any(
        contains(part, other) and (len(other) > len(part) or at < place)
        for at, other in enumerate(parts)
        if at != place
    )


def _begins_with(title: str, text: str) -> bool:
    return text.startswith(title) and _PART_END.match(text, len(title)) is not None


def _contains_words(part: str, text: str) -> bool:
    """Whether the text contains the words, not as part of longer words."""
    start = text.find(part)
    while start >= 0:
        if not (_is_word(text[start - 1 : start]) or _is_word(text[start + len(part) :][:1])):
            return True
        start = text.find(part, start + 1)
    return False


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def join_words(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())


def indent_lines(text: str) -> str:
    """The text with its later lines indented, so that none begins as a row of the prompt does."""
    return "\n    ".join(text.strip().splitlines())


def cite_history(history: Sequence[ChatTurn], sources: Sequence[Source]) -> tuple[ChatTurn, ...]:
    """The turns with answers that cite `sources` by their numbers, and other sources by their titles, each once.

    A number whose source is not known is removed. A turn that is cited so has no `sources` any more.
    """
    numbers = {(source.document, source.passage): source.number for source in sources}
    return tuple(_cite_turn(turn, numbers) if turn.role == "assistant" else turn for turn in history)


def _cite_turn(turn: ChatTurn, numbers: Mapping[tuple[str, str], int]) -> ChatTurn:
    rewriter = _HistoryRewriter({source.number: source for source in turn.sources}, numbers)
    return replace(turn, text=rewriter.feed(turn.text) + rewriter.close(), sources=())


class _HistoryRewriter(StreamRewriter):
    """Rewrites the numbers outside of code."""

    special = re.compile(r"[ \[]")

    def __init__(self, cited: Mapping[int, CitedSource], numbers: Mapping[tuple[str, str], int]) -> None:
        super().__init__()
        self._cited = cited
        self._numbers = numbers
        self._named: set[str] = set()

    def rewrite_special(self, at: int, *, final: bool) -> RewriteStep | None:
        del final  # the text is given as a whole
        found = _CITATION.match(self.buffer, at)
        if found is None:
            return RewriteStep(at + 1, self.buffer[at])
        shown = self._render(self._cited.get(int(found[2])))
        return RewriteStep(found.end(), f"{found[1]}{shown}" if shown else "")

    def _render(self, source: CitedSource | None) -> str:
        if source is None:
            return ""
        number = self._numbers.get((source.document, source.passage))
        if number is not None:
            return f"[{number}]"
        title = _UNSAFE.sub(" ", source.title).strip()[:MAX_TITLE_CHARACTERS].strip()
        if not title or title in self._named:
            return ""
        self._named.add(title)
        return f"({title})"
