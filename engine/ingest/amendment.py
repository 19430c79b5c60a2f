"""Amend a document: read the region around the change, rechunk it off the event loop, then write it atomically."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from engine.ingest.rechunk import rechunk_region
from engine.storage.ledger.records import INITIAL_REACH, WHOLE_DOCUMENT, AmendmentResult, widen_reach

if TYPE_CHECKING:
    from engine.runtime import Runtime
    from engine.storage.ledger.records import DocumentChange

MAX_TRIES = 5  # while others change the same document


async def amend_document(runtime: Runtime, key: str, change: DocumentChange) -> bool:
    """Apply the change; returns whether anything is different. Raises NotFound if the document does not exist."""
    ledger, reach = runtime.ledger, INITIAL_REACH
    tokenizer, chunking = runtime.tokenizer, runtime.options.chunking
    for _ in range(MAX_TRIES):
        plan = await ledger.documents.plan_amendment(key, change, reach)
        segment = None
        if plan.region is not None:
            segment = await asyncio.to_thread(rechunk_region, plan.region, tokenizer, chunking)
            if segment is None:
                reach = widen_reach(reach)
                continue
        result = await ledger.documents.apply_amendment(plan, segment)
        if result in {AmendmentResult.CHANGED, AmendmentResult.UNCHANGED}:
            return result is AmendmentResult.CHANGED
        reach = WHOLE_DOCUMENT if result is AmendmentResult.RANGE_TOO_SMALL else reach
    return await ledger.documents.amend(key, change, lambda region: rechunk_region(region, tokenizer, chunking))
