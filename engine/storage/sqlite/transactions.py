"""Transactions and snapshots on one connection, each run as a whole in its thread."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from engine.storage.sqlite.connection import ThreadConnection, run_to_completion

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    import aiosqlite

    from engine.storage.sqlite.connection import Connection

    Work = Callable[[Connection], Coroutine[Any, Any, Any]]

Result = TypeVar("Result")


async def run_in_thread(connection: aiosqlite.Connection, work: Callable[[sqlite3.Connection], Result]) -> Result:
    """Run `work` on SQLite's own connection in its thread, as aiosqlite runs a single call."""
    # aiosqlite has no public way; its version is pinned, and a test checks this.
    result: Result = await connection._execute(work, connection._conn)  # type: ignore[no-untyped-call]  # noqa: SLF001
    return result


def run_transaction(db: sqlite3.Connection, works: Sequence[Work]) -> list[Any]:
    """The results of all works, in one transaction: they happen together or not at all."""
    db.execute("BEGIN IMMEDIATE")
    try:
        results = [run_to_completion(work(ThreadConnection(db))) for work in works]
        db.commit()
    except BaseException:
        with suppress(sqlite3.Error):
            db.rollback()
        raise
    return results


def run_snapshot(db: sqlite3.Connection, work: Work) -> Any:
    """The result of a work that reads as of one moment."""
    db.execute("BEGIN")
    try:
        return run_to_completion(work(ThreadConnection(db)))
    finally:
        with suppress(sqlite3.Error):
            db.rollback()
