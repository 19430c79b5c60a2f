"""The connection that SQL functions get: its calls are awaited, but run to completion in one thread.

SQL functions are coroutines of a connection. `run_to_completion` drives such a coroutine in the thread of the real
connection, where no call has to wait: a transaction costs one switch of threads instead of one for each statement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Coroutine, Iterable, Sequence

Result = TypeVar("Result")


class Connection(Protocol):
    """A connection inside a transaction or a snapshot."""

    async def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Any:
        """Run one statement."""

    async def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Any:
        """Run one statement for each row of parameters."""

    async def execute_fetchall(self, sql: str, parameters: Sequence[Any] = (), /) -> Iterable[Any]:
        """Run one statement and return its rows."""


class ThreadConnection:
    """A `Connection` on top of SQLite's own, for use in its thread."""

    __slots__ = ("_sqlite",)

    def __init__(self, sqlite: sqlite3.Connection) -> None:
        self._sqlite = sqlite

    async def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> None:
        self._sqlite.execute(sql, parameters)

    async def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> None:
        self._sqlite.executemany(sql, parameters)

    async def execute_fetchall(self, sql: str, parameters: Sequence[Any] = (), /) -> list[Any]:
        return self._sqlite.execute(sql, parameters).fetchall()


def run_to_completion(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine that awaits nothing but a `ThreadConnection`."""
    try:
        work.send(None)
    except StopIteration as done:
        result: Result = done.value
        return result
    work.close()
    raise RuntimeError("a SQL function may await only its connection")
