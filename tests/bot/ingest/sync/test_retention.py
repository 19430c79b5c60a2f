"""Time: conversations end when they fall silent, and what is too old goes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from bot.ingest.documents import Shelf
from bot.ingest.sync.retention import TOLD, Retention
from tests.support.fake_platform import START
from tests.support.household import household

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.household import Household


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Household]:
    async with household(tmp_path / "home") as opened:
        yield opened


async def test_a_conversation_is_open_until_it_was_quiet_for_a_quarter_of_an_hour(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    said = await home.say(roof, "ada", "One.")
    await home.listening.tick(said.time)
    assert [each.open for each in await home.documents(roof)] == [True]
    await home.listening.tick(said.time.replace(minute=17))
    assert [each.open for each in await home.documents(roof)] == [False]


async def test_a_reply_opens_a_closed_thread_again(home: Household) -> None:
    roof = await home.joined("ROOF", "ada")
    root = await home.say(roof, "ada", "Who?")
    thread = replace(roof, thread=root.id)
    await home.say(thread, "ada", "Anyone?")
    await home.listening.tick(START.replace(hour=12))
    await home.say(thread, "ada", "Hello?", after=7200)
    assert [each.open for each in await home.documents(roof)] == [True]


async def test_a_deletion_of_long_ago_is_remembered_only_where_the_platform_may_still_tell_of_it(
    home: Household,
) -> None:
    roof = await home.joined("ROOF", "ada")
    gone, forgotten, _ = [await home.say(roof, "ada", text) for text in ("One.", "Two.", "Three.")]
    await home.delete(gone)
    await home.listening.forget_message(roof, forgotten.id)
    messages, ids = home.house.store.messages, [gone.id, forgotten.id]
    retention = Retention(home.house, Shelf(home.house))
    await retention.forget_old(datetime.now(UTC) + TOLD - timedelta(minutes=1))
    assert await messages.deleted(roof.room, ids) == set(ids)
    await retention.forget_old(datetime.now(UTC) + TOLD + timedelta(minutes=1))
    assert await messages.deleted(roof.room, ids) == {forgotten.id}
    await home.listening.backfill(roof, 3650)
    await home.listening.past()
    assert await home.texts(roof) == {f"window:{gone.id}": ["Ada: Three."]}


async def test_what_is_too_old_is_forgotten(tmp_path: Path) -> None:
    async with household(tmp_path / "home", retention_days=10) as home:
        roof = await home.joined("ROOF", "ada")
        await home.say(roof, "ada", "Old.")
        await home.say(roof, "ada", "New.", after=8 * 86400)
        await home.listening.tick(START.replace(day=30, hour=12))
        assert await home.texts(roof) == {"window:m2": ["Ada: New."]}
