"""The bot's own file: opened, upgraded, purged, and what it tells of channels, people and tokens."""

from __future__ import annotations

import asyncio
import sqlite3
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.platform.models import Location
from bot.store import BotStore, ChannelSettings, FileRecord, MessageRecord, StoredAnswer
from engine.errors import NewerSchema, StoreError
from tests.support.engine_fixture import find_files_containing
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ROOF, HALL = Location("slack", "T1", "ROOF"), Location("slack", "T2", "HALL")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[BotStore]:
    async with BotStore.open(tmp_path / "bot.db") as opened:
        yield opened


async def test_what_was_written_is_there_after_a_restart(tmp_path: Path) -> None:
    for _ in range(2):
        async with BotStore.open(tmp_path / "bot.db") as store:
            await store.channels.upsert(ROOF, "roof", START)
    async with BotStore.open(tmp_path / "bot.db") as store:
        assert await store.channels.list_joined("slack") == [ROOF]


async def test_a_file_of_a_later_version_is_refused_in_words(tmp_path: Path) -> None:
    async with BotStore.open(tmp_path / "bot.db"):
        pass
    with sqlite3.connect(tmp_path / "bot.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(NewerSchema, match="schema 99"):
        async with BotStore.open(tmp_path / "bot.db"):
            pass


async def test_a_damaged_file_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "bot.db").write_text("This is no database, it is a letter. " * 100)
    with pytest.raises(StoreError):
        async with BotStore.open(tmp_path / "bot.db"):
            pass


async def test_writers_at_once_do_not_hinder_each_other(store: BotStore) -> None:
    await asyncio.gather(*(store.usage.add_tokens("slack", "T1", "2026-11-20", 1) for _ in range(50)))
    assert await store.usage.get_tokens("slack", "T1", "2026-11-20") == 50
    assert await store.usage.get_tokens("slack", "T1", "2026-11-21") == 0


async def test_a_writer_that_is_cancelled_leaves_nothing_half_done(store: BotStore) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(store.channels.upsert(Location("slack", "T1", f"C{n}"), "x", START)) for n in range(20)
        ]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
    await store.channels.upsert(ROOF, "roof", START)
    known = await store.channels.list_joined("slack", "T1")
    assert {f"C{n}" for n in range(1, 20, 2)} <= {each.channel for each in known}


async def test_settings_of_a_channel_are_none_until_they_are_saved(store: BotStore) -> None:
    assert await store.channel_settings.get("slack:T1:ROOF") is None
    chosen = ChannelSettings("naive", "short", "de", "all", ingest=False)
    await store.channel_settings.save("slack:T1:ROOF", chosen)
    assert await store.channel_settings.get("slack:T1:ROOF") == chosen


async def test_channels_are_known_by_workspace(store: BotStore) -> None:
    await store.channels.upsert(ROOF, "roof")
    await store.channels.upsert(HALL, "hall")
    assert await store.channels.list_joined("slack") == [HALL, ROOF]
    assert await store.channels.list_joined("slack", "T1") == [ROOF]
    assert await store.channels.list_joined("discord") == []
    await store.channels.delete(ROOF)
    assert (await store.channels.get_name(ROOF.room), await store.channels.get_name(HALL.room)) == (None, "hall")


async def test_a_channel_that_is_asked_for_further_back_remembers_that(store: BotStore) -> None:
    await store.channels.upsert(ROOF, "roof", START)
    await store.channels.upsert(ROOF, "new name", START.replace(year=2020))
    await store.channels.upsert(ROOF, "new name")
    assert await store.channels.get_horizon(ROOF.room) == START.replace(year=2020)
    assert await store.channels.get_name(ROOF.room) == "new name"


async def test_people_opt_out_by_workspace_and_in_again(store: BotStore) -> None:
    await store.opt_outs.opt_out("slack", "T1", "ada")
    assert await store.opt_outs.is_opted_out("slack", "T1", "ada")
    assert not await store.opt_outs.is_opted_out("slack", "T2", "ada")
    await store.opt_outs.opt_in("slack", "T1", "ada", START)
    assert not await store.opt_outs.is_opted_out("slack", "T1", "ada")


async def test_what_was_written_before_opting_in_again_stays_out(store: BotStore) -> None:
    people, before, after = store.opt_outs, START - timedelta(days=1), START + timedelta(days=1)
    await people.opt_in("slack", "T1", "ada", before)
    assert not await people.is_opted_out("slack", "T1", "ada", before - timedelta(days=1))
    await people.opt_out("slack", "T1", "ada")
    assert await people.is_opted_out("slack", "T1", "ada", after)
    for time in (START, after):  # the second one is a repetition
        await people.opt_in("slack", "T1", "ada", time)
        assert await people.is_opted_out("slack", "T1", "ada", before)
        assert not await people.is_opted_out("slack", "T1", "ada", START)
    await people.opt_out("slack", "T1", "ada")
    assert await people.is_opted_out("slack", "T1", "ada", after)


async def test_a_purge_leaves_other_workspaces_and_who_opted_out(store: BotStore) -> None:
    for place in (ROOF, HALL):
        await store.channels.upsert(place, "x", START)
        await store.messages.insert(
            [MessageRecord(place.room, "m1", "", "ada", START, "digest", f"{place.room}:window:m1")]
        )
        await store.files.insert(FileRecord(f"{place.room}:file", place.room, "m1", "F1", "ada", START))
        await store.answers.begin(StoredAnswer(place.channel, place, "ada", "Who?", START))
        await store.opt_outs.opt_out(place.platform, place.workspace, "bob")
    await store.delete_workspace("slack", "T1")
    assert await store.channels.list_joined("slack") == [HALL]
    assert [await store.messages.get(place.room, "m1") is None for place in (ROOF, HALL)] == [True, False]
    assert [len(await store.files.list_by_workspace("slack", name)) for name in ("T1", "T2")] == [0, 1]
    assert [await store.answers.get(place.channel) is None for place in (ROOF, HALL)] == [True, False]
    assert await store.opt_outs.is_opted_out("slack", "T1", "bob")


async def test_what_was_removed_is_not_in_the_file_any_more(store: BotStore, tmp_path: Path) -> None:
    await store.answers.begin(StoredAnswer("a1", ROOF, "ada", "swordfish?", START))
    await store.answers.delete("a1")
    await store.compact()
    assert find_files_containing(tmp_path, "swordfish") == []
