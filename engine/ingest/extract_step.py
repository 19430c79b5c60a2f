"""Extraction of chunks in the background: several calls at once, small chunks of one space sharing a call."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import structlog

from engine.errors import (
    BadKey,
    EngineError,
    LanguageError,
    NoSuchModel,
    Refused,
    StoreError,
    TooLong,
    Unavailable,
    Unreachable,
)
from engine.ingest.extraction_batches import MOST_EXCERPTS, Batch, batches, shared_key
from engine.llm.plugin_calls import MODEL, guarded
from engine.models import Excerpt
from engine.scheduling.batch_gate import Then, Wish
from engine.scheduling.tasks import together
from engine.storage.ledger import cache, facts
from engine.storage.ledger.work import work_queue
from engine.usage import Bill

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.models import Reading
    from engine.runtime import Runtime
    from engine.scheduling.batch_gate import Haste
    from engine.storage.ledger import Ledger
    from engine.storage.ledger.facts import Unread

log = structlog.get_logger(__name__)

HOPELESS = (BadKey, NoSuchModel, Refused, TooLong)
FIRST_WAIT, LONGEST_WAIT = 5.0, 600.0
TROUBLE_WAIT = 2.0
LOOK_AGAIN = 0.25


def wait_before(tries: int) -> float:
    """Seconds until a failed chunk is tried again: doubling, up to ten minutes."""
    return float(min(FIRST_WAIT * 2**tries, LONGEST_WAIT))


@dataclass(slots=True)
class ChunkReader:
    """Reads what is unread. `running`: the calls under way by chunk; `unheard`: no model could be reached.

    `failing`: the last failure for which calls are tried again, as long as none has succeeded since.
    """

    runtime: Runtime
    haste: Haste
    wake: Callable[[], None]
    running: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    unheard: Unreachable | None = None
    failing: Unavailable | None = None
    _lingering: dict[int, float] = field(default_factory=dict)
    _same: dict[bytes, asyncio.Lock] = field(default_factory=dict)

    @property
    def ledger(self) -> Ledger:
        """The ledger that is worked on."""
        return self.runtime.ledger

    async def step(self) -> Then:
        """Start calls for what is unread, and look after those under way for a moment."""
        readers = self.runtime.options.readers
        most = 1 if self.unheard else 2 * readers  # while nobody is there to read, one asks whether that is over
        room = most - len(set(self.running.values()))
        if room > min(most - 1, readers // 2):
            await self._start(room)
        self.haste.reads(bool(self.running) and self.unheard is None)
        if not self.running:
            if self.failing and not await self.ledger.read(work_queue.unread_left):
                self.unheard = self.failing = None
            return Then.REST
        # Not for ever: what comes meanwhile is not to wait for a slow reply.
        await asyncio.wait(set(self.running.values()), timeout=LOOK_AGAIN, return_when=asyncio.FIRST_COMPLETED)
        done = [id_ for id_, task in self.running.items() if task.done()]
        for id_ in done:
            self.running.pop(id_).result()
        if done:
            self.wake()
        return Then.GO_ON

    async def _start(self, room: int) -> None:
        """Begin as many calls as there is room for."""
        shared = 0 if self.unheard else self.runtime.language.shared_tokens
        limit = room * MOST_EXCERPTS if shared else room
        found = await self.ledger.read(facts.unread, limit, time.time(), list(self.running))
        for batch in self._due(batches(found, shared))[:room]:
            task = self.runtime.supervisor.spawn("read chunks", self._read(batch.chunks))
            self.running |= dict.fromkeys((chunk.id for chunk in batch.chunks), task)

    def _due(self, found: Sequence[Batch]) -> list[Batch]:
        """The batches that wait no longer for more of their space to share a call with."""
        now, longest = time.monotonic(), 0.0 if self.haste.wanted(Wish.END) else self.runtime.options.linger
        lingering, self._lingering = self._lingering, {}
        for batch in found:
            since = lingering.get(batch.space, now)
            if now - since < batch.linger(longest):
                self._lingering[batch.space] = since
        return [batch for batch in found if batch.full or batch.space not in self._lingering]

    async def _read(self, chunks: Sequence[Unread]) -> None:
        """Read chunks in one call; those of which its reply cannot be trusted alone."""
        alone = chunks if len(chunks) == 1 else await self._read_together(chunks)
        await together(*map(self._read_alone, alone))

    async def _read_together(self, chunks: Sequence[Unread]) -> Sequence[Unread]:
        """Read chunks of one space in one call, each text once; gives those that are to be read alone."""
        bill = Bill()
        first = {(chunk.text, chunk.section): chunk for chunk in reversed(chunks)}
        asked = [chunk for chunk in first.values() if await self._remembered(chunk) is None][::-1]
        if len(asked) == 1:
            return chunks
        try:
            await self.runtime.priority.after_you()
            with guarded(MODEL):
                found = await self.runtime.language.extract_several([_excerpt(chunk) for chunk in asked], bill)
            self.unheard = self.failing = None
            trusted = [(chunk, reading) for chunk, reading in zip(asked, found, strict=True) if reading is not None]
            await self._keep_shared(trusted)
        except LanguageError as error:
            await self._fail(asked, error)
            return [chunk for chunk in chunks if chunk not in asked]
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - read alone, only the chunk that it is about fails
            log.warning("shared_extraction_failed", error=type(error).__name__)
            return chunks
        finally:
            await self._charge(bill)
        kept = {chunk.id for chunk, _ in trusted}
        return [chunk for chunk in chunks if chunk.id not in kept]

    async def _keep_shared(self, found: Sequence[tuple[Unread, Reading]]) -> None:
        await self.runtime.priority.after_you()
        for chunk, reading in found:
            key = shared_key(self._key(chunk), chunk.space)
            await self.ledger.write(facts.keep_reading, chunk.id, key, reading)

    async def _read_alone(self, chunk: Unread) -> None:
        bill, key = Bill(), self._key(chunk)
        try:
            async with self._same.setdefault(key, asyncio.Lock()):
                found = await self._remembered(chunk)
                if found is None:
                    await self.runtime.priority.after_you()
                    with guarded(MODEL):
                        found = key, await self.runtime.language.extract(_excerpt(chunk), bill)
                    self.unheard = self.failing = None
                await self.runtime.priority.after_you()
                await self.ledger.write(facts.keep_reading, chunk.id, *found)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - one chunk must not keep the others from being read
            await self._fail([chunk], error)
        finally:
            self._same.pop(key, None)
            await self._charge(bill)

    def _key(self, chunk: Unread) -> bytes:
        return self.runtime.language.reading_key(_excerpt(chunk))

    async def _remembered(self, chunk: Unread) -> tuple[bytes, Reading] | None:
        """What was read in the same words, alone or in a shared call of the same space, with the key of that."""
        alone = self._key(chunk)
        for key in (alone, shared_key(alone, chunk.space)):
            reading = await self.ledger.read(facts.reading_of, key, chunk.id)
            if reading is not None:
                return key, reading
        return None

    async def _charge(self, bill: Bill) -> None:
        if bill.items:
            await self.ledger.write(cache.add_usage, datetime.now(UTC).date().isoformat(), bill.items)

    async def _fail(self, chunks: Sequence[Unread], error: Exception) -> None:
        """Note that a call failed; each of its chunks is tried again by itself, or given up."""
        known_before, self.unheard = self.unheard, error if isinstance(error, Unreachable) else None
        self.failing = error if isinstance(error, Unavailable) else self.failing
        known = error if isinstance(error, EngineError) else EngineError(f"Reading failed: {type(error).__name__}.")
        hopeless = not isinstance(error, LanguageError) or isinstance(error, HOPELESS)
        for chunk in chunks:
            over = hopeless or (not self.unheard and chunk.tries + 1 >= self.runtime.options.attempts)
            if not (known_before and self.unheard):
                log.warning("chunk_unread", error=str(known), hint=known.hint, given_up=over, tries=chunk.tries + 1)
            retry_at = float("inf") if over else time.time() + wait_before(chunk.tries)
            await self.ledger.write(work_queue.fail, chunk.id, known, retry_at)
        if self.unheard:
            await asyncio.sleep(TROUBLE_WAIT)


def _excerpt(chunk: Unread) -> Excerpt:
    return Excerpt(chunk.text, chunk.section)
