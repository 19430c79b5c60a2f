"""Numbers of rows that are given before these are inserted, so that nobody waits for the server to tell them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.sql.connection import Dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.storage.sql.connection import Connection


def draw_ids(db: Connection, table: str, count: int) -> Callable[[], Sequence[int]]:
    """Take ids for new rows of a table whose ids are never reused, in ascending order, greater than all before.

    They are known once they are asked for.
    """
    if not count:
        return list
    if db.dialect is Dialect.POSTGRES:
        fetch = db.fetch_later(f"SELECT nextval('{table}_id_seq') FROM generate_series(1, ?)", (count,))
        return lambda: [row[0] for row in fetch()]
    # As SQLite itself does, which does not rely on the sequence alone.
    highest = f"(SELECT COALESCE(MAX(id), 0) FROM {table})"
    raised = db.execute_fetchall(
        f"UPDATE sqlite_sequence SET seq = MAX(seq, {highest}) + ? WHERE name = ? RETURNING seq", (count, table)
    ) or db.execute_fetchall(
        f"INSERT INTO sqlite_sequence (name, seq) VALUES (?, {highest} + ?) RETURNING seq", (table, count)
    )
    last = raised[0][0]
    return lambda: range(last - count + 1, last + 1)
