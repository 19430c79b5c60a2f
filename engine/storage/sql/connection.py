"""The connection that SQL functions get, whatever the database.

A SQL function is a coroutine whose first parameter is a `Connection` inside a transaction or a snapshot. It awaits
nothing but that connection: `run_to_completion` drives it in the thread of a connection whose calls block, so that a
transaction costs one switch of threads instead of one for each statement.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Sequence

    Work = Callable[["Connection"], Coroutine[Any, Any, Any]]

Result = TypeVar("Result")


class Dialect(StrEnum):
    """The kinds of databases. Full text and few look-ups have one statement for each."""

    SQLITE = "sqlite"
    POSTGRES = "postgres"


class Connection(Protocol):
    """A connection inside a transaction or a snapshot. Placeholders are `?` and `?1`; lists see `lists`."""

    @property
    def dialect(self) -> Dialect: ...

    async def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Any:
        """Run one statement."""

    async def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Any:
        """Run one statement for each row of parameters, in any order or all at once.

        No two rows may update the same row of a table.
        """

    async def fetch_each(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Iterable[Any]:
        """Like `executemany`; returns the rows of all."""

    async def execute_fetchall(self, sql: str, parameters: Sequence[Any] = (), /) -> Iterable[Any]:
        """Run one statement and return its rows."""


class StreamingConnection(Connection, Protocol):
    """A connection that also reads more rows than memory holds."""

    def stream(self, sql: str, parameters: Sequence[Any] = (), /) -> AsyncGenerator[tuple[Any, ...], None]:
        """Run one statement and give its rows one by one."""


def run_to_completion(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine that awaits nothing but a connection whose calls block their thread."""
    try:
        work.send(None)
    except StopIteration as done:
        result: Result = done.value
        return result
    work.close()
    raise RuntimeError("a SQL function may await only its connection")
