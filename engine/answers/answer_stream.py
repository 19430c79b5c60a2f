"""Filters of a streamed reply: repaired Unicode, unwrapped code fences, checked citations, a length limit.

A model may reply with only blanks, invisible characters or an empty code fence; such a reply has no visible text.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import aclosing
from typing import TYPE_CHECKING
from unicodedata import category

from engine.answers.fence_unwrapper import FenceUnwrapper
from engine.boundary import repair_surrogates

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from engine.answers.citations import CitationFilter

# Characters filtered at once. The time grows with their square, and the event loop is blocked during it.
SLICE_CHARACTERS = 2_000

# Separators, controls, invisible formatting, and combining marks.
_UNSEEN_CATEGORIES = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Mn", "Mc", "Me"})
# Hangul fillers, the Braille blank, the replacement character, and code markers.
_UNSEEN = frozenset("\u115f\u1160\u3164\uffa0\u2800\ufffd`~")
_FENCE = re.compile(r"(?:`{3,64}|~{3,64})[ \t]{0,8}[^\s`]{0,40}")
_CITATION = re.compile(r"[\[【［][^\[【［\]】］]{0,200}[\]】］]")


async def repair_deltas(deltas: AsyncGenerator[str, None]) -> AsyncGenerator[str, None]:
    """Repair invalid surrogates, including pairs split over two deltas; closes `deltas`."""
    half = ""
    async with aclosing(deltas):
        async for delta in deltas:
            text = half + delta
            half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
            yield repair_surrogates(text[: len(text) - len(half)])
    if half:
        yield repair_surrogates(half)


class AnswerFilter:
    """Turns the deltas of a model into the text that users see. Yields nothing before the first visible character.

    `max_characters`: the text after them is dropped.
    """

    def __init__(self, citation_filter: CitationFilter, max_characters: int) -> None:
        self.is_full = False
        self._remaining = max_characters
        self._citation_filter = citation_filter
        self._unwrapper = FenceUnwrapper()
        self._head = VisibleTextGate()

    @property
    def has_visible_text(self) -> bool:
        """Whether anything visible was yielded."""
        return self._head.is_open

    async def feed(self, delta: str) -> AsyncGenerator[str, None]:
        """Yield the text that can be shown after this delta; sets `is_full` if the answer exceeds its limit."""
        self.is_full = len(delta) > self._remaining
        delta = delta[: self._remaining]
        self._remaining -= len(delta)
        async for piece in self._filter_citations(self._unwrapper.feed(delta)):
            yield piece

    async def close(self) -> AsyncGenerator[str, None]:
        """Yield the remaining text at the end of the answer."""
        async for piece in self._filter_citations(self._unwrapper.close()):
            yield piece
        if piece := self._head.feed(self._citation_filter.close()):
            yield piece

    async def _filter_citations(self, text: str) -> AsyncGenerator[str, None]:
        for at in range(0, len(text), SLICE_CHARACTERS):
            if at:
                await asyncio.sleep(0)
            if piece := self._head.feed(self._citation_filter.feed(text[at : at + SLICE_CHARACTERS])):
                yield piece


def has_visible_text(text: str) -> bool:
    """Whether a text contains more than blanks, invisible characters and fence lines."""
    return any(map(_is_visible_line, text.split("\n")))


def has_visible_uncited_text(text: str) -> bool:
    """Whether a text has visible text outside brackets, which may hold citations that will be removed."""
    return has_visible_text(_CITATION.sub("", text))


class VisibleTextGate:
    """Holds back a streamed text until its first visible character."""

    def __init__(self) -> None:
        self.is_open = False
        self._held: list[str] = []
        self._line = ""

    def feed(self, text: str) -> str:
        """Add a piece; returns the text that can be shown now."""
        if self.is_open:
            return text
        self._held.append(text)
        line = self._line + text
        self.is_open = _has_visible(text) and has_visible_text(line)
        self._line = line.rpartition("\n")[2]
        return "".join(self._held) if self.is_open else ""


def _is_visible_line(line: str) -> bool:
    return _has_visible(line) and not _FENCE.fullmatch(line.strip())


def _has_visible(text: str) -> bool:
    return any(char not in _UNSEEN and category(char) not in _UNSEEN_CATEGORIES for char in text)
