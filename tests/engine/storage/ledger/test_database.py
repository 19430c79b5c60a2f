from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, closing
from itertools import count
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import pytest

from engine.clock import SYSTEM_CLOCK
from engine.errors import DiskError, EngineError, StoreError
from engine.storage.ledger import Ledger
from engine.storage.ledger import database as ledger_database
from engine.storage.ledger.work.settings import Settings
from engine.storage.sql.connection import Connection
from engine.storage.sqlite import database as sqlite_database
from engine.storage.sqlite import database_file
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, held_snapshot
from tests.support.engine_fixture import doc, find_files_containing
from tests.support.patience import PATIENCE


@pytest.fixture
def log_limit() -> int:
    return database_file.MAX_LOG_SIZE


@pytest.fixture
async def ledger(tmp_path: Path, log_limit: int, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Ledger]:
    monkeypatch.setattr(database_file, "MAX_LOG_SIZE", log_limit)
    opened = await Ledger.open(tmp_path / "ledger.db", clock=SYSTEM_CLOCK)
    yield opened
    await opened.close()


def make_word(seed: str) -> str:
    return uuid5(NAMESPACE_OID, seed).hex


async def put(ledger: Ledger, key: str, value: Any) -> None:
    await ledger.write(Settings.set, key, value)


async def get(ledger: Ledger, key: str) -> str:
    return await ledger.read(Settings.get, key)


async def test_writes_that_wait_together_are_one_transaction(ledger: Ledger) -> None:
    began: list[str] = []
    await ledger._writer.set_trace_callback(lambda sql: began.append(sql) if sql.startswith("BEGIN") else None)
    await asyncio.gather(*(put(ledger, f"k{n}", n) for n in range(50)))
    assert len(began) <= 2
    with closing(sqlite3.connect(ledger.path)) as other:
        assert other.execute("SELECT value FROM meta WHERE key = 'k7'").fetchall() == [("7",)]


@pytest.mark.parametrize("cancellations", [1, 2])
async def test_a_cancelled_reader_gives_its_connection_back(ledger: Ledger, cancellations: int) -> None:
    for _ in range(2 * Ledger.reader_count):
        holding = asyncio.create_task(get(ledger, "n"))
        for _ in range(cancellations):
            await asyncio.sleep(0)
            holding.cancel()
        await asyncio.gather(holding, return_exceptions=True)
    assert ledger._readers.qsize() == Ledger.reader_count
    assert await get(ledger, "n") == ""


async def test_readers_are_opened_as_more_read_at_once_and_stay(ledger: Ledger) -> None:
    counts = [len(ledger._connections)]
    async with held_snapshot(ledger):
        assert await get(ledger, "n") == ""
        counts.append(len(ledger._connections))
    await asyncio.gather(*(get(ledger, "n") for _ in range(9)))
    assert [*counts, len(ledger._connections)] == [2, 3, 1 + Ledger.reader_count]


async def test_a_reader_that_is_opened_for_one_who_ends_serves_the_next(ledger: Ledger) -> None:
    async with held_snapshot(ledger):
        leaving = asyncio.create_task(get(ledger, "n"))
        while not ledger._opening:  # noqa: ASYNC110 - no event
            await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)
        assert await get(ledger, "n") == ""
        await asyncio.gather(*ledger._opening)  # the next may have been served by another reader meanwhile
    assert ledger._readers.qsize() == Ledger.reader_count
    assert not ledger._opening


async def test_open_readers_are_taken_before_others_are_opened(ledger: Ledger) -> None:
    async with held_snapshot(ledger):
        assert await get(ledger, "n") == ""
    ledger._return_readers([None])
    count = len(ledger._connections)
    assert await get(ledger, "n") == ""
    assert len(ledger._connections) == count
    assert await ledger._readers.get() is not None


async def test_closing_waits_for_a_reader_that_is_being_opened(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "ledger.db", clock=SYSTEM_CLOCK)
    async with held_snapshot(ledger):
        leaving = asyncio.create_task(get(ledger, "n"))
        while not ledger._opening:  # noqa: ASYNC110 - no event
            await asyncio.sleep(0)
        leaving.cancel()
    await ledger.close()
    assert ledger._connections == []


async def test_the_tokenizer_of_the_first_start_stays(tmp_path: Path) -> None:
    await (await Ledger.open(tmp_path / "ledger.db", "trigram", clock=SYSTEM_CLOCK)).close()
    ledger = LedgerFixture(await Ledger.open(tmp_path / "ledger.db", "porter unicode61", clock=SYSTEM_CLOCK))
    assert "trigram" in (await ledger.column("SELECT sql FROM sqlite_schema WHERE name = 'chunk_fts'"))[0]
    await ledger.ledger.close()


