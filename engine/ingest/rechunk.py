"""A document that changed in one place is cut anew only around it, with the very chunks that a whole cut would make.

A packer forgets at the end of every chunk: what comes next depends on the following passages alone. So a cut that
begins where an old chunk begins, before all that the change can reach, goes on like the old one until the change; and
once it ends a chunk where an old one ended, behind the change, the old cut goes on unchanged. Both are seen, not
assumed: the first chunk of the new cut, and the one after they meet, must be the old ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.ingest.chunking import ChunkPacker
from engine.storage.ledger.content.stretch import RechunkedRegion
from engine.text.windows import strip_span

if TYPE_CHECKING:
    from engine.options import ChunkingOptions
    from engine.storage.ledger.content.stretch import ChangedRegion
    from engine.text.windows import Tokenizer


def rechunk_region(stretch: ChangedRegion, tokenizer: Tokenizer, packing: ChunkingOptions) -> RechunkedRegion | None:
    """The chunks around a change; None if the stretch is too short to know where the cuts meet again."""
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
    """A cut under way, beside the old one. `made` is the number of new chunks that were looked at."""

    def __init__(self, stretch: ChangedRegion, packer: ChunkPacker) -> None:
        self.packer = packer
        self.result: RechunkedRegion | None = None
        self._stretch = stretch
        self._checked_count = 0
        self._in_sync = stretch.is_first
        starts = ((chunk.pieces[0], place) for place, chunk in enumerate(stretch.old_chunks))
        self._starts = {(piece.passage, piece.start): place for piece, place in starts}
        self._meeting_chunk: int | None = (
            None  # the old chunk that begins where the last new one ended, behind the change
        )

    def is_done_after(self, place: int) -> bool:
        """Whether all is known after this passage was taken."""
        if len(self.packer.chunks) == self._checked_count:
            return False
        if not self.check_sync(place):
            return True
        return self.check_convergence(place)

    def check_sync(self, place: int) -> bool:
        """Whether the old cut was in the same state where this one began: its first chunks are the same."""
        if not self._in_sync:
            first = self.packer.chunks
            self._in_sync = place < self._stretch.changed.start and first == list(
                self._stretch.old_chunks[: len(first)]
            )
        return self._in_sync

    def check_convergence(self, place: int) -> bool:
        """Whether the chunks that were just made are those of the old cut, which so goes on as it was."""
        made, self._checked_count = self.packer.chunks[self._checked_count :], len(self.packer.chunks)
        at, old = self._meeting_chunk, self._stretch.old_chunks
        if at is not None and made and made == list(old[at : at + len(made)]):
            self.result = RechunkedRegion(tuple(self.packer.chunks[: -len(made)]), at)
            return True
        self._meeting_chunk = self._find_old_start(place)
        return False

    def _find_old_start(self, place: int) -> int | None:
        """The old chunk that begins where the next new one does, if nothing from there on has changed."""
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
