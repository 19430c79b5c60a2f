"""Facts are believed for a while; a lookup that hangs or fails is no fact."""

from __future__ import annotations

import asyncio

import pytest

from bot.errors import PlatformError
from bot.platform import ttl_cache
from bot.platform.ttl_cache import TTLCache


class Source:
    """Gives 1, 2, 3 …, or what it is told to raise."""

    def __init__(self) -> None:
        self.count = 0
        self.now = 0.0
        self.failing: Exception | None = None
        self.beliefs: TTLCache[int] = TTLCache(10.0, lambda: self.now)

    async def look(self) -> int:
        self.count += 1
        await asyncio.sleep(0)
        if self.failing:
            raise self.failing
        return self.count

    async def get(self, *key: str) -> int:
        return await self.beliefs.get_or_fetch(key, self.look)


@pytest.fixture
def source() -> Source:
    return Source()


async def test_a_fact_is_believed_and_then_looked_up_again(source: Source) -> None:
    assert [await source.get("a"), await source.get("a")] == [1, 1]
    source.now = 10.0
    assert await source.get("a") == 2


async def test_without_an_age_nothing_is_believed(source: Source) -> None:
    source.beliefs.max_age = 0.0
    assert [await source.get("a"), await source.get("a")] == [1, 2]


async def test_keys_are_dropped_by_their_beginning(source: Source) -> None:
    await source.get("a", "x")
    await source.get("b", "x")
    source.beliefs.invalidate(("a",))
    assert [await source.get("a", "x"), await source.get("b", "x")] == [3, 2]


@pytest.mark.parametrize("error", [TimeoutError(), ConnectionResetError(), KeyError("a bug")])
async def test_whatever_keeps_a_fact_from_being_known_is_an_error_of_the_platform(
    source: Source, error: Exception
) -> None:
    source.failing = error
    with pytest.raises(PlatformError):
        await source.get("a")


async def test_all_who_wait_are_told_of_a_failure(source: Source) -> None:
    source.failing = PlatformError("No.")
    told = await asyncio.gather(*(source.get("a") for _ in range(3)), return_exceptions=True)
    assert [type(each) for each in told] == [PlatformError] * 3
    assert source.count == 1


async def test_a_lookup_that_hangs_is_given_up(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ttl_cache, "LOOKUP_TIMEOUT", 0.01)
    with pytest.raises(PlatformError):
        await source.beliefs.get_or_fetch(("a",), hang)


async def hang() -> int:
    await asyncio.Event().wait()
    return 0


async def test_one_who_stops_waiting_leaves_the_lookup_to_others(source: Source) -> None:
    first, second = asyncio.create_task(source.get("a")), asyncio.create_task(source.get("a"))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == 1


async def test_what_is_not_believed_any_more_makes_room(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ttl_cache, "MAX_ENTRIES", 3)
    for number in range(20):
        source.now += 20.0
        await source.get(str(number))
    assert len(source.beliefs._entries) <= 3


async def test_what_changes_all_the_time_is_not_known(source: Source) -> None:
    async def look() -> int:
        source.beliefs.invalidate(("a",))
        return await source.look()

    with pytest.raises(PlatformError):
        await source.beliefs.get_or_fetch(("a",), look)
