"""Time: conversations end when they fall silent, and what is too old goes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from bot.ingest.documents import ConversationDocuments
from bot.ingest.sync.retention import TOMBSTONE_TTL, Retention
from tests.support.bot_fixture import open_bot_fixture
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.bot_fixture import BotFixture


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[BotFixture]:
    async with open_bot_fixture(tmp_path / "home") as opened:
        yield opened


async def test_a_conversation_is_open_until_it_was_quiet_for_a_quarter_of_an_hour(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    said = await home.post(roof, "ada", "One.")
    await home.ingest_service.run_due_jobs(said.time)
    assert [each.open for each in await home.list_documents(roof)] == [True]
    await home.ingest_service.run_due_jobs(said.time.replace(minute=17))
    assert [each.open for each in await home.list_documents(roof)] == [False]


async def test_a_reply_opens_a_closed_thread_again(home: BotFixture) -> None:
    roof = await home.join_channel("ROOF", "ada")
    root = await home.post(roof, "ada", "Who?")
    thread = replace(roof, thread=root.id)
    await home.post(thread, "ada", "Anyone?")
    await home.ingest_service.run_due_jobs(START.replace(hour=12))
    await home.post(thread, "ada", "Hello?", after=7200)
    assert [each.open for each in await home.list_documents(roof)] == [True]


async def test_a_deletion_of_long_ago_is_remembered_only_where_the_platform_may_still_tell_of_it(
    home: BotFixture,
) -> None:
    roof = await home.join_channel("ROOF", "ada")
    gone, forgotten, _ = [await home.post(roof, "ada", text) for text in ("One.", "Two.", "Three.")]
    await home.delete(gone)
    await home.ingest_service.forget_message(roof, forgotten.id)
    messages, ids = home.context.store.messages, [gone.id, forgotten.id]
    retention = Retention(home.context, ConversationDocuments(home.context))
    await retention.delete_expired(datetime.now(UTC) + TOMBSTONE_TTL - timedelta(minutes=1))
    assert await messages.find_tombstones(roof.room, ids) == set(ids)
    await retention.delete_expired(datetime.now(UTC) + TOMBSTONE_TTL + timedelta(minutes=1))
    assert await messages.find_tombstones(roof.room, ids) == {forgotten.id}
    await home.ingest_service.start_backfill(roof, 3650)
    await home.ingest_service.run_sync()
    assert await home.document_texts(roof) == {f"window:{gone.id}": ["Ada: Three."]}


async def test_what_is_too_old_is_forgotten(tmp_path: Path) -> None:
    async with open_bot_fixture(tmp_path / "home", retention_days=10) as home:
        roof = await home.join_channel("ROOF", "ada")
        await home.post(roof, "ada", "Old.")
        await home.post(roof, "ada", "New.", after=8 * 86400)
        await home.ingest_service.run_due_jobs(START.replace(day=30, hour=12))
        assert await home.document_texts(roof) == {"window:m2": ["Ada: New."]}
