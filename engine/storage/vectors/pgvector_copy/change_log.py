"""The log of changed vectors: every process finds in it what its copies lack.

Triggers write it in the transaction of the change, whoever makes it. A row is named by the transaction that wrote it,
and a snapshot of the server tells which transactions it includes: what a reader has not seen is found exactly, in
whatever order the transactions end, and no writer waits for another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg import sql

from engine.storage.psycopg_calls import fetch_rows, run_statement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from psycopg import AsyncConnection

KEPT_HOURS = 2  # that a change stays in the log
# A reader that saw the log so long ago reads the tables again; far less, so that nothing it needs is deleted meanwhile.
MAX_AGE_HOURS = 1

FIND_LOG = sql.SQL("SELECT to_regclass('vector_change') IS NOT NULL")
# ids NULL: all rows were deleted.
CREATE_LOG = sql.SQL(
    "CREATE TABLE IF NOT EXISTS vector_change (changed_table text NOT NULL, transaction xid8 NOT NULL,"
    " has_deletions boolean NOT NULL, ids bigint[], recorded_at timestamptz NOT NULL DEFAULT now())"
)
CREATE_LOG_INDEXES = (
    sql.SQL("CREATE INDEX IF NOT EXISTS vector_change_transaction ON vector_change (transaction)"),
    sql.SQL("CREATE INDEX IF NOT EXISTS vector_change_recorded ON vector_change (recorded_at)"),
)
CREATE_FUNCTION = sql.SQL(
    "CREATE OR REPLACE FUNCTION record_vector_change() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT"
    " AS $body$ BEGIN IF TG_OP = 'TRUNCATE' THEN"
    " INSERT INTO vector_change VALUES (TG_ARGV[0], pg_current_xact_id(), true, NULL);"
    " ELSE INSERT INTO vector_change SELECT TG_ARGV[0], pg_current_xact_id(), TG_OP = 'DELETE', array_agg(DISTINCT id)"
    " FROM changed HAVING count(*) > 0; END IF; RETURN NULL; END $body$"
)
FIND_TRIGGERS = sql.SQL(
    "SELECT tgname::text FROM pg_trigger WHERE tgrelid = to_regclass(%(table)s) AND NOT tgisinternal"
)
CREATE_TRIGGER = sql.SQL(
    "CREATE TRIGGER {name} AFTER {event} ON {table} {rows} FOR EACH STATEMENT EXECUTE FUNCTION"
    " record_vector_change({table_name})"
)
NEW_ROWS, OLD_ROWS = "REFERENCING NEW TABLE AS changed", "REFERENCING OLD TABLE AS changed"
EVENTS = {"INSERT": NEW_ROWS, "UPDATE": NEW_ROWS, "DELETE": OLD_ROWS, "TRUNCATE": ""}

FIND_PRESENT = sql.SQL("SELECT pg_current_snapshot()::text, now()")
FIND_UNSEEN = sql.SQL(
    "SELECT pg_current_snapshot()::text, now(), now() - %(at)s > %(max_age)s * interval '1 hour',"
    " c.changed_table, c.has_deletions, c.ids FROM (SELECT) always LEFT JOIN vector_change c"
    " ON c.transaction >= pg_snapshot_xmin(%(seen)s::pg_snapshot)"
    " AND NOT pg_visible_in_snapshot(c.transaction, %(seen)s::pg_snapshot)"
)
DELETE_OLD = sql.SQL("DELETE FROM vector_change WHERE recorded_at < now() - %(kept)s * interval '1 hour'")


class Moment(NamedTuple):
    """A state of the database: a snapshot, and the server's time."""

    snapshot: str
    at: Any


class Change(NamedTuple):
    """A change of a table. `ids`: of the rows; None: all were deleted."""

    table: str
    has_deletions: bool
    ids: list[int] | None


class Unseen(NamedTuple):
    """The changes between two moments; they may be incomplete if `is_outdated`."""

    until: Moment
    is_outdated: bool
    changes: list[Change]


async def create_log(connection: AsyncConnection[Any], tables: Iterable[str]) -> None:
    """Create what is missing. The caller holds the lock of the schema, and the tables exist."""
    [[is_there]] = await fetch_rows(connection, FIND_LOG)
    if not is_there:
        for statement in (CREATE_LOG, *CREATE_LOG_INDEXES, CREATE_FUNCTION):
            await run_statement(connection, statement)
    for table in tables:
        found = {name for (name,) in await fetch_rows(connection, FIND_TRIGGERS, {"table": table})}
        for event, rows in EVENTS.items():
            if (name := f"record_{event.lower()}") not in found:
                await run_statement(connection, _fill_trigger(name, event, rows, table))


async def drop_log(connection: AsyncConnection[Any]) -> None:
    """Remove the log once the tables are gone."""
    await run_statement(connection, sql.SQL("DROP TABLE IF EXISTS vector_change"))
    await run_statement(connection, sql.SQL("DROP FUNCTION IF EXISTS record_vector_change()"))


async def find_present(connection: AsyncConnection[Any]) -> Moment:
    """The present state of the database."""
    [row] = await fetch_rows(connection, FIND_PRESENT)
    return Moment(*row)


async def find_unseen(connection: AsyncConnection[Any], since: Moment) -> Unseen:
    """All changes that were committed after a moment."""
    parameters = {"seen": since.snapshot, "at": since.at, "max_age": MAX_AGE_HOURS}
    rows = await fetch_rows(connection, FIND_UNSEEN, parameters)
    changes = [Change(*row[3:]) for row in rows if row[3] is not None]
    return Unseen(Moment(*rows[0][:2]), rows[0][2], changes)


async def delete_old(connection: AsyncConnection[Any]) -> None:
    """Delete what no reader needs any more."""
    await run_statement(connection, DELETE_OLD, {"kept": KEPT_HOURS})


def _fill_trigger(name: str, event: str, rows: str, table: str) -> sql.Composed:
    return CREATE_TRIGGER.format(
        name=sql.Identifier(name),
        event=sql.SQL(event),
        rows=sql.SQL(rows),
        table=sql.Identifier(table),
        table_name=sql.Literal(table),
    )
