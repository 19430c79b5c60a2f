"""Rechunk a changed document only around the change, with the same result as rechunking all of it.

A packer keeps no state across the end of a chunk: the next chunk depends on the following passages alone. So chunking
that starts at the beginning of an old chunk, before everything that the change can affect, gives the old chunks up to
the change; and once it ends a chunk where an old one ended, after the change, the old chunks follow unchanged. Both are
checked, not assumed: the first new chunk, and the one after the boundaries meet, must equal the old ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.ingest.chunking import ChunkPacker
from engine.storage.ledger.records import RechunkedRegion
from engine.text.windows import strip_span

if TYPE_CHECKING:
    from engine.options import ChunkingOptions
    from engine.storage.ledger.records import ChangedRegion
    from engine.text.windows import Tokenizer


def rechunk_region(stretch: ChangedRegion, tokenizer: Tokenizer, packing: ChunkingOptions) -> RechunkedRegion | None:
    """The chunks around a change; None if the region is too small to find where old and new boundaries meet."""
    if packing.separator and not (stretch.is_first and stretch.is_last):
        return None
    work = _RechunkState(stretch, ChunkPacker(tokenizer, packing))
    for place, passage in enumerate(stretch.passages):
        work.packer.add_passage(passage)
        if work.is_done_after(place):
            return work.result
    work.packer.finish_chunk()
    if not stretch.is_last or not work.check_sync(len(stretch.passages)):
        return None
    work.check_convergence(len(stretch.passages))
    return work.result or RechunkedRegion(tuple(work.packer.chunks), len(stretch.old_chunks))


class _RechunkState:
    """State of a rechunking next to the old chunks. `_checked_count` is the number of new chunks checked so far."""

    def __init__(self, stretch: ChangedRegion, packer: ChunkPacker) -> None:
        self.packer = packer
        self.result: RechunkedRegion | None = None
        self._stretch = stretch
        self._checked_count = 0
        self._in_sync = stretch.is_first
        starts = ((chunk.pieces[0], place) for place, chunk in enumerate(stretch.old_chunks))
        self._starts = {(piece.passage, piece.start): place for piece, place in starts}
        self._meeting_chunk: int | None = (
            None  # index of the old chunk that begins where the last new one ended, after the change
        )

    def is_done_after(self, place: int) -> bool:
        """Whether the result is known after this passage."""
        if len(self.packer.chunks) == self._checked_count:
            return False
        if not self.check_sync(place):
            return True
        return self.check_convergence(place)

    def check_sync(self, place: int) -> bool:
        """Whether the first new chunks equal the old ones, so that both began in the same state."""
        if not self._in_sync:
            first = self.packer.chunks
            self._in_sync = place < self._stretch.changed.start and first == list(
                self._stretch.old_chunks[: len(first)]
            )
        return self._in_sync

    def check_convergence(self, place: int) -> bool:
        """Whether the newest chunks equal the old ones, so that all following old chunks stay valid."""
        made, self._checked_count = self.packer.chunks[self._checked_count :], len(self.packer.chunks)
        at, old = self._meeting_chunk, self._stretch.old_chunks
        if at is not None and made and made == list(old[at : at + len(made)]):
            self.result = RechunkedRegion(tuple(self.packer.chunks[: -len(made)]), at)
            return True
        self._meeting_chunk = self._find_old_start(place)
        return False

    def _find_old_start(self, place: int) -> int | None:
        """Index of the old chunk that begins where the next new one does, if nothing after that has changed."""
        passages, waiting = self._stretch.passages, self.packer.pending_piece
        if waiting is None:
            following = next((n for n in range(place + 1, len(passages)) if passages[n].text.strip()), len(passages))
        else:
            following = next(n for n in range(place, -1, -1) if passages[n].key == waiting.passage)
        if following < self._stretch.changed.stop or following == len(passages):
            return None
        text = passages[following].text
        start = strip_span(text, 0, len(text))[0] if waiting is None else waiting.start
        return self._starts.get((passages[following].key, start))
