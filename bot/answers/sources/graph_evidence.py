"""What stands behind the facts of the graph that an answer was shown: passages that are none of its sources."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from bot.answers.sources.attribution import shares, tells_graph
from bot.store.models import part_key, source_keys
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.answers.draft import Draft
    from engine.models import Context
    from engine.storage.ledger.queries.provenance import Stating


class Evidence(Protocol):
    """What an answer was shown, and what its facts rest on."""

    context: Context

    @property
    def extractive(self) -> bool:
        """Whether it consists of quotations."""

    async def passages_stating(self) -> Sequence[Stating]:
        """The passages behind the facts of the graph that it was shown."""


async def note_facts(answer: Evidence, draft: Draft) -> None:
    """Note on a draft the keys of passages whose words came into it by a fact of the graph alone.

    Where a model wrote it, also the keys of all documents behind the facts that it was shown.
    """
    draft.extractive = answer.extractive
    told = tells_graph(draft.text, draft.request.text, draft.sources, answer.context)
    if not told and answer.extractive:
        return
    stating: Sequence[Stating] = ()
    with suppress(EngineError):  # then the answer cannot be kept either
        stating = await answer.passages_stating()
    draft.stated = await asyncio.to_thread(_keys, stating, told)
    if not answer.extractive:
        draft.facts = frozenset(part_key(each.document) for each in stating)


def _keys(stating: Sequence[Stating], told: set[str]) -> frozenset[str]:
    """The keys of those passages that have any of these words."""
    found = (each for each in stating if shares(told, each.text))
    return frozenset().union(*(source_keys(each.document, each.room, each.passage) for each in found))