@pytest.mark.parametrize(
    ("content", "folder", "error", "words"),
    [(b"no database, but long enough" * 100, "", StoreError, "damaged"), (b"", "nowhere", DiskError, "")],
    ids=["no database", "no folder"],
)
async def test_a_file_that_cannot_be_opened_is_refused_with_a_hint(
    tmp_path: Path, content: bytes, folder: str, error: type[EngineError], words: str
) -> None:
    (tmp_path / "ledger.db").write_bytes(content)
    with pytest.raises(error) as caught:
        await Ledger.open(tmp_path / folder / "ledger.db", clock=SYSTEM_CLOCK)
    assert words in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize("log_limit", [1 << 20])
async def test_the_log_stays_short_though_others_always_read(ledger: Ledger, log_limit: int) -> None:
    ending = asyncio.Event()

    def read_slowly(db: Connection) -> None:
        Settings(db).get("n")
        time.sleep(0.001)

    async def read() -> None:
        while not ending.is_set():
            await ledger.read(read_slowly)

    reading = [asyncio.create_task(read()) for _ in range(2 * Ledger.reader_count)]
    sizes = list[int]()
    for number in range(100):
        await put(ledger, "n", f"{number}" * 50_000)
        sizes.append(database_file.log_size(ledger.path))
    ending.set()
    await asyncio.gather(*reading)
    assert max(sizes) < 2 * log_limit


@pytest.mark.parametrize("log_limit", [1 << 16])
async def test_a_log_that_cannot_be_emptied_hinders_no_writer(ledger: Ledger) -> None:
    async with ledger.stream_connection() as db, asyncio.timeout(PATIENCE):
        assert await db.run(lambda plain: Settings(plain).get("n")) == ""
        for number in range(30):
            await put(ledger, "n", f"{number}" * 10_000)
    await put(ledger, "n", "short")
    await ledger.compact()
    assert database_file.log_size(ledger.path) == 0


async def fill_and_forget(ledger: LedgerFixture) -> list[str]:
    """Fill a ledger, compact it, and forget a document, so that the index has two segments; gives its words."""
    for number in range(40):
        await ledger.add(doc(f"d{number}", *(make_word(f"{number} {n}") for n in range(60))))
    await ledger.ledger.compact()
    await ledger.forget("d39")
    return [make_word(f"39 {n}") for n in range(60)]


def find_words(folder: Path, words: list[str]) -> list[str]:
    """The words of which the end is in a file: terms share what they begin with."""
    content = b"".join(file.read_bytes() for file in folder.iterdir())
    return [word for word in words if word[-24:].encode() in content]


async def check_kept(ledger: LedgerFixture) -> None:
    """Check that what was not forgotten is found, once, and that the index is that of its rows."""
    for number in (1, 20, 38):
        found = f"SELECT count(*) FROM chunk_fts WHERE chunk_fts MATCH '\"{make_word(f'{number} 7')}\"'"
        assert await ledger.column(found) == [1]
    for index in ("chunk_fts", "entity_fts"):
        await ledger.execute(f"INSERT INTO {index} ({index}) VALUES ('integrity-check')")


@pytest.mark.parametrize("writers", [1, 2, 7])
async def test_compaction_takes_turns_with_other_writes_and_leaves_nothing_deleted(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writers: int
) -> None:
    monkeypatch.setattr(ledger_database, "MERGED_PAGES", 2)
    filled = LedgerFixture(ledger)
    deleted = await fill_and_forget(filled)
    turns = list[str]()
    await ledger._writer.set_trace_callback(lambda sql: turns.append("merge" if "'merge'" in sql else sql[:11]))
    async with asyncio.timeout(PATIENCE):
        compacting = asyncio.create_task(ledger.compact())

        async def write(writer: int) -> int:
            for number in count():
                if compacting.done():
                    return number
                await filled.add(doc(f"beside{writer}-{number}", make_word(f"beside {writer} {number}")))
            return 0

        counts = await asyncio.gather(*map(write, range(writers)))
        await compacting
    assert min(counts) > 3, "others write between the parts"
    assert turns.count("COMMIT") > 3
    assert find_words(tmp_path, deleted) == []
    await check_kept(filled)


