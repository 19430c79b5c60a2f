"""SurrealDB, embedded in this process or a server by address (experimental): statements, and translation of errors.

The embedded engine does not lock its folder: open it in one process only.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surrealdb import AsyncSurreal, RecordID

from engine.errors import StoreError
from engine.storage.library_errors import translate_library_errors

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

NAMESPACE = "threadlore"


class SurrealDatabase:
    """A database at an address: `surrealkv:///folder` (embedded, in files), `mem://`, or `ws://host:8000`."""

    def __init__(self, address: str, connection: Any) -> None:
        self._address = address
        self._connection = connection
        self._is_closed = False

    @classmethod
    async def open(cls, address: str, name: str = "projections") -> SurrealDatabase:
        """Open or create a database. Raises StoreError."""
        with translate_library_errors(Path(address)):
            connection = AsyncSurreal(address)
            await connection.connect(address)
            await connection.use(NAMESPACE, name)
        return cls(address, connection)

    async def run(self, statement: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """Run one statement, or several in a transaction; returns the result of the last one."""
        if self._is_closed:
            raise StoreError(f"The database {self._address} is closed.")
        with translate_library_errors(Path(self._address)):
            reply = await self._connection.query_raw(statement, dict(parameters or {}))
            errors = [str(each["result"]) for each in reply["result"] if each["status"] != "OK"]
            if errors:
                raise StoreError(f"SurrealDB refused a statement: {errors[-1]}")
        return reply["result"][-1]["result"]

    async def close(self) -> None:
        """Release the files. May be called twice."""
        if not self._is_closed:
            self._is_closed = True
            await self._connection.close()


def record_id(table: str, id_: int | list[int]) -> RecordID:
    """The key of a record."""
    return RecordID(table, id_)


@asynccontextmanager
async def open_surreal(address: str) -> AsyncIterator[SurrealDatabase]:
    """A database until the block is left."""
    database = await SurrealDatabase.open(address)
    try:
        yield database
    finally:
        await database.close()
