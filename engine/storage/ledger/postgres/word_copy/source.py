"""What the copies read: the rows of an index in large blocks, the hashes of terms, and the log of changed rows.

Triggers of the schema write the log in the transaction of the change (`search_change`). A row of it is named by that
transaction, and a snapshot tells which transactions it includes.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from engine.storage.ledger.records.projection import KeyKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engine.storage.postgres.connection import Raw
    from engine.storage.sql.connection import Connection

KEPT_HOURS, MAX_AGE_HOURS = 2, 1  # that a change stays in the log; that a reader may be behind
BLOCK_PAGES = 128  # of the server, read at once
TABLES = {KeyKind.CHUNK: ("chunk", "room", "tokens"), KeyKind.NAME: ("entity", "0", "LENGTH(name)")}
# The server joins the rows of a block, so that no row is handled by itself. Each column has the same order.
COLUMNS = (
    "SELECT string_agg(int8send(id), ''), string_agg(int4send(space::integer), ''),"
    " string_agg(int4send(({room})::integer), ''), string_agg(int4send(({length})::integer), ''),"
    " string_agg(int4send(LENGTH(search)), ''), string_agg((SELECT COALESCE(string_agg("
    "int8send(hashtextextended(lexeme, 0)) || int2send(cardinality(positions)::smallint), ''), '')"
    " FROM unnest(search)), '') FROM {table} WHERE {where}"
)
PAGES = "ctid >= $1::tid AND ctid < $2::tid"
IDS = "id = ANY($1)"
COUNT_PAGES = "SELECT pg_relation_size(to_regclass($1)) / current_setting('block_size')::bigint"
ROW_COLUMNS = {"id": ">i8", "space": ">i4", "room": ">i4", "length": ">i4"}  # as they are sent
TERM_COLUMNS = np.dtype([("term", ">i8"), ("times", ">i2")])
FIND_PRESENT = "SELECT pg_current_snapshot()::text, now()"
FIND_UNSEEN = (
    "SELECT pg_current_snapshot()::text, now(), now() - $2 > $3 * interval '1 hour', c.ids, c.transaction IS NULL"
    " FROM (SELECT) always LEFT JOIN search_change c ON c.kind = $4"
    " AND c.transaction >= pg_snapshot_xmin($1::pg_snapshot)"
    " AND NOT pg_visible_in_snapshot(c.transaction, $1::pg_snapshot)"
)
DELETE_OLD = "DELETE FROM search_change WHERE recorded_at < now() - ? * interval '1 hour'"
HASH_TERMS = (
    "SELECT hashtextextended(term, 0) FROM unnest($1::text[]) WITH ORDINALITY AS t (term, place) ORDER BY place"
)


class IndexMoment(NamedTuple):
    """A state of the database: a snapshot, and the server's time."""

    snapshot: str
    at: Any

    @property
    def order(self) -> tuple[int, int]:
        """Sort key: of two states of a server, the later one has the higher."""
        _, end, running = self.snapshot.split(":")
        return int(end), -len(running.split(",") if running else ())


class ChangedRows(NamedTuple):
    """The ids of rows that changed until a moment; they may be incomplete if `is_outdated`. None: all were deleted."""

    until: IndexMoment
    is_outdated: bool
    ids: set[int] | None


class TermBlock(NamedTuple):
    """Rows as columns, the number of terms of each, and the terms with their frequencies."""

    rows: dict[str, np.ndarray]
    counts: np.ndarray
    terms: np.ndarray
    times: np.ndarray


def find_present(raw: Raw) -> IndexMoment:
    """The state of the database that the transaction sees."""
    [row] = raw.execute(FIND_PRESENT).fetchall()
    return IndexMoment(*row)


def find_unseen(raw: Raw, kind: KeyKind, since: IndexMoment) -> ChangedRows:
    """The changes that the transaction sees, and that an earlier state did not include."""
    rows = raw.execute(FIND_UNSEEN, (since.snapshot, since.at, MAX_AGE_HOURS, int(kind))).fetchall()
    changes = [ids for *_, ids, is_empty in rows if not is_empty]
    changed = None if any(ids is None for ids in changes) else {id_ for ids in changes for id_ in ids}
    return ChangedRows(IndexMoment(*rows[0][:2]), rows[0][2], changed)


def delete_old(db: Connection) -> None:
    """Delete what no reader needs any more from the log."""
    db.execute(DELETE_OLD, (KEPT_HOURS,))


def hash_terms(raw: Raw, terms: Sequence[str]) -> list[int]:
    """The hash of each term, as the copies know it."""
    return [number for (number,) in raw.execute(HASH_TERMS, (list(terms),)).fetchall()]


def read_all(raw: Raw, kind: KeyKind) -> Iterator[TermBlock]:
    """All rows of an index. Those that change meanwhile may be old, missing or there twice."""
    [[pages]] = raw.execute(COUNT_PAGES, (TABLES[kind][0],)).fetchall()
    statement = _build_statement(kind, PAGES)
    for first in range(0, pages, BLOCK_PAGES):
        yield from _read(raw, statement, (f"({first},0)", f"({first + BLOCK_PAGES},0)"))


@contextmanager
def holding_rows(raw: Raw, kind: KeyKind) -> Iterator[None]:
    """Keep the table from being rewritten (VACUUM FULL), which moves rows past a reader of pages."""
    with raw.transaction():
        raw.execute(f"LOCK TABLE {TABLES[kind][0]} IN ACCESS SHARE MODE")
        yield


def read_ids(raw: Raw, kind: KeyKind, ids: Sequence[int]) -> Iterator[TermBlock]:
    """The rows of some ids, as the transaction sees them."""
    return _read(raw, _build_statement(kind, IDS), (list(ids),))


def _build_statement(kind: KeyKind, where: str) -> str:
    table, room, length = TABLES[kind]
    return COLUMNS.format(table=table, room=room, length=length, where=where)


def _read(raw: Raw, statement: str, parameters: Sequence[object]) -> Iterator[TermBlock]:
    """One block, or none if there are no rows."""
    [columns] = raw.execute(statement, parameters, binary=True).fetchall()
    if columns[0] is None:
        return
    *numbers, counts, terms = columns
    rows = {
        name: np.frombuffer(column, type_) for (name, type_), column in zip(ROW_COLUMNS.items(), numbers, strict=True)
    }
    held = np.frombuffer(terms, TERM_COLUMNS)
    yield TermBlock(rows, np.frombuffer(counts, ">i4"), held["term"], held["times"])
