"""Several processes write to one database: their transactions take turns, and nothing is lost."""

from __future__ import annotations

import asyncio
from collections import Counter

import psycopg
import pytest

from engine.clock import SYSTEM_CLOCK
from engine.storage.ledger.postgres.ledger import PostgresLedger
from engine.storage.ledger.work.settings import Settings
from engine.storage.sql.connection import Connection
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction
from tests.support.engine_fixture import doc


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
