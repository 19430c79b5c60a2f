"""Extract facts from chunks in the background: several calls at once, small chunks of one space share a call."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from engine.errors import (
    EngineError,
    InvalidReply,
    ModelError,
    ModelPaused,
    NothingGiven,
    StoreError,
    is_outage,
)
from engine.ingest.extraction_batches import (
    MAX_EXCERPTS,
    ExtractionBatch,
    LingeringSpaces,
    Suspects,
    build_batches,
    estimate_call,
    is_idle_chunk,
    notice_key,
    shared_extraction_key,
)
from engine.llm.base import MODEL_LABEL, guard_plugin_call
from engine.llm.offline.extraction import extract_by_rules
from engine.models import Excerpt, Extraction
from engine.scheduling.foreground import NextStep, WaitTarget
from engine.scheduling.supervisor import backoff_seconds, describe_error, gather_or_cancel
from engine.storage.ledger.records import SMALL_TALK_KEY, SpaceTurn
from engine.text.conversations.notices import NoticeMemory
from engine.usage import IndexingUsage, UsageMeter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engine.runtime import Runtime
    from engine.scheduling.foreground import BatchGate
    from engine.storage.ledger import LedgerStore
    from engine.storage.ledger.records import UnextractedChunk

log = structlog.get_logger(__name__)

FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 5.0, 600.0
# Between two calls that test a failing model; the client of a provider lets few of them through.
FIRST_TEST_SECONDS, MAX_TEST_SECONDS = 2.0, 30.0
POLL_SECONDS = 0.25
PROBE = Excerpt("The train to the airport leaves at noon.", "")  # a text that every model can read


def retry_delay(attempts: int) -> float:
    """Seconds until a chunk is retried that failed once more after `attempts` failures."""
    return backoff_seconds(attempts + 1, FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS)


@dataclass(slots=True)
class ExtractStep:
    """Extracts facts from new chunks. `running_calls`: calls in progress by chunk.

    `outage` is the error of a model that may fail for every text, until a call succeeds; a single call tests it
    meanwhile, with another text each time, and no text is given up. If the next text succeeds, the error was of the
    last one alone: its try is counted. `last_failure` is the last failure that is retried, until a call succeeds.
    `failures` counts all failed calls.
    """

    runtime: Runtime
    gate: BatchGate
    wake: Callable[[], None]
    running_calls: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    outage: ModelError | None = None
    last_failure: ModelError | None = None
    failures: int = 0
    _suspects: Suspects = field(default_factory=Suspects)
    _failed_tests: int = 0
    _next_test: float = 0.0
    _last_space: int = 0
    _lingering: LingeringSpaces = field(init=False)
    _notices: NoticeMemory = field(default_factory=NoticeMemory)
    _key_locks: dict[bytes, asyncio.Lock] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._lingering = LingeringSpaces(self.runtime.options.extraction_linger)

    @property
    def waiting_spaces(self) -> frozenset[int]:
        """The spaces with texts that wait for others to share their call."""
        return self._lingering.waiting

    @property
    def ledger(self) -> LedgerStore:
        """The ledger of the engine."""
        return self.runtime.ledger

    async def step(self) -> NextStep:
        """Start calls for new chunks, and wait a moment for those in progress."""
        concurrency = self.runtime.options.extraction_concurrency
        limit = 1 if self.outage else 2 * concurrency
        free_slots = limit - len(set(self.running_calls.values()))
        is_due = self.outage is None or self.runtime.clock.monotonic() >= self._next_test
        if is_due and free_slots > min(limit - 1, concurrency // 2):
            await self._start_calls(free_slots)
            if not self.running_calls and await self._take_queued(free_slots):
                return NextStep.CONTINUE
        self.gate.set_extracting(bool(self.running_calls) and self.outage is None)
        if not self.running_calls:
            if self.last_failure and not await self.ledger.facts.has_pending_extraction():
                await self._record_success(())
            return NextStep.IDLE
        # With a timeout: new chunks must not wait for a slow reply.
        await asyncio.wait(set(self.running_calls.values()), timeout=POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        done = [id_ for id_, task in self.running_calls.items() if task.done()]
        for id_ in done:
            self.running_calls.pop(id_).result()
        if done:
            self.wake()
        return NextStep.CONTINUE

    async def _start_calls(self, free_slots: int) -> None:
        """Start as many calls as there are free slots."""
        shared = 0 if self.outage else self.runtime.language.batch_token_limit
        least = MAX_EXCERPTS if shared else 1
        budget = self.runtime.indexing_budget
        await budget.refresh()
        turn = SpaceTurn(self.runtime.processes.id, self._last_space, budget.paused)
        found = await self._skip_small_talk(await self._list_unextracted(free_slots, turn, least))
        if not found and (suspect := self._suspects.latest) and self.outage and suspect.space not in turn.paused.spaces:
            task = self.runtime.supervisor.spawn("test model", self._probe(suspect.space))
            self.running_calls[suspect.id] = task
            return
        due = self._due_batches(build_batches(found, shared, self._suspects.alone))[:free_slots]
        if not due:
            self._last_space = found[-1].space if found else 0
            return
        self.runtime.reserve.check_room()
        self._last_space = due[-1].space
        claimed = await self.ledger.facts.claim_chunks(
            {chunk.id for batch in due for chunk in batch.chunks}, turn.process
        )
        refused = list[int]()
        for batch in due:
            if chunks := [chunk for chunk in batch.chunks if chunk.id in claimed]:
                paid = [chunk for chunk in chunks if budget.limits.counts(chunk.kind)]
                if not budget.reserve(batch.space, tokens := estimate_call(paid)):
                    refused += [chunk.id for chunk in chunks]
                    continue
                task = self.runtime.supervisor.spawn("extract chunks", self._extract(chunks, tokens))
                self.running_calls |= dict.fromkeys((chunk.id for chunk in chunks), task)
        if refused:
            await self.ledger.facts.release_chunks(refused)

    async def _take_queued(self, free_slots: int) -> bool:
        """Let queued chunks be read again, a few at a time: new texts come first."""
        budget = self.runtime.indexing_budget
        await budget.refresh()
        if self.outage is not None or await self.ledger.facts.has_pending_extraction(budget.paused):
            return False
        readings = self.ledger.readings
        if not await readings.has_queued(budget.paused):
            return False
        return await readings.take(free_slots * MAX_EXCERPTS, budget.paused) > 0

    async def _skip_small_talk(self, found: Sequence[UnextractedChunk]) -> list[UnextractedChunk]:
        """Take what states nothing as read, without a call; returns the other chunks."""
        counts = self.runtime.indexing_budget.limits.counts
        idle = {chunk.id for chunk in found if counts(chunk.kind) and is_idle_chunk(chunk)}
        if idle:
            await self.ledger.facts.save_extractions(dict.fromkeys(sorted(idle), (SMALL_TALK_KEY, Extraction((), ()))))
            self.wake()
        return await self._read_notices([chunk for chunk in found if chunk.id not in idle])

    async def _read_notices(self, found: Sequence[UnextractedChunk]) -> list[UnextractedChunk]:
        """Let rules read messages that repeat a template, without a call; returns the other chunks."""
        counts = self.runtime.indexing_budget.limits.counts
        repeated = [
            chunk
            for chunk in found
            if chunk.kind == "conversation"
            and counts(chunk.kind)
            and self._notices.is_repeated(chunk.space, chunk.id, chunk.text)
        ]
        if repeated:
            facts = await asyncio.to_thread(lambda: [extract_by_rules(_build_excerpt(chunk)) for chunk in repeated])
            keys = [notice_key(self._cache_key(chunk)) for chunk in repeated]
            ids = [chunk.id for chunk in repeated]
            await self.ledger.facts.save_extractions(dict(zip(ids, zip(keys, facts, strict=True), strict=True)))
            self.wake()
        return [chunk for chunk in found if chunk not in repeated]

    async def _list_unextracted(self, free_slots: int, turn: SpaceTurn, least: int) -> list[UnextractedChunk]:
        """Chunks for the next calls; for a test only those that were not tried, if one of them may be at fault."""
        now, running = self.runtime.clock.time(), list(self.running_calls)
        tried = self._suspects.tried if self.outage else ()
        facts, limit = self.ledger.facts, free_slots * least
        found = await facts.list_unextracted(limit, now, [*running, *tried], turn, least)
        if tried and not found and self._suspects.latest is None:
            self._suspects.begin_round()
            found = await facts.list_unextracted(limit, now, running, turn, least)
        return found

    def _due_batches(self, found: Sequence[ExtractionBatch]) -> list[ExtractionBatch]:
        """The batches that no longer wait for more chunks of their space to share the call."""
        is_awaited, has_quoted = self.gate.has_waiter(WaitTarget.EVERYTHING), self.runtime.priority.has_quoted
        return self._lingering.select_due(
            found,
            self.runtime.clock.monotonic(),
            lambda batch: is_awaited or has_quoted(chunk.id for chunk in batch.chunks),
        )

    async def _extract(self, chunks: Sequence[UnextractedChunk], reserved: int) -> None:
        """Extract chunks in one call; those with an unreliable reply get their own call.

        `reserved`: tokens of the budget that were kept for it.
        """
        try:
            alone = chunks if len(chunks) == 1 else await self._extract_shared(chunks)
            await gather_or_cancel(*map(self._extract_alone, alone))
        except EngineError:
            with suppress(EngineError):  # this process may claim them again
                await self.ledger.facts.release_chunks([chunk.id for chunk in chunks])
            raise
        finally:
            self.runtime.indexing_budget.release(chunks[0].space, reserved)

    async def _extract_shared(self, chunks: Sequence[UnextractedChunk]) -> Sequence[UnextractedChunk]:
        """Extract chunks of one space in one call, each text once; returns those that need their own call."""
        meter = UsageMeter()
        first = {(chunk.text, chunk.section): chunk for chunk in reversed(chunks)}
        new_chunks = [chunk for chunk in first.values() if await self._load_cached(chunk) is None][::-1]
        if len(new_chunks) == 1:
            return chunks
        try:
            await self.runtime.priority.yield_to_foreground()
            with guard_plugin_call(MODEL_LABEL):
                found = await self.runtime.language.extract_batch(
                    [_build_excerpt(chunk) for chunk in new_chunks], meter
                )
            if any(extraction is not None for extraction in found):
                await self._record_success(new_chunks)
            trusted = [
                (chunk, extraction)
                for chunk, extraction in zip(new_chunks, found, strict=True)
                if extraction is not None
            ]
            await self._save(
                {
                    chunk.id: (shared_extraction_key(self._cache_key(chunk), chunk.space), extraction)
                    for chunk, extraction in trusted
                },
                meter,
                chunks[0].space,
            )
        except ModelError as error:
            await self._record_failure(new_chunks, error)
            return [chunk for chunk in chunks if chunk not in new_chunks]
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - extracted alone, only the chunk at fault fails
            log.warning("ingest.shared_extraction_failed", error=type(error).__name__)
            return chunks
        finally:
            await self._record_usage(meter, chunks[0].space)
        kept = {chunk.id for chunk, _ in trusted}
        return [chunk for chunk in chunks if chunk.id not in kept]

    async def _save(self, found: Mapping[int, tuple[bytes, Extraction]], meter: UsageMeter, space: int) -> None:
        """Save extractions and what they cost, which share a commit."""
        await self.runtime.priority.yield_to_foreground()
        await gather_or_cancel(self.ledger.facts.save_extractions(found), self._record_usage(meter, space))

    async def _extract_alone(self, chunk: UnextractedChunk) -> None:
        meter, key = UsageMeter(), self._cache_key(chunk)
        try:
            async with self._key_locks.setdefault(key, asyncio.Lock()):
                found = await self._load_cached(chunk)
                if found is None:
                    await self.runtime.priority.yield_to_foreground()
                    with guard_plugin_call(MODEL_LABEL):
                        found = key, await self.runtime.language.extract(_build_excerpt(chunk), meter)
                    await self._record_success([chunk])
                await self._save({chunk.id: found}, meter, chunk.space)
                if found[1].missing:
                    log.warning("ingest.chunk_incomplete", error=found[1].missing)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - one chunk must not block the others
            await self._record_failure([chunk], error)
        finally:
            self._key_locks.pop(key, None)
            await self._record_usage(meter, chunk.space)

    async def _probe(self, space: int) -> None:
        """Test the model with a text that is not stored, since it failed for all others."""
        meter = UsageMeter()
        try:
            await self.runtime.priority.yield_to_foreground()
            with guard_plugin_call(MODEL_LABEL):
                await self.runtime.language.extract(PROBE, meter)
            await self._record_success(())
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - plug-ins may raise any exception
            await self._record_failed_probe(error)
        finally:
            await self._record_usage(meter, space)

    async def _record_failed_probe(self, error: Exception) -> None:
        self.failures += 1
        if isinstance(error, ModelError) and not is_outage(error):
            await self._record_success(())
            return
        self._record_outage(error if isinstance(error, ModelError) else self.outage)
        if not isinstance(error, ModelPaused):  # it was not sent
            self._suspects.begin_round()

    def _cache_key(self, chunk: UnextractedChunk) -> bytes:
        return self.runtime.language.extraction_key(_build_excerpt(chunk))

    async def _load_cached(self, chunk: UnextractedChunk) -> tuple[bytes, Extraction] | None:
        """The extraction of the same text, alone or from a shared call of the same space, with its cache key."""
        alone = self._cache_key(chunk)
        return await self.ledger.facts.find_extraction((alone, shared_extraction_key(alone, chunk.space)), chunk.id)

    async def _record_usage(self, meter: UsageMeter, space: int) -> None:
        """Record what calls cost, once; after a failure again, although the database may have stored it."""
        if spent := meter.take():
            usage = IndexingUsage(spent, {space: 1})
            day = self.runtime.clock.now().date().isoformat()
            try:
                await self.ledger.cache.add_indexing_usage(day, usage)
            except StoreError:
                meter.put_back(spent)
                raise

    async def _record_success(self, chunks: Sequence[UnextractedChunk]) -> None:
        """Record that the model replied to these texts, and count the try of another one that is now at fault."""
        self.outage = self.last_failure = None
        self._failed_tests = 0
        if (blamed := self._suspects.record_success(chunks)) is not None:
            chunk, error = blamed
            await self._record_try(chunk, InvalidReply(str(error), hint=error.hint))

    async def _record_failure(self, chunks: Sequence[UnextractedChunk], error: Exception) -> None:
        """Record a failed call; its chunks are retried, or given up if they are at fault."""
        self.failures += 1
        is_known = self.outage is not None and is_outage(error)
        if is_outage(error):
            self._record_outage(error)
        elif isinstance(error, ModelError):  # the model works
            await self._record_success(chunks)
        if isinstance(error, InvalidReply) and not isinstance(error, NothingGiven):
            self.last_failure = error
        else:
            self.last_failure = self.outage or self.last_failure
        reported = (
            error if isinstance(error, EngineError) else EngineError(f"Extraction failed: {type(error).__name__}.")
        )
        for chunk in chunks:
            await self._record_try(chunk, reported, is_known=is_known)
        if is_outage(error) and not isinstance(error, ModelPaused):
            self._suspects.record_failure(chunks, error)

    async def _record_try(self, chunk: UnextractedChunk, error: EngineError, *, is_known: bool = False) -> None:
        """Retry a chunk later, or give it up if it is at fault. `is_known`: its error is in the log."""
        given_up = not is_outage(error) and (
            not isinstance(error, InvalidReply)
            or isinstance(error, NothingGiven)  # it was tried again already
            or chunk.attempts + 1 >= self.runtime.options.max_attempts
        )
        if not is_known:
            log.warning(
                "ingest.chunk_failed",
                error=describe_error(error),  # the ledger alone has the first words of a reply
                hint=error.hint,
                is_final=given_up,
                attempts=chunk.attempts + 1,
            )
        retry_at = float("inf") if given_up else self.runtime.clock.time() + retry_delay(chunk.attempts)
        await self.ledger.facts.record_extraction_failure(chunk.id, error, retry_at)

    def _record_outage(self, error: ModelError | None) -> None:
        """Test the model again later; the first error stays while calls are held back because of it."""
        if self.outage is None or not isinstance(error, ModelPaused):
            self.outage = error
        if not isinstance(error, ModelPaused):
            self._failed_tests += 1
        wait = backoff_seconds(max(self._failed_tests, 1), FIRST_TEST_SECONDS, MAX_TEST_SECONDS)
        self._next_test = self.runtime.clock.monotonic() + wait


def _build_excerpt(chunk: UnextractedChunk) -> Excerpt:
    return Excerpt(chunk.text, chunk.section, chunk.kind == "conversation")
