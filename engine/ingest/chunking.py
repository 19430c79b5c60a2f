"""Split passages into chunks by tokens, stable under edits, and amend a document by rechunking the changed region.

Rechunking a region has the same result as rechunking the whole document. A packer keeps no state across the end of a
chunk: the next chunk depends on the following passages alone. So chunking that starts at the beginning of an old chunk,
before everything that the change can affect, gives the old chunks up to the change; and once it ends a chunk where an
old one ended, after the change, the old chunks follow unchanged. Both are checked, not assumed: the first new chunk,
and the one after the boundaries meet, must equal the old ones.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from engine.errors import DocumentTooLarge
from engine.models import Chunk, ChunkPiece
from engine.storage.ledger.records import INITIAL_REACH, WHOLE_DOCUMENT, AmendmentResult, RechunkedRegion, widen_reach
from engine.text.languages.detection import join_stem_terms
from engine.text.tokenizer import Tokenizer, TokenSpan, strip_span, token_windows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from engine.models import Passage
    from engine.options import ChunkingOptions
    from engine.runtime import Runtime
    from engine.storage.ledger.records import ChangedRegion, DocumentChange


MAX_TRIES = 5  # while others change the same document
PASSAGE_SEPARATOR = "\n"

_PREVIEW = 80


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


class ChunkTooLong(DocumentTooLarge):
    """A piece between two separators is longer than a chunk, and may not be split elsewhere."""

    hint = "Choose another separator, raise the chunk size, or allow cutting by tokens."

    def __init__(self, tokens: int, limit: int, preview: str) -> None:
        super().__init__(f"A piece of {tokens} tokens is longer than the limit of {limit}: {preview!r}")
        self.tokens = tokens
        self.limit = limit
        self.preview = preview


def build_chunks(passages: Sequence[Passage], tokenizer: Tokenizer, packing: ChunkingOptions) -> list[Chunk]:
    """The chunks of a document's passages, in order; blank passages give none.

    No chunk has more than `size` tokens, unless a single character has. A change to one passage changes the chunk that
    holds it and its neighbors up to the next boundary that both versions share; all other chunks stay the same.
    """
    packer = ChunkPacker(tokenizer, packing)
    for passage in passages:
        packer.add_passage(passage)
    packer.finish_chunk()
    return packer.chunks


def add_stems(chunks: Iterable[Chunk], known: Collection[str] = ()) -> list[Chunk]:
    """The chunks with their stem terms, which takes milliseconds each: outside of the transaction that writes them.

    `known`: texts that are stored already, and need none.
    """
    return [chunk if chunk.text in known else replace(chunk, stems=join_stem_terms(chunk.text)) for chunk in chunks]


class _Part(NamedTuple):
    """A passage, or the text between two separators of it, to be packed."""

    piece: ChunkPiece
    text: str
    tokens: int
    hash: int


class ChunkPacker:
    """Packs parts into chunks.

    Boundaries depend on content, not on position, so that they realign after an edit. Where the size forces a boundary
    (long messages: few chances for a hash of 0), it is placed at the smallest hash, not at the last part (two
    thresholds, like the two divisors of Eshghi and Tang's TTTD). For messages of 70 to 200 tokens an edit then changes
    between a third and two thirds fewer chunks.
    """

    def __init__(self, tokenizer: Tokenizer, packing: ChunkingOptions) -> None:
        self.chunks: list[Chunk] = []
        self._tokenizer = tokenizer
        self._packing = packing
        self._separator_tokens = tokenizer.count(PASSAGE_SEPARATOR)
        self._parts: list[_Part] = []
        self._lengths: list[int] = []  # tokens up to and including each part

    @property
    def pending_piece(self) -> ChunkPiece | None:
        """The first part that is in no chunk yet, where the next chunk begins; None if there is none."""
        return self._parts[0].piece if self._parts else None

    def add_passage(self, passage: Passage) -> None:
        """Add the next passage of a document."""
        for number, spans in enumerate(_split_text(passage.text, self._tokenizer, self._packing)):
            if number:
                self.finish_chunk()
            self.add_spans(passage, spans)

    def add_spans(self, passage: Passage, spans: Sequence[TokenSpan]) -> None:
        """Add the spans of a passage: a single span is packed; several are windows, and each becomes a chunk."""
        parts = [_build_part(passage, span) for span in spans]
        if len(parts) == 1:
            self._pack(parts[0])
        elif parts:
            self.finish_chunk()
            self.chunks += [Chunk(part.text, part.tokens, (part.piece,)) for part in parts]

    def finish_chunk(self) -> None:
        """End the chunk here."""
        self._emit_chunk(len(self._parts))

    def _pack(self, part: _Part) -> None:
        while self._parts and self._length_with(part) > self._packing.size:
            self._emit_chunk(self._forced_cut())
        self._append_part(part)
        if part.hash % self._packing.hash_modulo == 0 and self._lengths[-1] >= self._packing.target_size:
            self.finish_chunk()

    def _append_part(self, part: _Part) -> None:
        self._lengths.append(self._length_with(part))
        self._parts.append(part)

    def _length_with(self, part: _Part) -> int:
        return part.tokens + (self._lengths[-1] + self._separator_tokens if self._lengths else 0)

    def _forced_cut(self) -> int:
        """The number of parts that end the chunk if the next one does not fit."""
        late = [at for at, length in enumerate(self._lengths) if length >= self._packing.target_size]
        return 1 + min(late, key=lambda at: self._parts[at].hash, default=len(self._parts) - 1)

    def _emit_chunk(self, number: int) -> None:
        """Turn the first parts into a chunk; the others begin the next one."""
        if number:
            self.chunks += _join_parts(self._parts[:number], self._tokenizer, self._packing.size)
        rest, self._parts, self._lengths = self._parts[number:], [], []
        for part in rest:
            self._append_part(part)


def _build_part(passage: Passage, span: TokenSpan) -> _Part:
    text = passage.text[span.start : span.stop]
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).digest()
    return _Part(ChunkPiece(passage.key, span.start, span.stop), text, span.tokens, int.from_bytes(digest[:8]))


def _join_parts(parts: Sequence[_Part], tokenizer: Tokenizer, size: int) -> list[Chunk]:
    """Join the parts into one chunk and count its tokens: the sum of the parts' counts is only an estimate."""
    if len(parts) == 1:
        return [Chunk(parts[0].text, parts[0].tokens, (parts[0].piece,))]
    text = PASSAGE_SEPARATOR.join(part.text for part in parts)
    tokens = tokenizer.count(text)
    if tokens > size:
        return [*_join_parts(parts[:-1], tokenizer, size), *_join_parts(parts[-1:], tokenizer, size)]
    return [Chunk(text, tokens, tuple(part.piece for part in parts))]


def _split_text(text: str, tokenizer: Tokenizer, packing: ChunkingOptions) -> Iterator[list[TokenSpan]]:
    """The text between separators (all of it, if there are none), each as one span or as its windows."""
    at = 0
    for part in text.split(packing.separator) if packing.separator else [text]:
        if packing.separator_only:
            spans = _single_span(part, tokenizer, packing.size)
        else:
            spans = token_windows(part, tokenizer, packing.size, packing.overlap)
        yield [TokenSpan(at + span.start, at + span.stop, span.tokens) for span in spans]
        at += len(part) + len(packing.separator)


def _single_span(text: str, tokenizer: Tokenizer, size: int) -> list[TokenSpan]:
    start, stop = strip_span(text, 0, len(text))
    tokens = tokenizer.count(text[start:stop])
    if tokens > size:
        raise ChunkTooLong(tokens, size, text[start : min(stop, start + _PREVIEW)])
    return [TokenSpan(start, stop, tokens)] if start < stop else []
