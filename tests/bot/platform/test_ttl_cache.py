"""Facts are kept for a while; a lookup that hangs or fails gives none."""

from __future__ import annotations

import asyncio

import pytest

from bot.errors import PlatformError
from bot.platform import ttl_cache
from bot.platform.ttl_cache import TTLCache
from tests.support.clock import ManualClock


class NumberSource:
    """Gives 1, 2, 3 …, or raises `failing`; hangs if it should."""

    def __init__(self) -> None:
        self.count = 0
        self.clock = ManualClock()
        self.failing: Exception | None = None
        self.cache: TTLCache[int] = TTLCache(10.0, self.clock)

    async def fetch(self) -> int:
        self.count += 1
        await asyncio.sleep(0)
        if self.failing:
            raise self.failing
        return self.count

    async def get(self, *key: str) -> int:
        return await self.cache.get_or_fetch(key, self.fetch)


@pytest.fixture
def source() -> NumberSource:
    return NumberSource()


@pytest.mark.parametrize(
    ("max_age", "times", "expected"),
    [(10.0, (0.0, 9.9, 10.0), [1, 1, 2]), (0.0, (0.0, 0.0), [1, 2])],
    ids=["kept for its time", "never kept"],
)
async def test_a_fact_is_kept_for_its_time(
    source: NumberSource, max_age: float, times: tuple[float, ...], expected: list[int]
) -> None:
    source.cache.max_age, found = max_age, []
    for time in times:
        source.clock.move_to(time)
        found.append(await source.get("a"))
    assert found == expected


async def test_keys_are_dropped_by_their_beginning(source: NumberSource) -> None:
    assert [await source.get(key, "x") for key in "ab"] == [1, 2]
    source.cache.invalidate(("a",))
    assert [await source.get(key, "x") for key in "ab"] == [3, 2]


@pytest.mark.parametrize(
    "error", [PlatformError("No."), TimeoutError(), ConnectionResetError(), KeyError("a bug")], ids=repr
)
async def test_any_failure_is_a_platform_error_for_all_who_wait(source: NumberSource, error: Exception) -> None:
    source.failing = error
    found = await asyncio.gather(*(source.get("a") for _ in range(3)), return_exceptions=True)
    assert [type(result) for result in found] == [PlatformError] * 3
    assert source.count == 1


async def test_a_lookup_that_hangs_is_given_up(source: NumberSource, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hang() -> int:
        await asyncio.Event().wait()
        return 0

    monkeypatch.setattr(ttl_cache, "LOOKUP_TIMEOUT", 0.01)
    with pytest.raises(PlatformError):
        await source.cache.get_or_fetch(("a",), hang)


async def test_who_stops_waiting_leaves_the_lookup_to_others(source: NumberSource) -> None:
    first, second = asyncio.create_task(source.get("a")), asyncio.create_task(source.get("a"))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == 1


async def test_expired_facts_make_room(source: NumberSource, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ttl_cache, "MAX_ENTRIES", 3)
    for number in range(20):
        source.clock.advance(20.0)
        await source.get(str(number))
    assert len(source.cache._entries) <= 3


async def test_a_fact_that_changes_with_each_lookup_is_not_known(source: NumberSource) -> None:
    async def fetch() -> int:
        source.cache.invalidate(("a",))
        return await source.fetch()

    with pytest.raises(PlatformError):
        await source.cache.get_or_fetch(("a",), fetch)
