"""Find the passages behind the graph facts of an answer that are not among its sources."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from bot.answers.sources.attribution import graph_fact_words
from bot.store.models import source_keys, unknown_part_key
from bot.text.content_words import has_any_word
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.answers.draft import AnswerDraft
    from engine import Context, StatingPassage


class GraphEvidence(Protocol):
    """What an answer was shown, and what its facts rest on."""

    context: Context

    @property
    def is_extractive(self) -> bool:
        """Whether it consists of quotations."""

    async def load_supporting_passages(self) -> Sequence[StatingPassage]:
        """The passages behind the facts of the graph that it was shown."""


async def record_graph_facts(answer: GraphEvidence, draft: AnswerDraft) -> None:
    """Record on a draft the keys of passages whose words it contains only because of a fact of the graph.

    For an answer by a model, also record the keys of all documents that support the facts it was shown.
    """
    draft.is_extractive = answer.is_extractive
    fact_words = graph_fact_words(draft.text, draft.request.text, draft.sources, answer.context)
    if not fact_words and answer.is_extractive:
        return
    passages: Sequence[StatingPassage] = ()
    with suppress(EngineError):  # the same error will prevent storing the answer
        passages = await answer.load_supporting_passages()
    draft.graph_used_keys = await asyncio.to_thread(_matching_keys, passages, fact_words)
    if not answer.is_extractive:
        draft.graph_shown_keys = frozenset(unknown_part_key(each.document) for each in passages)


def _matching_keys(passages: Sequence[StatingPassage], fact_words: set[str]) -> frozenset[str]:
    """The keys of those passages that have any of these words."""
    found = (each for each in passages if has_any_word(fact_words, each.text))
    return frozenset().union(*(source_keys(each.document, each.room, each.passage) for each in found))
