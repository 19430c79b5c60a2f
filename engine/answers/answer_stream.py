"""What is done to the deltas of a model before they are an answer."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from engine.answers.fence_unwrapper import FenceUnwrapper
from engine.boundary import repair_surrogates
from engine.text.visible_text import VisibleTextGate

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from engine.answers.citations import CitationFilter

SLICE_CHARACTERS = (
    2_000  # characters that are cited at once: that takes the square of their number, and all of the event loop
)


async def repair_deltas(deltas: AsyncGenerator[str, None]) -> AsyncGenerator[str, None]:
    """The deltas as UTF-8 can hold them, also where a surrogate pair is split over two; closes `deltas`."""
    half = ""
    async with aclosing(deltas):
        async for delta in deltas:
            text = half + delta
            half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
            yield repair_surrogates(text[: len(text) - len(half)])
    if half:
        yield repair_surrogates(half)


class AnswerFilter:
    """Fed with the deltas of an answer, gives what its reader sees; nothing until something of that can be seen.

    `longest`: the most characters of an answer; what comes after them is left out.
    """

    def __init__(self, citing: CitationFilter, longest: int) -> None:
        self.is_full = False
        self._remaining = longest
        self._citation_filter = citing
        self._unwrapper = FenceUnwrapper()
        self._head = VisibleTextGate()

    @property
    def has_visible_text(self) -> bool:
        """Whether anything can be seen of what was given."""
        return self._head.is_open

    async def feed(self, delta: str) -> AsyncGenerator[str, None]:
        """What can be shown once `delta` has come, too; `full` if the answer is longer than it may be."""
        self.is_full = len(delta) > self._remaining
        delta = delta[: self._remaining]
        self._remaining -= len(delta)
        async for piece in self._filter_citations(self._unwrapper.feed(delta)):
            yield piece

    async def close(self) -> AsyncGenerator[str, None]:
        """The rest, at the end of the answer."""
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
