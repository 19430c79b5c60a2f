"""Backups of a PostgreSQL database, and backups that move between it and a data directory."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import pytest

from bot.capabilities.maintenance import archive
from bot.store import AnswerResult, BotStore, Expert, VerifiedAnswer, copy_store, postgres
from bot.store.event_queue import NewEvent
from engine import Engine, EngineOptions
from engine.clock import SYSTEM_CLOCK
from engine.errors import CorruptFile, DatabaseInUse, StoreError
from engine.storage.ledger.postgres.ledger import PostgresLedger
from engine.storage.postgres import portable
from tests.bot.capabilities.maintenance.test_archive import contents, entry, live_through, packed
from tests.support.builders import ROOF, make_answer
from tests.support.engine_fixture import HERE, canonical_export, doc, is_clean
from tests.support.fake_embedder import HashEmbedder
from tests.support.fake_platform import START
from tests.support.kills import KILLED, NEVER, run_until_killed
from tests.support.toy_language import ToyLanguage


@asynccontextmanager
async def open_place(home: Path, database: str = "") -> AsyncIterator[tuple[Engine, BotStore]]:
    """An engine and a bot's store in a folder, or in a database."""
    options = EngineOptions(database=database)
    async with (
        Engine.open(home, language=ToyLanguage(), embedder=HashEmbedder(), options=options) as engine,
        BotStore.open(database or home / archive.BOT_FILE, SYSTEM_CLOCK, engine.processes.id) as store,
    ):
        yield engine, store


async def fill(engine: Engine, store: BotStore) -> None:
    await live_through(engine, store)
    await store.event_queue.enqueue(NewEvent("Message", '{"text": "ß \\u0001"}'), ["a", "b"], 1.5)
    await store.event_queue.finish(1)
    await store.event_queue.enqueue(NewEvent("Message", "{}", "slack:T1", "roof"), ["c"], 2.25)
    await store.answers.begin(make_answer("a2"))
    await store.answers.finish("a2", AnswerResult("She.", documents=frozenset({"b"})))
    verified = VerifiedAnswer("v1", ROOF, "m1", "Who?", "Sie – ß.", "ada", "", "bob", START, keys=frozenset({"b"}))
    await store.verified_answers.save(verified)
    await store.experts.add(Expert(ROOF, "ada", "roofing"))
    await store.experts.begin_request("a2", Expert(ROOF, "ada", "roofing"), "bob", 1.5)


async def state(engine: Engine, store: BotStore, copy: Path) -> tuple[Sequence[str], str]:
    """The canonical export and the rows of the bot's tables."""
    await engine.wait_until_indexed()
    rows = await copy_store(engine.database or engine.data_dir.path / archive.BOT_FILE, copy, SYSTEM_CLOCK)
    assert await store.event_queue.count_waiting() == 1
    return await canonical_export(engine), rows


@pytest.mark.long
async def test_a_backup_moves_to_a_database_and_back(tmp_path: Path, postgres_url: str) -> None:
    async with open_place(tmp_path / "files") as (engine, store):
        await fill(engine, store)
        before = await state(engine, store, tmp_path / "1")
        await archive.create_backup(engine, tmp_path / "first")
    await archive.restore_into_database(
        tmp_path / "first", tmp_path / "home", EngineOptions(database=postgres_url), SYSTEM_CLOCK
    )
    async with open_place(tmp_path / "home", postgres_url) as (engine, store):
        assert await state(engine, store, tmp_path / "2") == before
        assert await is_clean(engine)
        await archive.create_backup(engine, tmp_path / "second")
        await engine.documents.add(doc("later", "Ada wrote to Dora."))
        await engine.wait_until_indexed()
        assert await store.event_queue.enqueue(NewEvent("Message", "{}"), ["d"], 3.0)
        await engine._ledger.check_integrity()
    archive.restore_backup(tmp_path / "second", tmp_path / "again")
    async with open_place(tmp_path / "again") as (engine, store):
        assert await state(engine, store, tmp_path / "3") == before
        assert await is_clean(engine)


@pytest.mark.long
async def test_a_backup_replaces_what_a_database_holds_only_by_force(tmp_path: Path, postgres_url: str) -> None:
    options = EngineOptions(database=postgres_url)
    async with open_place(tmp_path / "home", postgres_url) as (engine, store):
        await fill(engine, store)
        before = await state(engine, store, tmp_path / "1")
        await archive.create_backup(engine, tmp_path / "backup")
        with pytest.raises(StoreError):  # its data directory is in use
            await archive.restore_into_database(
                tmp_path / "backup", tmp_path / "home", options, SYSTEM_CLOCK, force=True
            )
        with pytest.raises(DatabaseInUse):
            await archive.restore_into_database(
                tmp_path / "backup", tmp_path / "other", options, SYSTEM_CLOCK, force=True
            )
        await engine.documents.forget("a")
        await store.delete_workspace("slack", "T1")
    (tmp_path / "home" / archive.FINGERPRINTS).write_text("a file that is ingested")
    with pytest.raises(StoreError, match="already contains") as caught:
        await archive.restore_into_database(tmp_path / "backup", tmp_path / "home", options, SYSTEM_CLOCK)
    assert "--force" in caught.value.hint
    await archive.restore_into_database(tmp_path / "backup", tmp_path / "home", options, SYSTEM_CLOCK, force=True)
    assert not (tmp_path / "home" / archive.FINGERPRINTS).exists()
    async with open_place(tmp_path / "home", postgres_url) as (engine, store):
        assert await state(engine, store, tmp_path / "2") == before
        assert await is_clean(engine)