async def test_compaction_ends_though_others_write_more_than_it_merges(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_database, "MERGED_PAGES", 1)
    filled = LedgerFixture(ledger)
    deleted = await fill_and_forget(filled)
    numbers = count()

    with monkeypatch.context() as patched:
        original = Ledger.write
        in_turn = False

        async def write_beside(self: Ledger, work: Callable[..., Any], *arguments: Any) -> Any:
            nonlocal in_turn
            if not in_turn:
                in_turn = True
                for _ in range(5):
                    words = [make_word(f"beside {next(numbers)}") for _ in range(40)]
                    await filled.add(doc(f"beside{next(numbers)}", *words))
                in_turn = False
            return await original(self, work, *arguments)

        patched.setattr(Ledger, "write", write_beside)
        await asyncio.wait_for(ledger.compact(), PATIENCE)
    assert next(numbers) > 400
    assert find_words(tmp_path, deleted) == []
    await check_kept(filled)


@pytest.mark.parametrize("levels", [1_001, 2_000])
async def test_compaction_shrinks_an_index_of_many_levels(ledger: Ledger, tmp_path: Path, levels: int) -> None:
    """Each compaction of an index that grows adds two levels; with more than 2,000, the file cannot be opened."""
    filled = LedgerFixture(ledger)
    deleted = await fill_and_forget(filled)
    await ledger.close()
    for index in ("chunk_fts", "entity_fts"):
        add_levels(tmp_path / "ledger.db", index, levels)
    reopened = LedgerFixture(await Ledger.open(tmp_path / "ledger.db", clock=SYSTEM_CLOCK))
    await reopened.ledger.compact()
    assert find_words(tmp_path, deleted) == []
    await check_kept(reopened)
    for index in ("chunk_fts", "entity_fts"):
        [structure] = await reopened.column(f"SELECT block FROM {index}_data WHERE id = 10")
        assert len(structure) < 100
    await reopened.ledger.close()


def add_levels(file: Path, index: str, levels: int) -> None:
    """Let an index have that many levels, of which the last ones are empty."""
    with closing(sqlite3.connect(file)) as db:
        [(structure,)] = db.execute(f"SELECT block FROM {index}_data WHERE id = 10")
        count_of_levels = bytes([levels >> 7 | 0x80, levels & 0x7F])
        added = bytes(2 * (levels - structure[4]))  # two numbers each: none is merged, and there are no segments
        changed = structure[:4] + count_of_levels + structure[5:] + added
        db.execute(f"UPDATE {index}_data SET block = ? WHERE id = 10", (changed,))
        db.commit()


async def test_compaction_empties_the_log_while_others_write(ledger: Ledger, tmp_path: Path) -> None:
    await put(ledger, "word", "unmistakable")
    await put(ledger, "word", "gone")
    writing = [asyncio.create_task(put(ledger, f"k{n}", n)) for n in range(20)]
    await ledger.compact()
    await asyncio.gather(*writing)
    assert find_files_containing(tmp_path, "unmistakable") == []


async def test_a_compaction_that_a_reader_hinders_says_so_and_blocks_nobody(ledger: Ledger) -> None:
    await put(ledger, "n", 1)
    async with held_snapshot(ledger):
        await put(ledger, "n", 2)
        cancelled = asyncio.create_task(ledger.compact())
        await asyncio.wait({cancelled}, timeout=sqlite_database.EMPTY_LOG_PAUSE)
        cancelled.cancel()
        await asyncio.gather(cancelled, return_exceptions=True)
        assert ledger._readers.qsize() == Ledger.reader_count - 1
        compacting = asyncio.create_task(ledger.compact())
        await asyncio.wait_for(asyncio.gather(*(get(ledger, "n") for _ in range(9))), PATIENCE)
        with pytest.raises(StoreError, match="emptied"):
            await compacting
    await ledger.compact()
    assert ledger._readers.qsize() == Ledger.reader_count


async def test_streams_take_no_reader_and_close_their_connections(ledger: Ledger) -> None:
    async with AsyncExitStack() as stack:
        for _ in range(2 * Ledger.reader_count):
            await stack.enter_async_context(ledger.stream_connection())
        assert await asyncio.wait_for(get(ledger, "n"), PATIENCE) == ""
    assert len(ledger._connections) == 2


async def test_a_file_that_cannot_be_opened_for_a_long_read_is_a_disk_error(ledger: Ledger, tmp_path: Path) -> None:
    ledger.path = tmp_path / "missing" / "ledger.db"
    async with AsyncExitStack() as stack:
        with pytest.raises(DiskError):
            await stack.enter_async_context(ledger.stream_connection())
