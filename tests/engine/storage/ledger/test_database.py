from __future__ import annotations

import asyncio
import sqlite3
from contextlib import AsyncExitStack, closing
from typing import TYPE_CHECKING

import pytest

from engine.errors import DiskError, EarlySchema, StoreError
from engine.storage.ledger import Ledger
from engine.storage.ledger.work import work_queue
from engine.storage.sqlite import database as sqlite_database
from engine.storage.sqlite import wal
from tests.support.engine_fixture import find_files_containing

if TYPE_CHECKING:
    from pathlib import Path

    from engine.storage.sqlite.connection import Connection


async def fail_after_writing(db: Connection) -> None:
    await work_queue.set_setting(db, "half", "written")
    raise ValueError("on purpose")


async def test_of_writes_that_are_committed_together_a_failing_one_fails_alone(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "ledger.db")
    outcomes = await asyncio.gather(
        ledger.write(work_queue.set_setting, "a", 1),
        ledger.write(fail_after_writing),
        ledger.write(work_queue.set_setting, "b", 2),
        return_exceptions=True,
    )
    assert [type(each) for each in outcomes] == [type(None), ValueError, type(None)]
    kept = [await ledger.read(work_queue.get_setting, key) for key in ("a", "b", "half")]
    assert kept == ["1", "2", ""]
    await ledger.close()


async def test_writes_that_wait_together_are_one_transaction(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "ledger.db")
    began: list[str] = []
    await ledger._writer.set_trace_callback(lambda sql: began.append(sql) if sql.startswith("BEGIN") else None)
    await asyncio.gather(*(ledger.write(work_queue.set_setting, f"k{n}", n) for n in range(50)))
    assert len(began) <= 2
    await ledger.close()


async def test_a_write_is_on_the_disk_when_it_returns(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "ledger.db")
    await ledger.write(work_queue.set_setting, "kept", "yes")
    other = sqlite3.connect(tmp_path / "ledger.db")
    assert other.execute("SELECT value FROM meta WHERE key = 'kept'").fetchall() == [("yes",)]
    other.close()
    await ledger.close()


async def test_a_reader_sees_one_snapshot_while_others_write(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "ledger.db")
    await ledger.write(work_queue.set_setting, "n", 1)
    async with ledger.read_connection() as db:
        assert await work_queue.get_setting(db, "n") == "1"
        await ledger.write(work_queue.set_setting, "n", 2)
        assert await work_queue.get_setting(db, "n") == "1"
    assert await ledger.read(work_queue.get_setting, "n") == "2"
    await ledger.close()


async def test_a_cancelled_reader_gives_its_connection_back(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "ledger.db")
    for _ in range(2 * Ledger.reader_count):
        reading = asyncio.create_task(ledger.read(work_queue.get_setting, "n"))
        await asyncio.sleep(0)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    assert await ledger.read(work_queue.get_setting, "n") == ""
    await ledger.close()


async def test_a_cancelled_write_harms_no_other(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "ledger.db")
    first = asyncio.create_task(ledger.write(work_queue.set_setting, "a", 1))
    second = asyncio.create_task(ledger.write(work_queue.set_setting, "b", 2))
    await asyncio.sleep(0)
    first.cancel()
    await second
    assert await ledger.read(work_queue.get_setting, "b") == "2"
    await ledger.close()


async def test_closing_finishes_the_writes_that_wait(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "ledger.db")
    writing = [asyncio.create_task(ledger.write(work_queue.set_setting, f"k{n}", n)) for n in range(5)]
    await asyncio.sleep(0)
    await ledger.close()
    await asyncio.gather(*writing)


async def test_a_write_after_closing_is_refused_in_words(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "ledger.db")
    await ledger.close()
    with pytest.raises(StoreError, match="closed"):
        await asyncio.wait_for(ledger.write(work_queue.set_setting, "late", 1), 5)


