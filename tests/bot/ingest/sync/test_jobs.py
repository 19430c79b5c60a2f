"""Upkeep: what time brings is done while the past is read, and what fails is done at the next look."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from bot.ingest.sync import jobs
from bot.platform.events import BotAdded
from engine.errors import StoreError
from tests.support.bot_fixture import open_bot_fixture
from tests.support.fake_platform import FakePlatform

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from datetime import datetime
    from pathlib import Path

    import pytest

    from bot.platform.models import Location, Message
    from tests.support.bot_fixture import BotFixture


class Endless(FakePlatform):
    """Nobody ever sees the end of a channel's history; `asked` is set once somebody waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    async def history(self, place: Location, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        if place.channel == "HALL":
            self.asked.set()
            await asyncio.Event().wait()
        async for page in super().history(place, since, before):
            yield page


@asynccontextmanager
async def working(home: BotFixture) -> AsyncIterator[None]:
    """Upkeep goes on meanwhile."""
    task = asyncio.create_task(home.ingest_service.run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_conversations_end_while_the_past_of_a_channel_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "POLL_SECONDS", 0.01)
    platform = Endless()
    async with open_bot_fixture(tmp_path / "home", platform) as home:
        roof = await home.join_channel("ROOF", "ada")
        await home.ingest_service.handle(BotAdded(platform.add_channel("HALL", "ada")))
        async with working(home), asyncio.timeout(30):
            await platform.asked.wait()
            await home.post(roof, "ada", "One.")
            assert [each.open for each in await home.list_documents(roof)] == [True]
            platform.advance(3600)
            while [each.open for each in await home.list_documents(roof)] == [True]:  # noqa: ASYNC110 - nobody is told
                await asyncio.sleep(0)


async def test_a_daily_look_that_could_not_begin_is_not_put_off_for_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_bot_fixture(tmp_path / "home") as home:
        place, rooms = await home.join_channel("ROOF", "ada"), home.context.store.channels
        known = rooms.list_joined

        async def locked(platform: str, workspace: str | None = None) -> list[Location]:
            raise StoreError("locked")

        monkeypatch.setattr(rooms, "list_joined", locked)
        await home.ingest_service.run_due_jobs()
        monkeypatch.setattr(rooms, "list_joined", known)
        await home.ingest_service.run_due_jobs()
        assert place in home.ingest_service.pending_syncs


async def test_it_ends_also_if_there_is_news_at_that_moment(tmp_path: Path) -> None:
    async with open_bot_fixture(tmp_path) as home:
        task = asyncio.create_task(home.ingest_service.run())
        await asyncio.sleep(0.1)
        home.ingest_service._membership.updated.set()
        task.cancel()
        _, left = await asyncio.wait({task}, timeout=5)
        assert not left
