"""While a provider fails, one call at a time tests it, ever more rarely."""

from __future__ import annotations

import asyncio

import pytest

from engine.errors import (
    InvalidApiKey,
    ModelError,
    ModelNotFound,
    ModelPaused,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
)
from engine.llm.client import breaker as breakers
from engine.llm.client.breaker import EARLY_TEST_SECONDS, Breakers, CircuitBreaker
from engine.llm.config import ModelConfig
from tests.support.clock import ManualClock

AWAY = ModelUnavailable("The model is away.")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def breaker(clock: ManualClock) -> CircuitBreaker:
    return CircuitBreaker(clock)


async def call(breaker: CircuitBreaker, error: ModelError | None = None, *, urgent: bool = False) -> float | None:
    """One call; returns its time limit."""
    async with breaker.admit(urgent=urgent) as admission:
        if error is not None:
            raise error
        return admission.time_limit


async def fail(breaker: CircuitBreaker, error: ModelError = AWAY, *, urgent: bool = False) -> None:
    with pytest.raises(type(error)):
        await call(breaker, error, urgent=urgent)


async def test_the_pauses_double_up_to_ten_minutes_without_an_end(clock: ManualClock, breaker: CircuitBreaker) -> None:
    pauses = list[float]()
    for _ in range(14):
        await fail(breaker)
        pauses.append(breaker.seconds_left)
        with pytest.raises(ModelPaused, match="The model is away"):
            await call(breaker)
        clock.advance(breaker.seconds_left)
    assert pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600, 600, 600]
    await call(breaker)
    assert not breaker.is_open


async def test_one_call_at_a_time_is_a_test(clock: ManualClock, breaker: CircuitBreaker) -> None:
    await fail(breaker)
    clock.advance(1)
    async with breaker.admit(urgent=False):
        with pytest.raises(ModelPaused):
            await call(breaker)
    await call(breaker)


async def test_many_calls_that_fail_at_once_count_as_one_failure(breaker: CircuitBreaker) -> None:
    async with breaker.admit(urgent=False):
        await fail(breaker)
    assert breaker.is_open, "what began before the failure proves nothing"
    assert breaker.failed_tests == 1


async def test_a_question_tests_at_once_with_little_time_and_makes_no_pause_longer(breaker: CircuitBreaker) -> None:
    await fail(breaker)
    await fail(breaker, urgent=True)
    assert breaker.failed_tests == 1
    assert await call(breaker, urgent=True) == EARLY_TEST_SECONDS
    assert not breaker.is_open


async def test_a_question_shares_the_outcome_of_a_running_test(
    clock: ManualClock, breaker: CircuitBreaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fail(breaker, InvalidApiKey("wrong"))
    for outcome in (AWAY, None):
        clock.advance(600)
        admitted = breaker.admit(urgent=False)
        await admitted.__aenter__()
        waiting = asyncio.create_task(call(breaker, urgent=True))
        await asyncio.sleep(0)
        if outcome:
            assert not await admitted.__aexit__(type(outcome), outcome, None)
            with pytest.raises(ModelUnavailable, match="away"):
                await waiting
        else:
            await admitted.__aexit__(None, None, None)
            assert await waiting is None
    monkeypatch.setattr(breakers, "TEST_WAIT_SECONDS", 0.0)
    await fail(breaker)
    async with breaker.admit(urgent=True):
        with pytest.raises(ModelPaused):
            await call(breaker, urgent=True)


async def test_a_test_that_is_cancelled_decides_nothing(clock: ManualClock, breaker: CircuitBreaker) -> None:
    await fail(breaker)
    clock.advance(1)
    with pytest.raises(asyncio.CancelledError):
        async with breaker.admit(urgent=False):
            raise asyncio.CancelledError
    assert breaker.is_open
    await call(breaker)


async def test_after_a_cancelled_test_one_of_those_who_waited_tests_and_the_others_are_held_back(
    clock: ManualClock, breaker: CircuitBreaker
) -> None:
    await fail(breaker, InvalidApiKey("wrong"))
    clock.advance(1)
    admitted = breaker.admit(urgent=False)
    await admitted.__aenter__()
    answered = asyncio.Event()

    async def ask() -> None:
        async with breaker.admit(urgent=True):
            await answered.wait()
            raise AWAY

    waiting = [asyncio.create_task(ask()) for _ in range(3)]
    await asyncio.sleep(0)
    assert not await admitted.__aexit__(asyncio.CancelledError, asyncio.CancelledError(), None)
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    answered.set()
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert sorted(type(result).__name__ for result in found) == ["ModelPaused", "ModelPaused", "ModelUnavailable"]


async def test_an_error_of_the_text_shows_that_the_provider_works(clock: ManualClock, breaker: CircuitBreaker) -> None:
    await fail(breaker)
    clock.advance(1)
    await fail(breaker, ModelRefused("not that"))
    assert not breaker.is_open


async def test_the_wait_that_a_provider_asks_for_counts_up_to_ten_minutes(breaker: CircuitBreaker) -> None:
    await fail(breaker, ModelUnavailable("later", retry_after=7200))
    assert breaker.seconds_left == 600


async def test_only_a_second_timeout_in_a_row_holds_calls_back(breaker: CircuitBreaker) -> None:
    for _ in range(2):
        await fail(breaker, ModelTimeout("slow"))
        assert not breaker.is_open
        await call(breaker)
    await fail(breaker, ModelTimeout("slow"))
    await fail(breaker, ModelTimeout("slow"))
    assert breaker.is_open


async def test_a_failing_provider_holds_back_its_own_models_and_an_unknown_model_only_itself(
    clock: ManualClock,
) -> None:
    known, unknown = ModelConfig("openai/a", "http://x"), ModelConfig("openai/b", "http://x")
    other = ModelConfig("openai/a", "http://y")
    guards = Breakers(clock)

    async def use(model: ModelConfig, error: ModelError) -> None:
        async with guards.admit(model, urgent=False, is_repeated=False):
            raise error

    with pytest.raises(ModelNotFound):
        await use(unknown, ModelNotFound("no"))
    assert [guards.is_open(each) for each in (known, unknown, other)] == [False, True, False]
    with pytest.raises(ModelPaused):
        await use(unknown, AWAY)
    with pytest.raises(ModelUnavailable, match=r"away\.$"):
        await use(known, AWAY)
    assert [guards.is_open(each) for each in (known, unknown, other)] == [True, True, False]