async def test_a_ledger_of_an_early_version_is_refused_with_a_way_out(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as db:
        db.executescript("CREATE TABLE piece (chunk INTEGER); PRAGMA user_version = 12;")
    with pytest.raises(EarlySchema, match="early version") as caught:
        await Ledger.open(tmp_path / "ledger.db")
    assert "ingest your files again" in caught.value.hint


async def test_the_words_are_cut_as_the_folder_was_told_at_first(tmp_path: Path) -> None:
    await (await Ledger.open(tmp_path / "ledger.db", "trigram")).close()
    ledger = await Ledger.open(tmp_path / "ledger.db", "porter unicode61")
    async with ledger.read_connection() as db:
        [[sql]] = await db.execute_fetchall("SELECT sql FROM sqlite_schema WHERE name = 'chunk_fts'")
    assert "trigram" in sql
    await ledger.close()


async def test_what_is_no_database_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_bytes(b"this is no database at all, but long enough to be looked at" * 50)
    with pytest.raises(StoreError, match="damaged") as caught:
        await Ledger.open(tmp_path / "ledger.db")
    assert "restore" in caught.value.hint


async def test_a_folder_that_is_not_there_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(DiskError):
        await Ledger.open(tmp_path / "nowhere" / "ledger.db")


async def test_a_copy_is_whole_and_holds_what_was_written(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "ledger.db")
    await ledger.write(work_queue.set_setting, "kept", "yes")
    await ledger.copy_to(tmp_path / "copy.db")
    await ledger.close()
    copy = await Ledger.open(tmp_path / "copy.db")
    assert await copy.read(work_queue.get_setting, "kept") == "yes"
    await copy.close()


async def test_the_log_stays_short_though_somebody_always_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wal, "MAX_LOG_SIZE", 1 << 20)
    ledger = await Ledger.open(tmp_path / "ledger.db")
    ending = asyncio.Event()

    async def reads() -> None:
        while not ending.is_set():
            async with ledger.read_connection() as db:
                await work_queue.get_setting(db, "n")
                await asyncio.sleep(0.001)

    reading = [asyncio.create_task(reads()) for _ in range(2 * Ledger.reader_count)]
    longest = 0
    for number in range(100):
        await ledger.write(work_queue.set_setting, "n", f"{number}" * 50_000)
        longest = max(longest, wal.log_size(ledger.path))
    ending.set()
    await asyncio.gather(*reading)
    assert longest < 2 * wal.MAX_LOG_SIZE
    await ledger.close()


async def test_a_log_that_cannot_be_emptied_hinders_no_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wal, "MAX_LOG_SIZE", 1 << 16)
    ledger = await Ledger.open(tmp_path / "ledger.db")
    async with ledger.stream_connection() as db, asyncio.timeout(20):
        assert await work_queue.get_setting(db, "n") == ""
        for number in range(30):
            await ledger.write(work_queue.set_setting, "n", f"{number}" * 10_000)
    await ledger.write(work_queue.set_setting, "n", "short")
    await ledger.compact()
    assert wal.log_size(ledger.path) == 0
    await ledger.close()


async def test_compaction_empties_the_log_while_others_write(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "ledger.db")
    await ledger.write(work_queue.set_setting, "word", "unmistakable")
    await ledger.write(work_queue.set_setting, "word", "gone")
    writing = [asyncio.create_task(ledger.write(work_queue.set_setting, f"k{n}", n)) for n in range(20)]
    await ledger.compact()
    await asyncio.gather(*writing)
    assert find_files_containing(tmp_path, "unmistakable") == []
    await ledger.close()


async def test_compaction_that_somebody_keeps_from_emptying_the_log_says_so_and_holds_nobody(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "ledger.db")
    await ledger.write(work_queue.set_setting, "n", 1)
    async with ledger.read_connection() as db:
        assert await work_queue.get_setting(db, "n") == "1"
        await ledger.write(work_queue.set_setting, "n", 2)
        compacting = asyncio.create_task(ledger.compact())
        await asyncio.wait_for(asyncio.gather(*(ledger.read(work_queue.get_setting, "n") for _ in range(9))), 1)
        with pytest.raises(StoreError, match="emptied"):
            await compacting
    await ledger.compact()
    await ledger.close()


async def test_a_cancelled_compaction_leaves_every_reader(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "ledger.db")
    await ledger.write(work_queue.set_setting, "n", 1)
    async with ledger.read_connection() as db:
        assert await work_queue.get_setting(db, "n") == "1"
        compacting = asyncio.create_task(ledger.compact())
        await asyncio.wait({compacting}, timeout=sqlite_database.EMPTY_LOG_PAUSE)
        compacting.cancel()
        await asyncio.gather(compacting, return_exceptions=True)
    assert ledger._readers.qsize() == Ledger.reader_count
    await ledger.close()


async def test_streams_take_no_reader_and_close_their_connections(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "ledger.db")
    async with AsyncExitStack() as stack:
        for _ in range(2 * Ledger.reader_count):
            await stack.enter_async_context(ledger.stream_connection())
        assert await asyncio.wait_for(ledger.read(work_queue.get_setting, "n"), 5) == ""
    assert len(ledger._connections) == 1 + Ledger.reader_count
    await ledger.close()


async def test_a_reader_that_is_cancelled_twice_gives_its_connection_back(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "ledger.db")
    held, for_ever = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        async with ledger.read_connection():
            held.set()
            await for_ever.wait()

    holding = asyncio.create_task(hold())
    await held.wait()
    holding.cancel()
    await asyncio.sleep(0)
    holding.cancel()
    await asyncio.gather(holding, return_exceptions=True)
    assert ledger._readers.qsize() == Ledger.reader_count
    assert await ledger.read(work_queue.get_setting, "n") == ""
    await ledger.close()
