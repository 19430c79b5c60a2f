"""A newer version updates tables while processes of the former one use them, or waits until these have ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psycopg
import pytest

from bot.store import BotStore
from engine.clock import SYSTEM_CLOCK
from engine.errors import DatabaseInUse, NewerSchema, SchemaMismatch
from engine.scheduling.supervisor import Supervisor
from engine.storage.ledger.postgres.ledger import PostgresLedger
from engine.storage.postgres import schema
from engine.storage.postgres.connection import connection_options
from engine.storage.postgres.database import PostgresDatabase
from engine.storage.postgres.process_registry import ProcessRegistry
from engine.storage.postgres.schema import PROCESS_SCHEMA, PostgresSchema
from engine.storage.sql.connection import Connection, Dialect
from engine.storage.sql.schema import INT, Column
from engine.storage.sql.schema_source import ONLINE, Migration, SchemaSource, add_column, run

FIRST = "CREATE TABLE note (text text);"
ADDED = Migration(add_column("note", Column("stars", INT, default=0)), online="its default fills the column.")
RENAMED = Migration(run(postgres="ALTER TABLE note RENAME COLUMN text TO words;"))


@dataclass(frozen=True, slots=True)
class NoteSource(SchemaSource):
    """Notes, as a version of the program with these migrations has them."""

    def render(self, dialect: Dialect) -> str:
        return "\n".join([FIRST, *(migration.render(dialect) for migration in self.migrations)])


def notes(*migrations: Migration) -> PostgresSchema:
    return PostgresSchema(NoteSource("tests.support", frozen=1, migrations=migrations), "notes", "notes")


@asynccontextmanager
async def running(url: str, *migrations: Migration) -> AsyncIterator[PostgresDatabase]:
    """The database as a process of the version with these migrations opens it."""
    supervisor = Supervisor(SYSTEM_CLOCK)
    async with ProcessRegistry.open(url, supervisor, SYSTEM_CLOCK) as processes:
        database = PostgresDatabase(url, notes(*migrations), SYSTEM_CLOCK, processes.id)
        await database._start(supervisor)
        try:
            yield database
        finally:
            await database.close()
    await supervisor.stop()


def add(db: Connection, text: str) -> None:
    db.execute("INSERT INTO note (text) VALUES (?)", (text,))


async def test_processes_of_the_former_version_go_on_during_an_online_update(postgres_url: str) -> None:
    async with running(postgres_url) as older:
        await older.write(add, "one")
        async with running(postgres_url, ADDED) as newer:
            await older.write(add, "two")
            await newer.write(add, "three")
            with pytest.raises(NewerSchema):
                async with running(postgres_url):
                    pass
        await older.write(add, "four")


async def test_an_update_that_would_break_others_waits_until_they_have_ended(postgres_url: str) -> None:
    async with running(postgres_url, ADDED) as older:
        with pytest.raises(DatabaseInUse):
            async with running(postgres_url, ADDED, RENAMED):
                pass
        await older.write(add, "one")
    async with running(postgres_url, ADDED, RENAMED), running(postgres_url, ADDED, RENAMED):
        pass


async def test_an_update_does_not_wait_for_processes_that_ended_without_a_word(postgres_url: str) -> None:
    async with running(postgres_url):
        pass
    with psycopg.connect(postgres_url) as killed:  # nobody is there to remove its row
        killed.execute("INSERT INTO threadlore_process.process (name) VALUES ('killed')")
        killed.execute("INSERT INTO threadlore_process.schema_use SELECT id, 'notes' FROM threadlore_process.process")
    with psycopg.connect(postgres_url, **connection_options("notes")) as raw:
        notes(RENAMED).migrate(raw)
        assert raw.execute("SELECT count(words) FROM notes.note").fetchall() == [(0,)]


async def test_of_several_processes_one_updates_and_the_others_wait(postgres_url: str) -> None:
    async with running(postgres_url):
        pass

    slow = Migration(
        run(postgres="SELECT pg_sleep(0.2);"), run(postgres="ALTER TABLE note RENAME COLUMN text TO words;")
    )

    async def start() -> None:
        async with running(postgres_url, slow):
            await asyncio.sleep(0.2)

    await asyncio.gather(start(), start(), start())
    with psycopg.connect(postgres_url) as admin:
        assert admin.execute("SELECT number FROM notes.schema_version ORDER BY 1").fetchall() == [(1,), (2,)]


async def test_an_update_keeps_nobody_waiting_behind_a_slow_reader(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "LIMIT_LOCK_WAIT", "SELECT set_config('lock_timeout', '100ms', true)")
    async with running(postgres_url) as older:
        async with older.stream_connection() as reader:
            await reader.run(lambda db: db.execute_fetchall("SELECT * FROM note"))
            with pytest.raises(DatabaseInUse):
                async with running(postgres_url, ADDED):
                    pass
            await older.write(add, "one")
        async with running(postgres_url, ADDED):
            pass


def test_the_list_of_processes_is_updated_online_alone() -> None:
    """Every process uses it, before it can note what it uses."""
    updates = PROCESS_SCHEMA.source.load_updates(Dialect.POSTGRES, 1)
    assert updates
    assert all(script.startswith(ONLINE) for script in updates)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("ALTER TABLE threadlore_ledger.document DROP COLUMN title_key", "document lacks the column title_key"),
        ("DROP INDEX threadlore_bot.message_author", "the index message_author is missing"),
    ],
)
async def test_tables_that_another_program_made_are_named(postgres_url: str, statement: str, words: str) -> None:
    async def open_all() -> None:
        await (await PostgresLedger.open(postgres_url, clock=SYSTEM_CLOCK)).close()
        async with BotStore.open(postgres_url, SYSTEM_CLOCK):
            pass

    await open_all()
    with psycopg.connect(postgres_url, autocommit=True) as raw:
        raw.execute(statement.encode())
    with pytest.raises(SchemaMismatch, match=words):
        await open_all()
