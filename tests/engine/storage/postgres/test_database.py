from __future__ import annotations

import asyncio
import secrets

import psycopg
import pytest

from engine.clock import SYSTEM_CLOCK
from engine.errors import DatabaseBusy, DatabaseMisconfigured, DatabaseReadOnly, NewerSchema, StoreError, UnstorableText
from engine.storage.ledger.database import FtsTokenizer
from engine.storage.ledger.postgres.ledger import PostgresLedger
from engine.storage.postgres.database import READERS
from engine.storage.sql.connection import Connection
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction, held_snapshot
from tests.support.engine_fixture import doc
from tests.support.patience import PATIENCE


async def test_a_server_that_cannot_be_reached_is_named_with_a_hint() -> None:
    with pytest.raises(StoreError, match="could not be reached") as caught:
        await PostgresLedger.open("postgresql://nobody@127.0.0.1:1/none?connect_timeout=2", clock=SYSTEM_CLOCK)
    assert "server" in caught.value.hint


@pytest.mark.parametrize("tokenizer", ["porter unicode61", "trigram"])
async def test_rows_can_be_restored_without_a_search_path(postgres_url: str, tokenizer: FtsTokenizer) -> None:
    ledger = LedgerFixture(await PostgresLedger.open(postgres_url, tokenizer, clock=SYSTEM_CLOCK))
    await ledger.add_facts("a", extraction("Ada", "Bob"))
    await ledger.project()
    await ledger.ledger.close()
    with psycopg.connect(postgres_url) as connection:  # as pg_dump and pg_restore
        connection.execute("SET search_path = ''")
        for table, column in (("chunk", "text"), ("entity", "name")):
            sql = f"UPDATE threadlore_ledger.{table} SET {column} = {column} RETURNING search <> ''"
            connection.execute(f"ALTER TABLE threadlore_ledger.{table} DISABLE TRIGGER USER")
            assert (True,) in connection.execute(sql).fetchall()


async def test_tables_of_a_later_version_are_refused(postgres_url: str) -> None:
    await (await PostgresLedger.open(postgres_url, clock=SYSTEM_CLOCK)).close()
    with psycopg.connect(postgres_url) as connection:
        connection.execute("INSERT INTO threadlore_ledger.schema_version VALUES (99)")
    with pytest.raises(NewerSchema, match="99"):
        await PostgresLedger.open(postgres_url, clock=SYSTEM_CLOCK)


async def test_a_broken_connection_fails_one_call_and_is_replaced(postgres_url: str) -> None:
    ledger = await PostgresLedger.open(postgres_url, clock=SYSTEM_CLOCK)
    await ledger.settings.set("a", 1)

    def break_off(db: Connection) -> None:
        db.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    for call in (ledger.write, ledger.read):
        with pytest.raises(StoreError, match="could not be reached"):
            await call(break_off)
        assert await asyncio.wait_for(ledger.settings.get("a"), PATIENCE) == "1"
        await asyncio.wait_for(ledger.settings.set("b", 2), PATIENCE)
    await ledger.close()


async def test_connections_that_the_server_ended_meanwhile_are_replaced_before_their_use(postgres_url: str) -> None:
    ledger = await PostgresLedger.open(postgres_url, clock=SYSTEM_CLOCK)
    await asyncio.gather(*(ledger.settings.get("a") for _ in range(READERS)))
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    await ledger.settings.set("a", 1)
    assert await asyncio.gather(*(ledger.settings.get("a") for _ in range(READERS))) == ["1"] * READERS
    await ledger.close()


async def test_a_write_that_the_server_refuses_fails_alone(postgres_url: str) -> None:
    ledger = await PostgresLedger.open(postgres_url, clock=SYSTEM_CLOCK)

    def insert(db: Connection, name: str) -> None:
        db.execute("INSERT INTO space (name) VALUES (?)", (name,))

    names = "good", secrets.token_hex(3_000), "better"
    outcomes = await asyncio.gather(*(ledger.write(insert, name) for name in names), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None), UnstorableText, type(None)]
    await ledger.close()


@pytest.mark.parametrize(
    ("statements", "kind"),
    [
        (("SET LOCAL statement_timeout = '50ms'", "SELECT pg_sleep(30)"), DatabaseBusy),
        (("SET LOCAL transaction_read_only = on", "CREATE TABLE later (id integer)"), DatabaseReadOnly),
        (("SET LOCAL ROLE pg_monitor", "SELECT * FROM pg_authid"), DatabaseMisconfigured),
    ],
)
async def test_what_the_server_does_not_do_is_told_in_words(
    postgres_url: str, statements: tuple[str, ...], kind: type[StoreError]
) -> None:
    ledger = await PostgresLedger.open(postgres_url, clock=SYSTEM_CLOCK)

    def run(db: Connection) -> None:
        for statement in statements:
            db.execute(statement)

    with pytest.raises(kind) as caught:
        await ledger.write(run)
    assert caught.value.hint
    await ledger.close()


async def test_more_readers_than_connections_wait_for_one(postgres_url: str) -> None:
    ledger = await PostgresLedger.open(postgres_url, clock=SYSTEM_CLOCK)
    found = await asyncio.gather(*(ledger.settings.get("a") for _ in range(5 * READERS)))
    assert set(found) == {""}
    await ledger.close()


async def test_compaction_and_checks_run_beside_readers(postgres_url: str) -> None:
    ledger = LedgerFixture(await PostgresLedger.open(postgres_url, clock=SYSTEM_CLOCK))
    await ledger.add(doc("a", "one"))
    await ledger.forget("a")
    async with held_snapshot(ledger.ledger):
        await ledger.ledger.compact()
    await ledger.ledger.check_integrity()
    await ledger.execute("INSERT INTO corpus_stats VALUES (0, 7, 7, 1, 1)")
    with pytest.raises(StoreError, match="number of chunks of space 7"):
        await ledger.ledger.check_integrity()
    await ledger.ledger.close()
