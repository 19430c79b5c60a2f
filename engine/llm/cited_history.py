"""Give earlier answers to a model with their citations: with the numbers that their sources have now, or with titles.

The numbers of an earlier answer mean other passages in the next prompt. Without any citation, an earlier answer would
teach the model not to cite.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.text.stream_rewriter import RewriteStep, StreamRewriter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.models import ChatTurn, CitedSource, Source

MAX_TITLE_CHARACTERS = 60

_CITATION = re.compile(r"( ?)\[(\d{1,9})\]")
_UNSAFE = re.compile(r"[\[\]()`<>\s]+")


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
