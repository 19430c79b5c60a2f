"""Decide which chunks share an extraction call and how long they wait, and which texts the model fails at. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from engine.errors import PROVIDER_ERRORS
from engine.options import EXTRACTION_PROMPT_TOKENS
from engine.text.conversations.small_talk import is_small_talk_chunk

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from engine.errors import ModelError
    from engine.storage.ledger.records import UnextractedChunk


MAX_EXCERPTS = 32
FILE_LINGER_SECONDS = 1.0
FORGET_SECONDS = 600.0  # after the longest wait: until then a space that has no turn keeps its place
FULL_SHARE = 0.75  # share of the token limit from which a batch counts as full


@dataclass(frozen=True, slots=True)
class ExtractionBatch:
    """Chunks of one space, the oldest first; `is_full`: no further chunk would fit."""

    chunks: tuple[UnextractedChunk, ...]
    is_full: bool

    @property
    def space(self) -> int:
        """The space of its chunks."""
        return self.chunks[0].space

    def linger_seconds(self, longest: float) -> float:
        """Seconds to wait for more chunks to share the call; files wait less, since a user may wait for them."""
        if self.is_full:
            return 0.0
        return (
            longest if all(chunk.kind == "conversation" for chunk in self.chunks) else min(longest, FILE_LINGER_SECONDS)
        )


@dataclass(slots=True)
class LingeringSpaces:
    """The spaces with chunks that wait for others to share their call, and since when (monotonic seconds)."""

    longest: float
    _since: dict[int, float] = field(default_factory=dict)

    @property
    def waiting(self) -> frozenset[int]:
        """The spaces of which a batch waits for more text to be read with it."""
        return frozenset(self._since)

    def select_due(
        self, found: Sequence[ExtractionBatch], now: float, is_urgent: Callable[[ExtractionBatch], bool]
    ) -> list[ExtractionBatch]:
        """The batches that wait no longer; a space that has none among them keeps its beginning."""
        horizon = self.longest + FORGET_SECONDS
        since = {space: each for space, each in self._since.items() if now - each < horizon}
        since |= {batch.space: since.get(batch.space, now) for batch in found}
        lingering = {
            batch.space
            for batch in found
            if now - since[batch.space] < batch.linger_seconds(self.longest) and not is_urgent(batch)
        }
        self._since = {
            space: each for space, each in since.items() if space in lingering or all(x.space != space for x in found)
        }
        return [batch for batch in found if batch.is_full or batch.space not in lingering]


def build_batches(
    unread: Iterable[UnextractedChunk], shared_tokens: int, alone: Collection[int] = ()
) -> list[ExtractionBatch]:
    """Group chunks by call, in the order of their oldest ones; one that has failed, or is in `alone`, gets its own."""
    batches: list[list[UnextractedChunk]] = []
    open_batches: dict[int, list[UnextractedChunk]] = {}
    for chunk in unread:
        batch = open_batches.get(chunk.space)
        if chunk.attempts or chunk.id in alone or chunk.tokens > shared_tokens:
            batches.append([chunk])
        elif batch is None or _tokens(batch) + chunk.tokens > shared_tokens or len(batch) == MAX_EXCERPTS:
            open_batches[chunk.space] = [chunk]
            batches.append(open_batches[chunk.space])
        else:
            batch.append(chunk)
    return [ExtractionBatch(tuple(row), is_full=_is_full(row, open_batches, shared_tokens)) for row in batches]


def shared_extraction_key(reading_key: bytes, space: int) -> bytes:
    """Cache key of an extraction from a shared call: valid in its space only, since the call saw other chunks."""
    return sha256(b"shared in %d " % space + reading_key).digest()


def notice_key(reading_key: bytes) -> bytes:
    """Key of what rules read of a chunk that repeats a template."""
    return sha256(b"notice " + reading_key).digest()


def is_idle_chunk(chunk: UnextractedChunk) -> bool:
    """Whether a chunk costs no call: it is a conversation in which nothing is stated."""
    return chunk.kind == "conversation" and is_small_talk_chunk(chunk.text)


def estimate_call(chunks: Collection[UnextractedChunk]) -> int:
    """About the tokens of an extraction call and its reply; 0 without chunks."""
    return EXTRACTION_PROMPT_TOKENS + 2 * _tokens(chunks) if chunks else 0


def _is_full(
    batch: list[UnextractedChunk], open_batches: dict[int, list[UnextractedChunk]], shared_tokens: int
) -> bool:
    return (
        open_batches.get(batch[0].space) is not batch
        or _tokens(batch) >= FULL_SHARE * shared_tokens
        or len(batch) == MAX_EXCERPTS
    )


def _tokens(batch: Iterable[UnextractedChunk]) -> int:
    return sum(chunk.tokens for chunk in batch)


@dataclass(slots=True)
class Suspects:
    """The texts of calls that failed as in an outage. If the call of another text succeeds next, the text is at fault.

    `tried`: the chunks with which the model was tested in vain, so that the next test takes another one; `alone`:
    chunks of a shared call that failed because of one of them.
    """

    tried: set[int] = field(default_factory=set)
    alone: set[int] = field(default_factory=set)
    _last: tuple[Sequence[UnextractedChunk], ModelError] | None = None

    def record_failure(self, chunks: Sequence[UnextractedChunk], error: ModelError) -> None:
        """Record that a call failed as in an outage; only a timeout or an error of the server may be due to a text."""
        self.tried.update(chunk.id for chunk in chunks)
        self._last = None if isinstance(error, PROVIDER_ERRORS) else (chunks, error)

    def record_success(self, chunks: Sequence[UnextractedChunk]) -> tuple[UnextractedChunk, ModelError] | None:
        """Record that the model replied to the texts of a call; returns the one at fault for its last error."""
        self.tried.clear()
        self.alone.difference_update(chunk.id for chunk in chunks)
        if self._last is None:
            return None
        (failed, error), self._last, texts = self._last, None, {chunk.text for chunk in chunks}
        blamed = [chunk for chunk in failed if chunk.text not in texts]
        if len(failed) == 1:
            return (blamed[0], error) if blamed else None
        self.alone.update(chunk.id for chunk in blamed)
        return None

    @property
    def latest(self) -> UnextractedChunk | None:
        """A text of the last call that failed, if a text may be at fault, until each was tried once more."""
        return self._last[0][0] if self._last and self.tried else None

    def begin_round(self) -> None:
        """Test with the same texts again, since there are no others."""
        self.tried.clear()
