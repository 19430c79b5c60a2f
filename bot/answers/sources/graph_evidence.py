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
    """Note on a draft the keys of passages whose words came into it by a fact of the graph alone.

    Where a model wrote it, also the keys of all documents behind the facts that it was shown.
    """
    draft.is_extractive = answer.is_extractive
    told = graph_fact_words(draft.text, draft.request.text, draft.sources, answer.context)
    if not told and answer.is_extractive:
        return
    stating: Sequence[StatingPassage] = ()
    with suppress(EngineError):  # then the answer cannot be kept either
        stating = await answer.load_supporting_passages()
    draft.graph_used_keys = await asyncio.to_thread(_matching_keys, stating, told)
    if not answer.is_extractive:
        draft.graph_shown_keys = frozenset(unknown_part_key(each.document) for each in stating)


def _matching_keys(stating: Sequence[StatingPassage], told: set[str]) -> frozenset[str]:
    """The keys of those passages that have any of these words."""
    found = (each for each in stating if has_any_word(told, each.text))
    return frozenset().union(*(source_keys(each.document, each.room, each.passage) for each in found))
