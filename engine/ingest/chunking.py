"""Passages to chunks, by tokens: long passages are cut into windows, short ones packed together, stable under edits."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from engine.errors import DocumentTooLarge
from engine.models import Chunk, ChunkPiece
from engine.options import ChunkingOptions
from engine.text.windows import (
    DEFAULT_OVERLAP_TOKENS,
    DEFAULT_WINDOW_TOKENS,
    Tokenizer,
    TokenSpan,
    strip_span,
    token_windows,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engine.models import Passage

PASSAGE_SEPARATOR = "\n"

_PREVIEW = 80


class ChunkTooLong(DocumentTooLarge):
    """A piece between two separators is longer than a chunk may be, and cutting it elsewhere was forbidden."""

    hint = "Choose another separator, raise the chunk size, or allow cutting by tokens."

    def __init__(self, tokens: int, limit: int, preview: str) -> None:
        super().__init__(f"A piece of {tokens} tokens is longer than the limit of {limit}: {preview!r}")
        self.tokens = tokens
        self.limit = limit
        self.preview = preview


def build_chunks(passages: Sequence[Passage], tokenizer: Tokenizer, packing: ChunkingOptions) -> list[Chunk]:
    """The chunks of a document's passages, which come in order; blank ones make none.

    No chunk has more than `size` tokens, unless one character alone has. A change to one passage changes the chunk that
    holds it and its neighbours up to the next cut that both versions share; everything beyond stays as it was.
    """
    packer = ChunkPacker(tokenizer, packing)
    for passage in passages:
        packer.add_passage(passage)
    packer.finish_chunk()
    return packer.chunks


def split_at_separators(
    text: str,
    tokenizer: Tokenizer,
    separator: str,
    *,
    only: bool,
    size: int = DEFAULT_WINDOW_TOKENS,
    overlap: int = DEFAULT_OVERLAP_TOKENS,
) -> list[TokenSpan]:
    """The pieces between separators, stripped, blank ones left out; too long ones cut into windows.

    With `only` nothing is cut but at separators: raises ChunkTooLong for a piece of more than `size` tokens.
    """
    packing = ChunkingOptions(size=size, overlap=overlap, separator=separator, separator_only=only)
    return [span for spans in _split_text(text, tokenizer, packing) for span in spans]


class _Part(NamedTuple):
    """A passage, or what stands between two separators of it, to be packed."""

    piece: ChunkPiece
    text: str
    tokens: int
    hash: int


class ChunkPacker:
    """Gathers parts into chunks.

    Content decides where they end, not position: that is what makes the cuts find each other again after an edit. So
    where the size forces a cut (long messages: few chances for a hash of 0), the smallest hash is taken, not the last
    place (two thresholds, as Eshghi and Tang's TTTD has two divisors). Of messages of 70 to 200 tokens that spares a
    third to two thirds of the chunks which an edit would change.
    """

    def __init__(self, tokenizer: Tokenizer, packing: ChunkingOptions) -> None:
        self.chunks: list[Chunk] = []
        self._tokenizer = tokenizer
        self._packing = packing
        self._separator_tokens = tokenizer.count(PASSAGE_SEPARATOR)
        self._parts: list[_Part] = []
        self._lengths: list[int] = []  # the tokens up to and with each part

    @property
    def pending_piece(self) -> ChunkPiece | None:
        """Where the next chunk begins, as far as that is known: with the first part that is in no chunk yet."""
        return self._parts[0].piece if self._parts else None

    def add_passage(self, passage: Passage) -> None:
        """Take the next passage of a document."""
        for number, spans in enumerate(_split_text(passage.text, self._tokenizer, self._packing)):
            if number:
                self.finish_chunk()
            self.add_spans(passage, spans)

    def add_spans(self, passage: Passage, spans: Sequence[TokenSpan]) -> None:
        """One span is packed; several are the windows of a long passage, and each is a chunk of its own."""
        parts = [_build_part(passage, span) for span in spans]
        if len(parts) == 1:
            self._pack(parts[0])
        elif parts:
            self.finish_chunk()
            self.chunks += [Chunk(part.text, part.tokens, (part.piece,)) for part in parts]

    def finish_chunk(self) -> None:
        """The chunk ends here."""
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
        """How many parts end the chunk when the next does not fit."""
        late = [at for at, length in enumerate(self._lengths) if length >= self._packing.target_size]
        return 1 + min(late, key=lambda at: self._parts[at].hash, default=len(self._parts) - 1)

    def _emit_chunk(self, number: int) -> None:
        """The first parts become a chunk; the others are the beginning of the next one."""
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
    """The parts as one chunk, counted as a whole: a sum of counts is only nearly the count of the joined text."""
    if len(parts) == 1:
        return [Chunk(parts[0].text, parts[0].tokens, (parts[0].piece,))]
    text = PASSAGE_SEPARATOR.join(part.text for part in parts)
    tokens = tokenizer.count(text)
    if tokens > size:
        return [*_join_parts(parts[:-1], tokenizer, size), *_join_parts(parts[-1:], tokenizer, size)]
    return [Chunk(text, tokens, tuple(part.piece for part in parts))]


def _split_text(text: str, tokenizer: Tokenizer, packing: ChunkingOptions) -> Iterator[list[TokenSpan]]:
    """What stands between separators (all of it, if there are none), each as one span or as the windows of it."""
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
