"""The connection that SQL functions get, whatever the database.

A SQL function is a coroutine whose first parameter is a `Connection` inside a transaction or a snapshot. It awaits
nothing but that connection, because SQLite runs it to completion in a thread.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Sequence

    Work = Callable[["Connection"], Coroutine[Any, Any, Any]]


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
        """Run one statement for each row of parameters."""

    async def execute_fetchall(self, sql: str, parameters: Sequence[Any] = (), /) -> Iterable[Any]:
        """Run one statement and return its rows."""


class StreamingConnection(Connection, Protocol):
    """A connection that also reads more rows than memory holds."""

    def stream(self, sql: str, parameters: Sequence[Any] = (), /) -> AsyncGenerator[tuple[Any, ...], None]:
        """Run one statement and give its rows one by one."""
