"""Files in the store: those that are owed are known by the messages that they came with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.store import BotStore, FileRecord, MessageRecord
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from pathlib import Path

ROOM = "slack:T1:ROOF"
FILE = FileRecord(f"{ROOM}:file:m1:F1", ROOM, "m1", "F1", "ada", START)


async def test_only_files_that_came_with_known_messages_and_are_not_taken_in_are_owed(tmp_path: Path) -> None:
    async with BotStore.open(tmp_path / "bot.db") as store:
        await store.messages.insert([MessageRecord(ROOM, "m1", "", "ada", START, "digest")])
        second = replace(FILE, document=f"{ROOM}:file:m1:F2", upload_id="F2")
        stated = replace(FILE, document="stated", message_id="", upload_id="")
        for each in (FILE, second, stated, replace(FILE, document="commanded", message_id="c1")):
            await store.files.insert(each)
        assert await store.files.list_pending(ROOM, 9) == [FILE, second]
        assert await store.files.list_pending(ROOM, 1) == [FILE]
        await store.files.record_applied(FILE.document)
        assert await store.files.list_pending(ROOM, 9) == [second]
        assert await store.files.list_pending("slack:T1:HALL", 9) == []
