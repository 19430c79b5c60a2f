from __future__ import annotations

import pytest

from engine.scheduling.feature_breaker import LONGEST_PAUSE_SECONDS, FeatureBreaker
from tests.support.clock import ManualClock


def test_a_refused_feature_is_tried_again_ever_more_rarely_and_never_given_up() -> None:
    breaker, pauses = FeatureBreaker(clock := ManualClock()), list[float]()
    for _ in range(9):
        assert breaker.is_closed
        breaker.record_refusal()
        since = clock.monotonic()
        while not breaker.is_closed:
            clock.advance(60)
        pauses.append(clock.monotonic() - since)
    assert pauses == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]
    breaker.record_success()
    breaker.record_refusal()
    clock.advance(60)
    assert breaker.is_closed


def test_single_refusals_may_be_tolerated() -> None:
    breaker = FeatureBreaker(clock := ManualClock(), threshold=3)
    for _ in range(2):
        breaker.record_refusal()
        breaker.record_refusal()
        assert breaker.is_closed
        breaker.record_success()
    for _ in range(3):
        breaker.record_refusal()
    assert not breaker.is_closed
    clock.advance(60)
    breaker.record_refusal()
    clock.advance(60)
    assert not breaker.is_closed, "one refusal at the next try is enough"


@pytest.mark.parametrize("threshold", [1, 3])
def test_long_after_the_last_refusal_another_one_counts_as_the_first(threshold: int) -> None:
    breaker = FeatureBreaker(clock := ManualClock(), threshold)
    for _ in range(threshold - 1):
        breaker.record_refusal()
        clock.advance(LONGEST_PAUSE_SECONDS + 1)
    assert breaker.is_closed, "single ones that are far apart"
    for _ in range(3):
        for _ in range(threshold):
            breaker.record_refusal()
        assert breaker.seconds_left == 60
        clock.advance(60 + LONGEST_PAUSE_SECONDS + 1)
