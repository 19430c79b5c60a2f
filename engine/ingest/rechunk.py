"""A document that changed in one place is cut anew only around it, with the very chunks that a whole cut would make.

A packer forgets at the end of every chunk: what comes next depends on the following passages alone. So a cut that
begins where an old chunk begins, before all that the change can reach, goes on like the old one until the change; and
once it ends a chunk where an old one ended, behind the change, the old cut goes on unchanged. Both are seen, not
assumed: the first chunk of the new cut, and the one after they meet, must be the old ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.ingest.chunking import Packer
from engine.storage.ledger.content.stretch import Segment
from engine.text.windows import stripped

if TYPE_CHECKING:
    from engine.options import Packing
    from engine.storage.ledger.content.stretch import Stretch
    from engine.text.windows import Tokenizer


def recut(stretch: Stretch, tokenizer: Tokenizer, packing: Packing) -> Segment | None:
    """The chunks around a change; None if the stretch is too short to know where the cuts meet again."""
    if packing.separator and not (stretch.begins and stretch.ends):
        return None
    work = _Work(stretch, Packer(tokenizer, packing))
    for place, passage in enumerate(stretch.passages):
        work.packer.add(passage)
        if work.after(place):
            return work.segment
    work.packer.close()
    if not stretch.ends or not work.sound(len(stretch.passages)):
        return None
    work.meets(len(stretch.passages))
    return work.segment or Segment(tuple(work.packer.chunks), len(stretch.old))


class _Work:
    """A cut under way, beside the old one. `made` is the number of new chunks that were looked at."""

    def __init__(self, stretch: Stretch, packer: Packer) -> None:
        self.packer = packer
        self.segment: Segment | None = None
        self._stretch = stretch
        self._made = 0
        self._begun = stretch.begins
        starts = ((chunk.pieces[0], place) for place, chunk in enumerate(stretch.old))
        self._starts = {(piece.passage, piece.start): place for piece, place in starts}
        self._meeting: int | None = None  # the old chunk that begins where the last new one ended, behind the change

    def after(self, place: int) -> bool:
        """Whether all is known after this passage was taken."""
        if len(self.packer.chunks) == self._made:
            return False
        if not self.sound(place):
            return True
        return self.meets(place)

    def sound(self, place: int) -> bool:
        """Whether the old cut was in the same state where this one began: its first chunks are the same."""
        if not self._begun:
            first = self.packer.chunks
            self._begun = place < self._stretch.changed.start and first == list(self._stretch.old[: len(first)])
        return self._begun

    def meets(self, place: int) -> bool:
        """Whether the chunks that were just made are those of the old cut, which so goes on as it was."""
        made, self._made = self.packer.chunks[self._made :], len(self.packer.chunks)
        at, old = self._meeting, self._stretch.old
        if at is not None and made and made == list(old[at : at + len(made)]):
            self.segment = Segment(tuple(self.packer.chunks[: -len(made)]), at)
            return True
        self._meeting = self._old_start(place)
        return False

    def _old_start(self, place: int) -> int | None:
        """The old chunk that begins where the next new one does, if nothing from there on has changed."""
        passages, waiting = self._stretch.passages, self.packer.waiting
        if waiting is None:
            following = next((n for n in range(place + 1, len(passages)) if passages[n].text.strip()), len(passages))
        else:
            following = next(n for n in range(place, -1, -1) if passages[n].key == waiting.passage)
        if following < self._stretch.changed.stop or following == len(passages):
            return None
        text = passages[following].text
        start = stripped(text, 0, len(text))[0] if waiting is None else waiting.start
        return self._starts.get((passages[following].key, start))
