"""Several processes write to one database: their transactions take turns, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter

import psycopg
import pytest

from engine.clock import SYSTEM_CLOCK
from engine.storage.ledger.postgres.ledger import PostgresLedger
from engine.storage.ledger.work.settings import Settings
from engine.storage.sql.connection import Connection
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction
from tests.support.engine_fixture import doc, wait_until
from tests.support.patience import PATIENCE


def is_waiting_for_lock(url: str) -> bool:
    """Whether a writer waits for its turn."""
    with psycopg.connect(url) as connection:
        sql = (
            "SELECT EXISTS (SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
            " WHERE l.locktype = 'advisory' AND NOT l.granted AND d.datname = current_database())"
        )
        return connection.execute(sql).fetchone() == (True,)


async def test_writers_of_one_database_take_turns(postgres_url: str) -> None:
    opened = await asyncio.gather(*(PostgresLedger.open(postgres_url, clock=SYSTEM_CLOCK) for _ in range(3)))
    ledgers = [LedgerFixture(result) for result in opened]
    generations = await asyncio.gather(
        *(ledger.write(Settings.next_generation) for ledger in ledgers for _ in range(20))
    )
    assert Counter(generations) == Counter(range(1, 61))
    await asyncio.gather(
        *(
            each.add_facts(f"d{number}{part}", extraction("Ada", "Bob", f"Name{number}"), space=f"s{number % 2}")
            for number, each in enumerate(ledgers)
            for part in range(5)
        )
    )
    await asyncio.gather(*(each.add(doc("same", f"text {number}")) for number, each in enumerate(ledgers)))
    for ledger in ledgers:
        assert await ledger.column("SELECT COUNT(*) FROM document") == [16]
        assert await ledger.column("SELECT COUNT(*) FROM name WHERE canonical = 'ada'") == [2]
        await ledger.ledger.check_integrity()
        await ledger.ledger.close()


async def test_nobody_sees_a_change_before_the_one_with_the_number_before(postgres_url: str) -> None:
    one, two = [await PostgresLedger.open(postgres_url, clock=SYSTEM_CLOCK) for _ in range(2)]
    numbered, ending = threading.Event(), threading.Event()

    def change(db: Connection) -> int:
        number = Settings(db).next_generation()
        db.execute("INSERT INTO space (name) VALUES (?)", (f"change {number}",))
        return number

    def change_slowly(db: Connection) -> int:
        number = change(db)
        numbered.set()
        ending.wait(PATIENCE)
        return number

    def read(db: Connection) -> tuple[int, list[str]]:
        return Settings(db).current_generation(), [row[0] for row in db.execute_fetchall("SELECT name FROM space")]

    first = asyncio.create_task(one.write(change_slowly))
    assert await asyncio.to_thread(numbered.wait, PATIENCE)
    second = asyncio.create_task(two.write(change))
    await wait_until(lambda: is_waiting_for_lock(postgres_url))
    assert await two.read(read) == (0, [])
    ending.set()
    assert [await first, await second] == [1, 2]
    assert await one.read(read) == (2, ["change 1", "change 2"])
    await asyncio.gather(one.close(), two.close())


async def test_readers_find_all_changes_up_to_the_last_number(postgres_url: str) -> None:
    ledgers = [await PostgresLedger.open(postgres_url, clock=SYSTEM_CLOCK) for _ in range(3)]

    def change(db: Connection) -> None:
        db.execute("INSERT INTO space (name) VALUES (?)", (str(Settings(db).next_generation()),))

    def read(db: Connection) -> tuple[int, list[int]]:
        [[found]] = db.execute_fetchall("SELECT COALESCE(json_agg(name)::text, '[]') FROM space")
        return Settings(db).current_generation(), sorted(map(int, json.loads(found)))

    writing = asyncio.gather(*(ledger.write(change) for _ in range(20) for ledger in ledgers))
    while not writing.done():
        last, names = await ledgers[0].read(read)
        assert names == list(range(1, last + 1))
    await writing
    assert (await ledgers[0].read(read))[0] == 60
    await asyncio.gather(*(ledger.close() for ledger in ledgers))


async def test_many_processes_may_create_the_tables_at_once(postgres_url: str) -> None:
    for result in await asyncio.gather(*(PostgresLedger.open(postgres_url, clock=SYSTEM_CLOCK) for _ in range(4))):
        await result.close()


@pytest.mark.parametrize("error", [psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure])
async def test_a_transaction_that_the_server_undoes_is_run_again(postgres_url: str, error: type[Exception]) -> None:
    ledger = await PostgresLedger.open(postgres_url, clock=SYSTEM_CLOCK)
    failures = [error("undone"), error("undone")]

    def work(db: Connection) -> int:
        generation = Settings(db).next_generation()
        if failures:
            raise failures.pop()
        return generation

    assert await LedgerFixture(ledger).write(work) == 1
    await ledger.close()
