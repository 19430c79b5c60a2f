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
    if db.dialect is Dialect.POSTGRES:
        fetch = db.fetch_later(f"SELECT nextval('{table}_id_seq') FROM generate_series(1, ?)", (count,))
        return lambda: [row[0] for row in fetch()]
    raised = db.execute_fetchall(
        "UPDATE sqlite_sequence SET seq = seq + ? WHERE name = ? RETURNING seq", (count, table)
    )
    if not raised:
        db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, count))
    last = raised[0][0] if raised else count
    return lambda: range(last - count + 1, last + 1)
