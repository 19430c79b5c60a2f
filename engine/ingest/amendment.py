"""Amend a document: read what stands around the change, cut that anew off the loop, then write it, all or nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from engine.ingest.rechunk import recut
from engine.storage.ledger.content.amendments import EVERYTHING, REACH, Outcome, apply, plan

if TYPE_CHECKING:
    from engine.options import Packing
    from engine.runtime import Runtime
    from engine.storage.ledger.content.documents import Change
    from engine.storage.sqlite.connection import Connection
    from engine.text.windows import Tokenizer

TRIES = 5  # while others change the same document
WIDER = 8  # times as far, where too little was read


async def amend(runtime: Runtime, key: str, change: Change) -> bool:
    """Make the change; says whether anything is different now. Raises NotFound if there is no such document."""
    ledger, reach = runtime.ledger, REACH
    tokenizer, packing = runtime.tokenizer, runtime.options.packing
    for _ in range(TRIES):
        made = await ledger.read(plan, key, change, reach)
        segment = None
        if made.stretch is not None:
            segment = await asyncio.to_thread(recut, made.stretch, tokenizer, packing)
            if segment is None:
                reach = _wider(reach)
                continue
        outcome = await ledger.write(apply, made, segment)
        if outcome in {Outcome.CHANGED, Outcome.UNCHANGED}:
            return outcome is Outcome.CHANGED
        reach = EVERYTHING if outcome is Outcome.TOO_LITTLE else reach
    return await ledger.write(amend_at_once, key, change, tokenizer, packing)


async def amend_at_once(db: Connection, key: str, change: Change, tokenizer: Tokenizer, packing: Packing) -> bool:
    """The same within one transaction, where nobody comes between."""
    reach = REACH
    while True:
        made = await plan(db, key, change, reach)
        segment = None if made.stretch is None else recut(made.stretch, tokenizer, packing)
        if made.stretch is not None and segment is None:
            reach = _wider(reach)
            continue
        outcome = await apply(db, made, segment)
        if outcome is not Outcome.TOO_LITTLE:
            return outcome is Outcome.CHANGED
        reach = EVERYTHING


def _wider(reach: int) -> int:
    return min(EVERYTHING, WIDER * reach)
