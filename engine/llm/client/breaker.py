"""Circuit breaker: while a provider fails, one call at a time tests it, ever more rarely, and all others are held back.

Errors of one text (refused, too long, an invalid reply) show that the provider works.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.errors import (
    BadModelSettings,
    ModelError,
    ModelNotFound,
    ModelPaused,
    ModelTimeout,
    RequestRejected,
    is_outage,
)
from engine.scheduling.supervisor import backoff_seconds

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from engine.clock import Clock
    from engine.llm.config import ModelConfig

MAX_PAUSE_SECONDS = 600.0  # between two tests of a provider
FIRST_PAUSE_SECONDS = 1.0
EARLY_TEST_SECONDS = 20.0  # for the reply to a question that tests the provider before its time
TEST_WAIT_SECONDS = 5.0  # that a question waits for the outcome of a running test


@dataclass(frozen=True, slots=True)
class Admission:
    """Permission for one call. `is_test`: its outcome decides; `time_limit`: seconds that it may take, if any."""

    opened: int
    is_test: bool = False
    time_limit: float | None = None


@dataclass(slots=True)
class CircuitBreaker:
    """Guards the calls of one provider; closed while they succeed. There is no last test, however long it fails.

    A first timeout does not open it: the call may have been too much for a slow model.
    `is_fault`: whether an error opens it.
    """

    clock: Clock
    is_fault: Callable[[ModelError], bool] = is_outage
    first_pause: float = FIRST_PAUSE_SECONDS
    longest_pause: float = MAX_PAUSE_SECONDS
    error: ModelError | None = None
    failed_tests: int = 0
    _timed_out: bool = False
    _opened: int = 0  # how often it opened: a call that began before says nothing about the time since
    _due: float = 0.0
    _test: asyncio.Future[bool] | None = field(default=None, repr=False)  # whether it had an outcome

    @property
    def is_open(self) -> bool:
        """Whether the last test of the provider failed."""
        return self.error is not None

    @property
    def seconds_left(self) -> float:
        """Seconds until the provider is tested again."""
        return max(0.0, self._due - self.clock.monotonic()) if self.is_open else 0.0

    @asynccontextmanager
    async def admit(self, *, urgent: bool, is_repeated: bool = False) -> AsyncIterator[Admission]:
        """Hold the permission for one call. Raises ModelPaused, or for an urgent call the error of a running test.

        `urgent`: somebody waits, so that the call may test the provider before its time, with little time for it;
        `is_repeated`: it failed just now, and its next try is the test.
        """
        if self._test is not None and (urgent or is_repeated):
            await self._wait_for_test(self._test)
        admission = self._decide(urgent=urgent, is_repeated=is_repeated)
        try:
            yield admission
        except ModelPaused:  # of a breaker within this one
            self._end_test(admission, has_outcome=False)
            raise
        except ModelError as error:
            self._record(admission, error if self.is_fault(error) else None)
            raise
        except BaseException:
            self._end_test(admission, has_outcome=False)
            raise
        self._record(admission, None)

    async def _wait_for_test(self, test: asyncio.Future[bool]) -> None:
        """Wait for the outcome of a running test, which has none if it is cancelled. Raises its error."""
        await asyncio.wait({test}, timeout=TEST_WAIT_SECONDS)
        if test.done() and test.result() and self.error is not None:
            raise self.error.copy()  # for another caller

    def _decide(self, *, urgent: bool, is_repeated: bool) -> Admission:
        if self.error is None:
            return Admission(self._opened)
        is_due = self.seconds_left <= 0.0
        if self._test is not None or not (is_due or urgent or is_repeated):
            raise self._paused_error(self.error)
        self._test = asyncio.get_running_loop().create_future()
        return Admission(self._opened, is_test=True, time_limit=None if is_due or is_repeated else EARLY_TEST_SECONDS)

    def _paused_error(self, error: ModelError) -> ModelPaused:
        message = f"{error} Calls are held back until a test succeeds."
        return ModelPaused(message, hint=error.hint, retry_after=self.seconds_left)

    def _record(self, admission: Admission, error: ModelError | None) -> None:
        """Open or close after a call; one that began before the last opening changes nothing."""
        if admission.opened == self._opened and (admission.is_test or self.error is None):
            if error is None:
                self.error, self.failed_tests, self._timed_out = None, 0, False
            elif isinstance(error, ModelTimeout) and not (self._timed_out or self.is_open):
                self._timed_out = True
            elif admission.time_limit is None or self.error is None:
                self._open(error)
        self._end_test(admission, has_outcome=True)

    def _open(self, error: ModelError) -> None:
        self.failed_tests += 1
        self._opened += self.error is None
        self.error = error
        pause = backoff_seconds(self.failed_tests, self.first_pause, self.longest_pause)
        self._due = self.clock.monotonic() + min(max(pause, error.retry_after or 0.0), self.longest_pause)

    def _end_test(self, admission: Admission, *, has_outcome: bool) -> None:
        if admission.is_test and self._test is not None:
            self._test.set_result(has_outcome)
            self._test = None


class Breakers:
    """A breaker for each provider and key, and one for each model that a provider may not know, or not as it is set."""

    def __init__(self, clock: Clock, first_pause: float = FIRST_PAUSE_SECONDS) -> None:
        self._clock = clock
        self._first_pause = first_pause
        self._providers: dict[tuple[str, str, str], CircuitBreaker] = {}
        self._models: dict[tuple[str, str], CircuitBreaker] = {}

    def is_open(self, model: ModelConfig) -> bool:
        """Whether the last calls of a model failed."""
        return any(breaker.is_open for breaker in self._find(model))

    @asynccontextmanager
    async def admit(self, model: ModelConfig, *, urgent: bool, is_repeated: bool) -> AsyncIterator[float | None]:
        """Hold the permission for one call of a model; yields the seconds that it may take, None for the usual ones."""
        provider, name = self._find(model)
        async with (
            provider.admit(urgent=urgent, is_repeated=is_repeated) as first,
            name.admit(urgent=urgent, is_repeated=is_repeated) as second,
        ):
            limits = [options.time_limit for options in (first, second) if options.time_limit is not None]
            yield min(limits, default=None)

    def _find(self, model: ModelConfig) -> tuple[CircuitBreaker, CircuitBreaker]:
        place = model.provider, model.api_base, model.api_key
        if place not in self._providers:
            self._providers[place] = CircuitBreaker(self._clock, _is_provider_fault, self._first_pause)
        name = model.model, model.api_base
        if name not in self._models:
            self._models[name] = CircuitBreaker(self._clock, _is_model_fault, self._first_pause)
        return self._providers[place], self._models[name]


def _is_provider_fault(error: ModelError) -> bool:
    return is_outage(error) and not isinstance(error, ModelNotFound | RequestRejected)


def _is_model_fault(error: ModelError) -> bool:
    return isinstance(error, ModelNotFound | BadModelSettings)
