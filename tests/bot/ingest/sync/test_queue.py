"""Looking back at channels: again soon, or later and later, until all of one is known."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from bot.errors import PermissionDenied, PlatformError
from bot.ingest.sync.pending import FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS
from tests.support.bot_fixture import open_bot_fixture
from tests.support.fake_platform import FakePlatform

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    from bot.platform.models import Location, Message


@pytest.mark.parametrize("error", [PermissionDenied("hidden"), PlatformError("busy")])
async def test_a_channel_that_is_lastingly_hidden_is_asked_for_less_and_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: PlatformError
) -> None:
    async with open_bot_fixture(tmp_path / "home", FakePlatform()) as home:
        place = await home.join_channel("ROOF", "ada")
        await home.ingest_service.start_reconciliation("slack")
        home.platform.failing["history"] = error
        start, asked = time.monotonic(), list[float]()
        for passed in range(0, int(4 * MAX_RETRY_SECONDS), int(FIRST_RETRY_SECONDS)):
            monkeypatch.setattr(time, "monotonic", lambda now=start + passed: now)
            before = home.platform.calls.count("history")
            await home.ingest_service.run_sync()
            asked += [passed / FIRST_RETRY_SECONDS] * (home.platform.calls.count("history") - before)
        assert asked == [0, 1, 3, 7, 15, 31, 63, 123, 183]
        home.platform.failing.clear()
        await home.ingest_service.start_reconciliation("slack")
        await home.ingest_service.run_sync()
        assert place not in home.ingest_service.pending_syncs


class Meanwhile(FakePlatform):
    """Something happens while a history is asked for."""

    happens: Callable[[], Awaitable[object]] | None = None

    async def history(self, place: Location, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        happens, self.happens = self.happens, None
        if happens:
            await happens()
        async for page in super().history(place, since, before):
            yield page


async def test_a_connection_that_is_lost_while_a_channel_is_compared_has_it_compared_again(tmp_path: Path) -> None:
    platform = Meanwhile()
    async with open_bot_fixture(tmp_path / "home", platform) as home:
        place = await home.join_channel("ROOF", "ada")
        await home.post(place, "ada", "One.")
        await home.ingest_service.start_reconciliation("slack")
        platform.happens = lambda: home.ingest_service.start_reconciliation("slack")
        await home.ingest_service.run_sync()
        assert place in home.ingest_service.pending_syncs
        await home.ingest_service.run_sync()
        assert not home.ingest_service.pending_syncs


async def test_channels_are_compared_between_two_back_fills(tmp_path: Path) -> None:
    platform = Meanwhile()
    async with open_bot_fixture(tmp_path / "home", platform) as home:
        place = await home.join_channel("ROOF", "ada")
        missed = platform.add_message(place, "ada", "Missed.")
        for name in ("HALL", "YARD"):
            await home.ingest_service.start_backfill(platform.add_channel(name, "ada"), 30)
        platform.happens = lambda: home.ingest_service.start_reconciliation("slack")
        await home.ingest_service.run_sync()
        assert await home.document_texts(place) == {f"window:{missed.id}": ["Ada: Missed."]}
