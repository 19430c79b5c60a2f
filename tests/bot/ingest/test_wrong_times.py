"""Rows with times that no calendar has, as an altered backup may hold them, are forgotten like all others."""

from __future__ import annotations

import pytest

from bot.ingest.documents import ConversationDocuments
from bot.ingest.sync import retention as retention_module
from bot.ingest.sync.retention import Retention
from bot.store import FileRecord
from tests.support.bot_fixture import BotFixture
from tests.support.builders import ROOF
from tests.support.fake_platform import START
from tests.support.steps import DAY, edit, run_steps, say

pytestmark = pytest.mark.usefixtures("roof")
FAR, LONG_AGO = 2**62, -(2**62)  # microseconds
FILE = FileRecord(f"{ROOF.room}:file:c1:F1", ROOF.room, "c1", "F1", "ada", START)


async def set_times(bot: BotFixture, micros: int) -> None:
    """Let the rows of the first message, of all files and of all conversations have this time."""
    for sql in (
        "UPDATE message SET time = ? WHERE id = 'm1'",
        "UPDATE file SET time = ?",
        "UPDATE conversation SET first = ?1, last = ?1",
    ):
        await bot.store._database.execute(sql, (micros,))


@pytest.mark.parametrize("micros", [FAR, LONG_AGO])
async def test_what_a_person_wrote_and_shared_is_forgotten(bot: BotFixture, micros: int) -> None:
    await run_steps(bot, [say("ada", "One."), say("bob", "Two."), say("ada", "Three.")])
    await bot.store.files.insert(FILE)
    await set_times(bot, micros)
    await bot.ingest_service.forget_person("slack", "T1", "ada")
    assert list((await bot.document_texts(ROOF)).values()) == [["Bob: Two."]]
    assert await bot.store.files.get(FILE.document) is None


@pytest.mark.parametrize("micros", [FAR, LONG_AGO])
async def test_an_edited_message_is_replaced(bot: BotFixture, micros: int) -> None:
    await run_steps(bot, [say("ada", "One.")])
    await set_times(bot, micros)
    await run_steps(bot, [edit(1, "Another one.")])
    assert list((await bot.document_texts(ROOF)).values()) == [["Ada: Another one."]]


async def test_retention_goes_on_behind_them(bot: BotFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention_module, "BATCH", 1)
    await run_steps(bot, [say("ada", "One."), say("ada", "Two.", after=DAY), say("ada", "Three.", after=9 * DAY)])
    await bot.store.files.insert(FILE)
    await set_times(bot, LONG_AGO)
    context = bot.with_settings(retention_days=5)
    await Retention(context, ConversationDocuments(context)).delete_expired(bot.platform.current_time())
    assert list((await bot.document_texts(ROOF)).values()) == [["Ada: Three."]]
    assert await bot.store.files.get(FILE.document) is None
