"""The connections of SQL functions, whatever the database.

A SQL function is a plain function whose first parameter is a `Connection` inside a transaction or a snapshot. It runs
in a thread, so that a transaction costs one switch of threads instead of one for each statement.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable, Sequence

    Work = Callable[["Connection"], Any]

Result = TypeVar("Result")


class Dialect(StrEnum):
    """The kinds of databases. Full text and few look-ups have one statement for each."""

    SQLITE = "sqlite"
    POSTGRES = "postgres"


class Connection(Protocol):
    """A connection inside a transaction or a snapshot. Statements: see `fragments`."""

    @property
    def dialect(self) -> Dialect: ...

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Any:
        """Run one statement."""

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Any:
        """Run one statement for each row of parameters, in any order or all at once.

        No two rows may update the same row of a table.
        """

    def fetch_each(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> list[Any]:
        """Like `executemany`; returns the rows of all."""

    def fetch_each_later(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> Callable[[], list[Any]]:
        """`fetch_each` like `fetch_later`."""

    def execute_fetchall(self, sql: str, parameters: Sequence[Any] = (), /) -> list[Any]:
        """Run one statement and return its rows."""

    def fetch_later(self, sql: str, parameters: Sequence[Any] = (), /) -> Callable[[], list[Any]]:
        """Run one statement; the result gives its rows, once.

        Nothing waits for the answer of a server until the rows are asked for: statements that do not need each other's
        rows take one round trip.
        """


class StreamingConnection(Protocol):
    """A connection for the event loop that reads as of one moment, also more rows than memory holds."""

    async def run(self, work: Callable[[Connection], Result], /) -> Result:
        """Run a SQL function in the snapshot."""

    def stream(self, sql: str, parameters: Sequence[Any] = (), /) -> AsyncGenerator[tuple[Any, ...], None]:
        """Run one statement and give its rows one by one."""
