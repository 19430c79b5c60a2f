"""What an answer used by facts of the graph alone: passages that are none of its sources."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from bot.attribution import shares, tells_graph
from bot.store.records import source_keys
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.draft import Draft
    from engine.ledger.provenance import Stating
    from engine.records import Context


class Evidence(Protocol):
    """What an answer was shown, and what its facts rest on."""

    context: Context

    async def passages_stating(self) -> Sequence[Stating]:
        """The passages behind the facts of the graph that it was shown."""


async def stated(answer: Evidence, draft: Draft) -> frozenset[str]:
    """The keys of passages whose words came into an answer by a fact of the graph alone."""
    told = tells_graph(draft.text, draft.request.text, draft.sources, answer.context)
    if not told:
        return frozenset()
    stating: Sequence[Stating] = ()
    with suppress(EngineError):  # then the answer cannot be kept either
        stating = await answer.passages_stating()
    return await asyncio.to_thread(_keys, stating, told)


def _keys(stating: Sequence[Stating], told: set[str]) -> frozenset[str]:
    """The keys of those passages that have any of these words."""
    found = (each for each in stating if shares(told, each.text))
    return frozenset().union(*(source_keys(each.document, each.room, each.passage) for each in found))
