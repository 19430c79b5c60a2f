"""Amend a document: read the region around the change, rechunk it off the event loop, then write it atomically.

Rechunking a region has the same result as rechunking the whole document. A packer keeps no state across the end of a
chunk: the next chunk depends on the following passages alone. So chunking that starts at the beginning of an old chunk,
before everything that the change can affect, gives the old chunks up to the change; and once it ends a chunk where an
old one ended, after the change, the old chunks follow unchanged. Both are checked, not assumed: the first new chunk,
and the one after the boundaries meet, must equal the old ones.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.ingest.chunking import ChunkPacker, add_stems
from engine.storage.ledger.records import INITIAL_REACH, WHOLE_DOCUMENT, AmendmentResult, RechunkedRegion, widen_reach
from engine.text.windows import strip_span

if TYPE_CHECKING:
    from engine.options import ChunkingOptions
    from engine.runtime import Runtime
    from engine.storage.ledger.records import ChangedRegion, DocumentChange
    from engine.text.windows import Tokenizer

MAX_TRIES = 5  # while others change the same document


def rechunk_region(region: ChangedRegion, tokenizer: Tokenizer, chunking: ChunkingOptions) -> RechunkedRegion | None:
    """The chunks around a change; None if the region is too small to find where old and new boundaries meet."""
    if chunking.separator and not (region.is_first and region.is_last):
        return None
    work = _RechunkState(region, ChunkPacker(tokenizer, chunking))
    for position, passage in enumerate(region.passages):
        work.packer.add_passage(passage)
        if work.is_done_after(position):
            return work.result
    work.packer.finish_chunk()
    if not region.is_last or not work.check_sync(len(region.passages)):
        return None
    work.check_convergence(len(region.passages))
    return work.result or RechunkedRegion(tuple(work.packer.chunks), len(region.old_chunks))


def _rechunk_with_stems(
    region: ChangedRegion, tokenizer: Tokenizer, chunking: ChunkingOptions
) -> RechunkedRegion | None:
    found = rechunk_region(region, tokenizer, chunking)
    if found is None:
        return None
    known = {chunk.text for chunk in region.old_chunks}
    return replace(found, chunks=tuple(add_stems(found.chunks, known)))


class _RechunkState:
    """State of a rechunking next to the old chunks. `_checked_count` is the number of new chunks checked so far."""

    def __init__(self, region: ChangedRegion, packer: ChunkPacker) -> None:
        self.packer = packer
        self.result: RechunkedRegion | None = None
        self._region = region
        self._checked_count = 0
        self._in_sync = region.is_first
        starts = ((chunk.pieces[0], position) for position, chunk in enumerate(region.old_chunks))
        self._starts = {(piece.passage, piece.start): position for piece, position in starts}
        self._meeting_chunk: int | None = (
            None  # index of the old chunk that begins where the last new one ended, after the change
        )

    def is_done_after(self, position: int) -> bool:
        """Whether the result is known after this passage."""
        if len(self.packer.chunks) == self._checked_count:
            return False
        if not self.check_sync(position):
            return True
        return self.check_convergence(position)

    def check_sync(self, position: int) -> bool:
        """Whether the first new chunks equal the old ones, so that both began in the same state."""
        if not self._in_sync:
            first = self.packer.chunks
            self._in_sync = position < self._region.changed.start and first == list(
                self._region.old_chunks[: len(first)]
            )
        return self._in_sync

    def check_convergence(self, position: int) -> bool:
        """Whether the newest chunks equal the old ones, so that all following old chunks stay valid."""
        new_chunks, self._checked_count = self.packer.chunks[self._checked_count :], len(self.packer.chunks)
        at, old = self._meeting_chunk, self._region.old_chunks
        if at is not None and new_chunks and new_chunks == list(old[at : at + len(new_chunks)]):
            self.result = RechunkedRegion(tuple(self.packer.chunks[: -len(new_chunks)]), at)
            return True
        self._meeting_chunk = self._find_old_start(position)
        return False

    def _find_old_start(self, position: int) -> int | None:
        """Index of the old chunk that begins where the next new one does, if nothing after that has changed."""
        passages, pending = self._region.passages, self.packer.pending_piece
        if pending is None:
            following = next((n for n in range(position + 1, len(passages)) if passages[n].text.strip()), len(passages))
        else:
            following = next(n for n in range(position, -1, -1) if passages[n].key == pending.passage)
        if following < self._region.changed.stop or following == len(passages):
            return None
        text = passages[following].text
        start = strip_span(text, 0, len(text))[0] if pending is None else pending.start
        return self._starts.get((passages[following].key, start))


async def amend_document(runtime: Runtime, key: str, change: DocumentChange) -> bool:
    """Apply the change; returns whether anything is different. Raises NotFound if the document does not exist."""
    ledger, reach = runtime.ledger, INITIAL_REACH
    tokenizer, chunking = runtime.tokenizer, runtime.options.chunking
    for _ in range(MAX_TRIES):
        plan = await ledger.amendments.plan(key, change, reach)
        segment = None
        if plan.region is not None:
            segment = await asyncio.to_thread(_rechunk_with_stems, plan.region, tokenizer, chunking)
            if segment is None:
                reach = widen_reach(reach)
                continue
        result = await ledger.amendments.apply(plan, segment)
        if result in {AmendmentResult.CHANGED, AmendmentResult.UNCHANGED}:
            return result is AmendmentResult.CHANGED
        reach = WHOLE_DOCUMENT if result is AmendmentResult.RANGE_TOO_SMALL else reach
    return await ledger.amendments.amend(key, change, lambda region: rechunk_region(region, tokenizer, chunking))
