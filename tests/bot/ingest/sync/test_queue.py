"""Looking back at channels: again soon, or later and later, until all of one is known."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from bot.errors import PlatformError, Withheld
from bot.ingest.sync.pending import AGAIN, LONGEST
from tests.support.fake_platform import FakePlatform
from tests.support.household import household

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    from bot.platform.models import Message, Place


@pytest.mark.parametrize("error", [Withheld("hidden"), PlatformError("busy")])
async def test_a_channel_that_is_lastingly_hidden_is_asked_for_less_and_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: PlatformError
) -> None:
    async with household(tmp_path / "home", FakePlatform()) as home:
        place = await home.joined("ROOF", "ada")
        await home.listening.catch_up("slack")
        home.platform.failing["history"] = error
        start, asked = time.monotonic(), list[float]()
        for passed in range(0, int(4 * LONGEST), int(AGAIN)):
            monkeypatch.setattr(time, "monotonic", lambda now=start + passed: now)
            before = home.platform.calls.count("history")
            await home.listening.past()
            asked += [passed / AGAIN] * (home.platform.calls.count("history") - before)
        assert asked == [0, 1, 3, 7, 15, 31, 63, 123, 183]
        home.platform.failing.clear()
        await home.listening.catch_up("slack")
        await home.listening.past()
        assert place not in home.listening.owed


class Meanwhile(FakePlatform):
    """Something happens while a history is asked for."""

    happens: Callable[[], Awaitable[object]] | None = None

    async def history(self, place: Place, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        happens, self.happens = self.happens, None
        if happens:
            await happens()
        async for page in super().history(place, since, before):
            yield page


async def test_a_connection_that_is_lost_while_a_channel_is_compared_has_it_compared_again(tmp_path: Path) -> None:
    platform = Meanwhile()
    async with household(tmp_path / "home", platform) as home:
        place = await home.joined("ROOF", "ada")
        await home.say(place, "ada", "One.")
        await home.listening.catch_up("slack")
        platform.happens = lambda: home.listening.catch_up("slack")
        await home.listening.past()
        assert place in home.listening.owed
        await home.listening.past()
        assert not home.listening.owed


async def test_channels_are_compared_between_two_back_fills(tmp_path: Path) -> None:
    platform = Meanwhile()
    async with household(tmp_path / "home", platform) as home:
        place = await home.joined("ROOF", "ada")
        missed = platform.say(place, "ada", "Missed.")
        for name in ("HALL", "YARD"):
            await home.listening.backfill(platform.open(name, "ada"), 30)
        platform.happens = lambda: home.listening.catch_up("slack")
        await home.listening.past()
        assert await home.texts(place) == {f"window:{missed.id}": ["Ada: Missed."]}
