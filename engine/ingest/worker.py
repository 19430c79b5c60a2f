"""Background worker: embeds and extracts new chunks and runs the projector until every document is indexed."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from engine.errors import CorruptProjection, EngineError, ModelError, StoreError
from engine.ingest.embed_step import EmbedStep
from engine.ingest.extract_step import ExtractStep
from engine.scheduling.foreground import BatchGate, NextStep, WaitTarget
from engine.scheduling.supervisor import (
    backoff_seconds,
    cancel_tasks,
    child_task,
    current_task,
    describe_error,
    is_task_exit,
)
from engine.usage import PausedTexts

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractContextManager

    from engine.projection.duplicate_finder import DuplicateFinder
    from engine.projection.projector import Projector
    from engine.runtime import Runtime
    from engine.storage.ledger import LedgerStore

Result = TypeVar("Result")

ERROR_WAIT_SECONDS = 2.0
MAX_MODEL_WAIT_SECONDS = 30.0  # while a model fails; the client of its provider lets few calls through
RETRY_GIVEN_UP_SECONDS = 86_400.0  # until what was given up for a reason that may pass is tried again
MIN_COOLDOWN_SECONDS = 1.0
STARTUP_GRACE_SECONDS = (
    0.3  # seconds after the start in which a question has priority: the program may have been started for it
)
COMPARE_STEP = "compare names"
WORK_TOPIC = "work"
# Seconds between the starts of two batches while new work arrives: single items cost several times as much.
BATCH_INTERVAL_SECONDS = {"embed": 1.0, "project": 2.0}


@dataclass(slots=True)
class IngestWorker:
    """Background worker of an engine."""

    runtime: Runtime
    projector: Projector
    duplicate_finder: DuplicateFinder
    _step_errors: dict[str, EngineError] = field(default_factory=dict)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _wake_events: dict[str, asyncio.Event] = field(default_factory=dict)
    _idle_condition: asyncio.Condition = field(default_factory=asyncio.Condition)
    _gate: BatchGate = field(default_factory=BatchGate)
    corrupt_projections: asyncio.Queue[CorruptProjection] = field(default_factory=asyncio.Queue)
    _embed_step: EmbedStep = field(init=False)
    _extract_step: ExtractStep = field(init=False)

    def __post_init__(self) -> None:
        self._embed_step = EmbedStep(self.runtime)
        self._extract_step = ExtractStep(self.runtime, self._gate, self.wake)
        self.runtime.processes.subscribe(WORK_TOPIC, self._wake_steps)

    def start(self) -> None:
        """Start, or resume the work of the last run."""
        steps: dict[str, Callable[[], Awaitable[NextStep]]] = {
            "embed": self._embed,
            "extract": self._extract,
            "project": self._project,
            "people": self._check_people,
        }
        if self.runtime.options.suggest_duplicates:
            steps[COMPARE_STEP] = self._compare_names
        self._wake_events = {name: asyncio.Event() for name in steps}
        run = self.runtime.supervisor.run
        self._tasks = [
            run(name, partial(self._run_step, name, step, self._wake_events[name])) for name, step in steps.items()
        ]
        self._tasks.append(run("end cooldowns", self._end_cooldowns))

    async def stop(self) -> None:
        """Stop at once; unfinished work resumes at the next start."""
        await cancel_tasks(*self._tasks, *self._extract_step.running_calls.values())
        self._tasks.clear()
        self._extract_step.running_calls.clear()

    @property
    def step_error(self) -> EngineError | None:
        """The error that stops indexing at the moment; documents are indexed without a comparison of their names."""
        return next((error for name, error in self._step_errors.items() if name != COMPARE_STEP), None)

    @property
    def indexing_error(self) -> EngineError | None:
        """The error that stops the worker, or that of a failing model, while it lasts; the work is retried."""
        return self.step_error or self._extract_step.last_failure

    @property
    def extraction_failures(self) -> int:
        """Model calls for extraction that failed since the start."""
        return self._extract_step.failures

    def block(self, error: EngineError) -> None:
        """Record why this worker is never started; it is raised to those who wait for pending work."""
        self._step_errors["write"] = error

    def clear_errors(self) -> None:
        """Forget recorded errors after their cause was removed."""
        self._step_errors.clear()
        self.wake()

    def wake(self) -> None:
        """Signal new work to all processes."""
        self.runtime.processes.notify(WORK_TOPIC)

    async def wake_after(self, write: Awaitable[Result]) -> Result:
        """Await a write to the ledger, and wake all processes to process its changes; returns what it returned."""
        result = await write
        self.wake()
        return result

    async def wake_if_changed(self, write: Awaitable[bool]) -> bool:
        """Wake as `wake_after` if the write changed anything: each look of a step for work reads the ledger."""
        changed = await write
        if changed:
            self.wake()
        return changed

    def _wake_steps(self) -> None:
        for wake_event in self._wake_events.values():
            wake_event.set()

    async def wait_until_indexed(self) -> None:
        """Return once every accepted document is indexed or failed; raises the error that stops the worker."""
        with self._gate.register_waiter(WaitTarget.EVERYTHING):
            self.wake()
            async with self._idle_condition:  # held while checking, so that no step becomes idle unnoticed
                while not await self._is_done():
                    await self._wait_until_idle()

    def expedite(self) -> AbstractContextManager[None]:
        """Context manager: process existing stale keys without delay, since a caller waits for them."""
        return self._gate.register_waiter(WaitTarget.PRESENT)

    async def wait_for_progress(self) -> None:
        """Return when a step becomes idle, or after half a second; raises the error that stops the worker."""
        async with self._idle_condition:
            await self._wait_until_idle()

    async def _wait_until_idle(self) -> None:
        if self.step_error is not None:
            raise self.step_error
        with suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await self._idle_condition.wait()

    async def _is_done(self) -> bool:
        return not self._extract_step.running_calls and await self._is_idle(skip_quiet=True)

    async def _is_idle(self, *, skip_quiet: bool, waiting: frozenset[int] = frozenset()) -> bool:
        """Whether no work is left that the budget for indexing allows; `waiting`: spaces whose texts do not count."""
        budget = self.runtime.indexing_budget
        await budget.refresh()
        paused = PausedTexts(waiting | budget.paused.spaces) if waiting else budget.paused
        return await self.ledger.work.is_idle(skip_quiet=skip_quiet, paused=paused)

    @property
    def ledger(self) -> LedgerStore:
        """The ledger of the engine."""
        return self.runtime.ledger

    async def _run_step(self, name: str, step: Callable[[], Awaitable[NextStep]], wake_event: asyncio.Event) -> None:
        """Repeat a step while it has work, at its pace, then wait for new work; errors delay it."""
        await self._gate.wait_for_more(STARTUP_GRACE_SECONDS)
        while True:
            wake_event.clear()
            await self.runtime.priority.yield_to_foreground()
            since = self.runtime.clock.monotonic()
            try:
                next_step = await step()
            except (StoreError, ModelError) as error:
                if isinstance(error, CorruptProjection) and isinstance(self._step_errors.get(name), CorruptProjection):
                    self.corrupt_projections.put_nowait(error)
                self._step_errors[name], next_step = error, NextStep.IDLE
                failures = self.runtime.supervisor.record_failure(name, error)
                longest = MAX_MODEL_WAIT_SECONDS if isinstance(error, ModelError) else ERROR_WAIT_SECONDS
                await asyncio.sleep(backoff_seconds(failures, ERROR_WAIT_SECONDS, longest))
            except BaseException as error:  # the supervisor restarts this
                if is_task_exit(error, current_task()):
                    raise
                self._step_errors[name] = EngineError(f"The indexing step “{name}” failed: {describe_error(error)}.")
                raise
            else:
                proved = name != "project" or self.projector.can_deliver
                if proved and self._step_errors.pop(name, None) is not None:
                    self.runtime.supervisor.record_success(name)
            if next_step is NextStep.IDLE:
                await self._wait_for_work(wake_event)
            elif next_step is NextStep.GATHER:
                spent = self.runtime.clock.monotonic() - since
                await self._gate.wait_for_more(BATCH_INTERVAL_SECONDS[name] - spent)

    async def _wait_for_work(self, wake_event: asyncio.Event) -> None:
        async with self._idle_condition:
            self._idle_condition.notify_all()
        with suppress(TimeoutError):
            # Not wait_for: up to Python 3.11 it loses a cancellation that arrives together with the event.
            async with asyncio.timeout(1.0):
                await wake_event.wait()

    async def _embed(self) -> NextStep:
        if (next_step := await self._embed_step.step()) is not NextStep.IDLE:
            self.wake()
        return next_step

    async def _extract(self) -> NextStep:
        return await self._extract_step.step()

    # Project stale keys. Hot keys wait for the end of their cooldown, unless a caller waits for everything.

    async def _project(self) -> NextStep:
        if (next_step := await self.projector.step()) is not NextStep.IDLE:
            self.wake()
            return next_step
        paused = self.runtime.indexing_budget.paused
        if self._gate.has_waiter(WaitTarget.EVERYTHING) and await self.ledger.work.has_only_held_keys(paused):
            await self.projector.end_cooldown()
            return await self.projector.step()
        return NextStep.IDLE

    async def _check_people(self) -> NextStep:
        """Drop people from stored facts; once all is read, read again what was lost by texts that are gone."""
        removals = self.ledger.removed_people
        if not await removals.has_checks():
            return NextStep.IDLE
        changed = await removals.drop_next()
        if not changed and not await self.ledger.facts.has_pending_extraction(self.runtime.indexing_budget.paused):
            changed = await removals.restore_lost()
        if changed:
            self.wake()
        return NextStep.CONTINUE if changed else NextStep.IDLE

    async def _compare_names(self) -> NextStep:
        """Compare new names once nothing else is left to do; other work that comes meanwhile ends the comparison."""
        if not await self._is_idle(skip_quiet=False, waiting=self._extract_step.waiting_spaces):
            return NextStep.IDLE
        async with (
            child_task(self.duplicate_finder.compare_batch()) as comparing,
            child_task(self._wake_events[COMPARE_STEP].wait()) as woken,
        ):
            await asyncio.wait({comparing, woken}, return_when=asyncio.FIRST_COMPLETED)
            return NextStep.CONTINUE if comparing.done() and comparing.result() else NextStep.IDLE

    async def _end_cooldowns(self) -> None:
        """End cooldowns, and retry each day what was given up, in one of all processes."""
        clock = self.runtime.clock
        async with self.runtime.processes.lease("end cooldowns"):
            retried_at = clock.monotonic()
            while True:
                await asyncio.sleep(max(self.runtime.options.summary_cooldown, MIN_COOLDOWN_SECONDS))
                await self.projector.end_cooldown()
                if clock.monotonic() - retried_at >= RETRY_GIVEN_UP_SECONDS:
                    await self.ledger.work.retry_given_up(permanent=False)
                    retried_at = clock.monotonic()
                self.runtime.supervisor.record_success("end cooldowns")
                self.wake()