@pytest.mark.long
def test_a_kill_in_a_restore_leaves_the_old_rows_of_a_database_or_the_new(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = EngineOptions(database=postgres_url)
    restoring = archive.restore_into_database(tmp_path / "new", tmp_path / "home", options, SYSTEM_CLOCK, force=True)

    async def prepare(home: Path, database: str, name: str) -> None:
        async with open_place(home, database) as (engine, store):
            await engine.documents.add(doc(name, "The ferry sails at nine."))
            await store.opt_outs.opt_out("slack", "T1", name)
            if not database:
                await archive.create_backup(engine, tmp_path / name)

    async def find() -> tuple[list[str], list[bool]]:
        for attempt in range(50):
            with suppress(DatabaseInUse):  # the server has not noticed the kill yet
                async with open_place(tmp_path / "home", postgres_url) as (engine, store):
                    keys = [document.key for document in await engine.documents.list(HERE)]
                    return keys, [await store.opt_outs.is_opted_out("slack", "T1", name) for name in ("old", "new")]
            await asyncio.sleep(0.1 * (attempt < 49))
        raise AssertionError("the database stays in use")

    def die(*_: object, **__: object) -> None:
        os._exit(KILLED)

    asyncio.run(prepare(tmp_path / "files", "", "new"))
    asyncio.run(prepare(tmp_path / "home", postgres_url, "old"))
    old, new = (["old"], [True, False]), (["new"], [False, True])
    for place, name, expected in (
        (archive, "remove_tree", old),
        (portable, "load_tables", old),
        (postgres, "load_store", old),
        (PostgresLedger, "close", new),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, die)
            assert run_until_killed(lambda: asyncio.run(restoring), NEVER)
        assert asyncio.run(find()) == expected
    restoring.close()


@pytest.mark.long
async def test_rows_of_a_bot_alone_are_not_overwritten(tmp_path: Path, postgres_url: str) -> None:
    async with open_place(tmp_path / "files") as (engine, store):
        await fill(engine, store)
        await archive.create_backup(engine, tmp_path / "backup")
    async with BotStore.open(postgres_url, SYSTEM_CLOCK) as store:
        await store.opt_outs.opt_out("slack", "T1", "U9")
    with pytest.raises(StoreError, match="data of a bot"):
        await archive.restore_into_database(
            tmp_path / "backup", tmp_path / "home", EngineOptions(database=postgres_url), SYSTEM_CLOCK
        )
    async with open_place(tmp_path / "home", postgres_url) as (engine, store):
        assert await canonical_export(engine) == []
        assert await store.opt_outs.is_opted_out("slack", "T1", "U9")


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("file", "statement"),
    [
        ("ledger.db", "PRAGMA foreign_keys = OFF; DELETE FROM space"),
        pytest.param("ledger.db", "UPDATE document SET space = 99", marks=pytest.mark.long),
        pytest.param("ledger.db", "UPDATE passage SET text = 'a' || char(0)", marks=pytest.mark.long),
        ("ledger.db", "DROP TABLE alias"),
        pytest.param("bot.db", "UPDATE answer_message SET answer = 'nobody'", marks=pytest.mark.long),
        ("bot.db", "ALTER TABLE opt_out DROP COLUMN ended_at"),
    ],
)
async def test_rows_that_do_not_fit_leave_the_database_as_it_is(
    tmp_path: Path, postgres_url: str, file: str, statement: str
) -> None:
    options = EngineOptions(database=postgres_url)
    async with open_place(tmp_path / "home", postgres_url) as (engine, store):
        await fill(engine, store)
        before = await state(engine, store, tmp_path / "1")
        await archive.create_backup(engine, tmp_path / "backup")
    held = contents(tmp_path / "backup")
    (tmp_path / "x.db").write_bytes(held[file])
    with closing(sqlite3.connect(tmp_path / "x.db")) as database:
        database.executescript(statement)
    held[file] = (tmp_path / "x.db").read_bytes()
    packed(tmp_path / "odd", *(entry(*each) for each in held.items()))
    with pytest.raises(CorruptFile):
        await archive.restore_into_database(tmp_path / "odd", tmp_path / "home", options, SYSTEM_CLOCK, force=True)
    async with open_place(tmp_path / "home", postgres_url) as (engine, store):
        assert await state(engine, store, tmp_path / "2") == before
