"""The bot's database: opened or refused, and what it holds of channels, people and workspaces."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.platform.models import Location
from bot.store import BotStore, ChannelSettings, FileRecord, MessageRecord
from bot.store.schedules.digests import Digest
from engine.errors import NewerSchema, StoreError
from tests.support.builders import ROOF, make_answer
from tests.support.clock import ManualClock
from tests.support.engine_fixture import find_files_containing
from tests.support.fake_platform import START

HALL = Location("slack", "T2", "HALL")


async def test_what_was_written_is_there_after_a_restart(tmp_path: Path) -> None:
    for _ in range(2):
        async with BotStore.open(tmp_path / "bot.db", ManualClock()) as store:
            await store.channels.upsert(ROOF, "roof", START)
    async with BotStore.open(tmp_path / "bot.db", ManualClock()) as store:
        assert await store.channels.list_joined("slack") == [ROOF]


@pytest.mark.parametrize("damage", ["a later schema", "no database"])
async def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "bot.db"
    if damage == "no database":
        path.write_text("This is no database, it is a letter. " * 100)
    else:
        async with BotStore.open(path, ManualClock()):
            pass
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError if damage == "no database" else NewerSchema):
        async with BotStore.open(path, ManualClock()):
            pass


async def test_writers_at_once_do_not_lose_each_other_s_writes(store: BotStore) -> None:
    await asyncio.gather(*(store.usage.add(("slack", "T1"), "2026-11-20", 1) for _ in range(50)))
    assert await store.usage.get_tokens("slack", "T1", "2026-11-20") == 50
    assert await store.usage.get_tokens("slack", "T1", "2026-11-21") == 0


async def test_a_cancelled_writer_leaves_nothing_half_done(store: BotStore) -> None:
    places = [Location("slack", "T1", f"C{number}") for number in range(20)]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(store.channels.upsert(place, "x", START)) for place in places]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
    await store.channels.upsert(ROOF, "roof", START)
    assert {*places[1::2], ROOF} <= set(await store.channels.list_joined("slack", "T1"))


async def test_settings_of_a_channel_are_none_until_they_are_saved(store: BotStore) -> None:
    assert await store.channel_settings.get(ROOF.room) is None
    chosen = ChannelSettings("naive", "short", "de", "all", False, True, "m/1", "managers", "files", "on")
    await store.channel_settings.save(ROOF.room, chosen)
    assert await store.channel_settings.get(ROOF.room) == chosen


async def test_channels_are_listed_by_workspace_and_keep_their_oldest_horizon(store: BotStore) -> None:
    for place, name, since in ((ROOF, "roof", START), (HALL, "hall", None), (ROOF, "top", START.replace(year=2020))):
        await store.channels.upsert(place, name, since)
    await store.channels.upsert(ROOF, "new name")
    assert await store.channels.get_horizon(ROOF.room) == START.replace(year=2020)
    assert await store.channels.get_name(ROOF.room) == "new name"
    assert await store.channels.list_joined("slack") == [HALL, ROOF]
    assert await store.channels.list_joined("slack", "T1") == [ROOF]
    assert await store.channels.list_joined("discord") == []
    await store.channels.delete(ROOF)
    assert (await store.channels.get_name(ROOF.room), await store.channels.get_name(HALL.room)) == (None, "hall")


async def test_a_person_opts_out_by_workspace_and_in_again_from_then_on(store: BotStore) -> None:
    before, after = START - timedelta(days=1), START + timedelta(days=1)

    async def is_out(*time: object, workspace: str = "T1") -> bool:
        return await store.opt_outs.is_opted_out("slack", workspace, "ada", *time)  # type: ignore[arg-type]

    await store.opt_outs.opt_in("slack", "T1", "ada", before)
    assert not await is_out(before - timedelta(days=1))
    await store.opt_outs.opt_out("slack", "T1", "ada")
    assert [await is_out(), await is_out(after), await is_out(workspace="T2")] == [True, True, False]
    for time in (START, after):  # the second one is a repetition
        await store.opt_outs.opt_in("slack", "T1", "ada", time)
        assert [await is_out(), await is_out(before), await is_out(START)] == [False, True, False]
    await store.opt_outs.opt_out("slack", "T1", "ada")
    assert await is_out(after)


async def test_deleting_a_workspace_leaves_others_and_who_opted_out(store: BotStore) -> None:
    for place in (ROOF, HALL):
        message = MessageRecord(place.room, "m1", "", "ada", START, "digest", f"{place.room}:window:m1")
        await store.channels.upsert(place, "x", START)
        await store.messages.insert([message])
        await store.files.insert(FileRecord(f"{place.room}:file", place.room, "m1", "F1", "ada", START))
        await store.answers.begin(make_answer(place.channel, location=place))
        await store.opt_outs.opt_out(place.platform, place.workspace, "bob")
    await store.delete_workspace("slack", "T1")
    assert await store.channels.list_joined("slack") == [HALL]
    assert [await store.messages.get(place.room, "m1") is None for place in (ROOF, HALL)] == [True, False]
    assert [len(await store.files.list_by_workspace("slack", name)) for name in ("T1", "T2")] == [0, 1]
    assert [await store.answers.get(place.channel) is None for place in (ROOF, HALL)] == [True, False]
    assert await store.opt_outs.is_opted_out("slack", "T1", "bob")


async def test_deleted_text_is_not_in_the_file_any_more(store: BotStore, tmp_path: Path) -> None:
    await store.answers.begin(make_answer(question="swordfish?"))
    await store.answers.delete("a1")
    await store.compact()
    assert find_files_containing(tmp_path, "swordfish") == []


async def test_the_newest_import_of_a_channel_is_remembered(store: BotStore) -> None:
    place, first = Location("slack", "T1", "ROOF"), datetime(2026, 5, 1, tzinfo=UTC)
    assert await store.channels.get_imported_until(place.room) is None
    for days in (0, 3, 2):
        await store.channels.upsert_imported(place, "roof", first + timedelta(days=days))
    assert await store.channels.get_imported_until(place.room) == first + timedelta(days=3)


async def test_failures_of_a_digest_are_counted(store: BotStore) -> None:
    place, now = Location("slack", "T1", "ROOF"), datetime(2026, 5, 1, tzinfo=UTC)
    digest = Digest(place, "ada", False, "daily 09:00 UTC", now, now)
    await store.digests.save(digest)
    await store.digests.update_progress(replace(digest, failures=2))
    assert await store.digests.get(place.room) == replace(digest, failures=2)
    await store.digests.save(digest)
    assert await store.digests.list_due(now) == [digest]


async def test_an_adapter_s_values_are_kept_by_platform(store: BotStore) -> None:
    await store.adapter_state.set("slack", "shards", "3")
    for value in ("1", "2"):
        await store.adapter_state.set("other", "shards", value)
    found = [await store.adapter_state.get(*key) for key in (("other", "shards"), ("slack", "shards"), ("slack", "x"))]
    assert found == ["2", "3", ""]
