"""A kill in an update of tables leaves them as they were, or as the update makes them, and the next start goes on."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

from bot.store import BotStore
from bot.store.postgres import SCHEMA as BOT
from engine.clock import SYSTEM_CLOCK
from engine.storage.ledger.postgres.ledger import SCHEMA as LEDGER
from engine.storage.ledger.postgres.ledger import PostgresLedger
from engine.storage.postgres import schema
from engine.storage.postgres.connection import connection_options
from engine.storage.postgres.schema import PROCESS_SCHEMA, PostgresSchema
from tests.support.database_catalogs import read_postgres_catalog
from tests.support.former_versions import FormerSource
from tests.support.kills import KILLED, NEVER, run_until_killed
from tests.support.patience import PATIENCE
from tests.support.postgres_server import PostgresServer, fresh_database

if TYPE_CHECKING:
    from engine.storage.postgres.connection import Raw

TOKENIZER = "porter unicode61"
SCHEMAS = pytest.mark.parametrize("of", [PROCESS_SCHEMA, LEDGER, BOT], ids=["processes", "ledger", "bot"])
LIST_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = $1 AND tablename <> 'schema_version' ORDER BY 1"
LIST_COLUMNS = (
    "SELECT column_name, data_type FROM information_schema.columns"
    " WHERE table_schema = $1 AND table_name = $2 AND is_generated = 'NEVER'"
)
VALUES = {
    **dict.fromkeys(("integer", "bigint", "smallint"), "1"),
    **dict.fromkeys(("real", "double precision"), "1.5"),
    "boolean": "true",
    "timestamp with time zone": "2026-11-28",
}
WAITS = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


@dataclass
class KilledConnection:
    """Ends its process once it has sent a number of commands, before the server answers the last one."""

    left: int
    wait: Callable[..., Any] = field(repr=False)

    def __call__(self, command: Generator[Any, Any, Any], *options: Any, **named: Any) -> Any:
        if not self.left:
            next(command, None)
            os._exit(KILLED)
        self.left -= 1
        return self.wait(command, *options, **named)


def connect(url: str, of: PostgresSchema) -> Raw:
    found: Raw = psycopg.connect(url, **connection_options(of.name))
    return found


def upgrade(url: str, of: PostgresSchema, commands: int = NEVER) -> None:
    """Update the tables; the process ends after so many commands."""
    with connect(url, of) as raw:
        raw.wait = KilledConnection(commands, raw.wait)  # type: ignore[method-assign,assignment]
        of.migrate(raw, tokenizer=TOKENIZER)


def make_old(url: str, of: PostgresSchema, version: int) -> None:
    """Tables of a former version with a row in each that takes one of its own."""
    former = replace(of, source=FormerSource(of.source.package, version))
    with connect(url, of) as raw:
        if of is not PROCESS_SCHEMA:
            PROCESS_SCHEMA.migrate(raw)
        former.migrate(raw, tokenizer=TOKENIZER)
        raw.execute("SET session_replication_role = replica")  # no triggers
        for (table,) in raw.execute(LIST_TABLES, (of.name,)).fetchall():
            found = raw.execute(LIST_COLUMNS, (of.name, table)).fetchall()
            names = sql.SQL(", ").join(sql.Identifier(name) for name, _ in found)
            values = sql.SQL(", ").join(sql.Literal(VALUES.get(kind, "x")) for _, kind in found)
            statement = sql.SQL("INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE VALUES ({}) ON CONFLICT DO NOTHING")
            raw.execute(statement.format(sql.Identifier(table), names, values))


def read_all(url: str, of: PostgresSchema) -> dict[str, Any]:
    """Everything of a schema, once nobody updates it any more."""
    with connect(url, of) as raw:
        raw.execute("SELECT pg_advisory_lock(hashtext($1))", (f"migrate {of.name}",))
        tables = raw.execute(LIST_TABLES, (of.name,)).fetchall()
        rows = {
            table: sorted(map(repr, raw.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(table)))))
            for (table,) in tables
        }
        versions = raw.execute("SELECT number FROM schema_version ORDER BY 1").fetchall()
        return {**read_postgres_catalog(raw, of.name), "rows": rows, "versions": versions}


def check_kills(server: PostgresServer, of: PostgresSchema, version: int) -> int:
    """Kill an update at each of its commands; returns how many kills left the tables as they were.

    What is exactly as before needs no second look at how it is updated.
    """
    with fresh_database(server) as url, fresh_database(server) as other:
        for each in (url, other):
            make_old(each, of, version)
        before, commands = read_all(url, of), 0
        upgrade(other, of)
        after = read_all(other, of)
        assert before != after
        while run_until_killed(partial(upgrade, url, of, commands), NEVER):
            if (found := read_all(url, of)) != before:
                break
            commands += 1
        assert found == after
        upgrade(url, of)
        assert read_all(url, of) == after
        return commands


@pytest.mark.long
def test_a_kill_in_the_last_updates_leaves_the_version_before_or_the_new_one(postgres_server: PostgresServer) -> None:
    assert check_kills(postgres_server, BOT, BOT.source.frozen) > BOT.source.latest - BOT.source.frozen


@pytest.mark.long
@SCHEMAS
def test_a_kill_at_each_command_of_all_updates_leaves_a_whole_version(
    of: PostgresSchema, postgres_server: PostgresServer
) -> None:
    assert check_kills(postgres_server, of, 1) > of.source.latest - 1


async def open_all(url: str) -> None:
    """Open the tables of the engine and of the bot as a start does."""
    await (await PostgresLedger.open(url, clock=SYSTEM_CLOCK)).close()
    async with BotStore.open(url, SYSTEM_CLOCK):
        pass


def start(url: str) -> int:
    """A process that opens all tables, and waits for locks as long as it takes."""
    if child := os.fork():
        return child
    try:
        asyncio.run(open_all(url))
    finally:
        os._exit(0)


def wait_for(condition: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.01)


@pytest.mark.long
@pytest.mark.parametrize(("held", "table"), [(LEDGER, "document"), (BOT, "event")], ids=["ledger", "bot"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_start_after_a_kill_within_a_statement_finishes_the_update(
    held: PostgresSchema, table: str, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "LIMIT_LOCK_WAIT", "SELECT set_config('lock_timeout', '1min', true)")
    with fresh_database(postgres_server) as url, fresh_database(postgres_server) as other:
        for each in (LEDGER, BOT):
            make_old(url, each, 1)
            make_old(other, each, 1)
        with ExitStack() as stack:
            holder, watcher = (stack.enter_context(connect(url, held)) for _ in range(2))
            with holder.transaction():
                holder.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(sql.Identifier(table)))
                child = start(url)
                wait_for(lambda: watcher.execute(WAITS).fetchall())
                os.kill(child, signal.SIGKILL)
                assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
        for address in (url, other):
            asyncio.run(open_all(address))
        for each in (PROCESS_SCHEMA, LEDGER, BOT):
            assert read_all(url, each) == read_all(other, each)
