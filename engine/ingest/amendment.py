"""Amend a document: read what stands around the change, cut that anew off the loop, then write it, all or nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from engine.ingest.rechunk import rechunk_region
from engine.storage.ledger.content.amendments import (
    INITIAL_REACH,
    WHOLE_DOCUMENT,
    AmendmentResult,
    apply_amendment,
    plan_amendment,
)

if TYPE_CHECKING:
    from engine.options import ChunkingOptions
    from engine.runtime import Runtime
    from engine.storage.ledger.content.documents import DocumentChange
    from engine.storage.sqlite.connection import Connection
    from engine.text.windows import Tokenizer

MAX_TRIES = 5  # while others change the same document
WIDEN_FACTOR = 8  # times as far, where too little was read


async def amend_document(runtime: Runtime, key: str, change: DocumentChange) -> bool:
    """Make the change; says whether anything is different now. Raises NotFound if there is no such document."""
    ledger, reach = runtime.ledger, INITIAL_REACH
    tokenizer, packing = runtime.tokenizer, runtime.options.chunking
    for _ in range(MAX_TRIES):
        made = await ledger.read(plan_amendment, key, change, reach)
        segment = None
        if made.region is not None:
            segment = await asyncio.to_thread(rechunk_region, made.region, tokenizer, packing)
            if segment is None:
                reach = _widen_reach(reach)
                continue
        outcome = await ledger.write(apply_amendment, made, segment)
        if outcome in {AmendmentResult.CHANGED, AmendmentResult.UNCHANGED}:
            return outcome is AmendmentResult.CHANGED
        reach = WHOLE_DOCUMENT if outcome is AmendmentResult.RANGE_TOO_SMALL else reach
    return await ledger.write(amend_in_transaction, key, change, tokenizer, packing)


async def amend_in_transaction(
    db: Connection, key: str, change: DocumentChange, tokenizer: Tokenizer, packing: ChunkingOptions
) -> bool:
    """The same within one transaction, where nobody comes between."""
    reach = INITIAL_REACH
    while True:
        made = await plan_amendment(db, key, change, reach)
        segment = None if made.region is None else rechunk_region(made.region, tokenizer, packing)
        if made.region is not None and segment is None:
            reach = _widen_reach(reach)
            continue
        outcome = await apply_amendment(db, made, segment)
        if outcome is not AmendmentResult.RANGE_TOO_SMALL:
            return outcome is AmendmentResult.CHANGED
        reach = WHOLE_DOCUMENT


def _widen_reach(reach: int) -> int:
    return min(WHOLE_DOCUMENT, WIDEN_FACTOR * reach)
