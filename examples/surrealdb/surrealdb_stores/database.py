"""SurrealDB, embedded in this process or a server by address: statements, and translation of errors.

The embedded engine does not lock its folder: open it in one process only.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surrealdb import AsyncSurreal, RecordID, SurrealError

from engine.errors import DatabaseUnreachable, StoreError
from engine.scheduling.supervisor import current_task, is_task_exit, wait_for_completion
from engine.storage.files import remove_tree
from engine.storage.library_errors import map_library_error, translate_library_errors
from surrealdb_stores.address import FILES, parse_surreal_address
from surrealdb_stores.copy import copy_records

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from surrealdb_stores.address import SurrealAddress

FILES_FAILED = "underlying datastore"  # in messages of the library


class SurrealDatabase:
    """A database at an address; a lost connection to a server is opened again."""

    def __init__(self, address: SurrealAddress) -> None:
        self._address = address
        self._connection: Any = None
        self._turn = asyncio.Lock()  # of the one statement that runs
        self._is_closed = False

    @classmethod
    async def open(cls, address: str) -> SurrealDatabase:
        """Open or create the database at an address, see `parse_surreal_address`. Raises StoreError."""
        os.environ.setdefault("SURREAL_SYNC_DATA", "true")  # else a transaction may be lost when the power fails
        database = cls(parse_surreal_address(address))
        if (folder := database._address.folder) is not None:
            remove_tree(_name_spare(folder))  # of a process that was killed
        await database.run("RETURN NONE")
        return database

    async def run(self, statement: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """Run one statement, or several in a transaction; returns the result of the last one.

        It may run twice if the connection to a server is lost meanwhile.
        """
        if self._is_closed:
            raise StoreError(f"The database {self._address.label} is closed.")
        was_connected = self._connection is not None
        try:
            reply = await self._request(statement, parameters or {})
        except DatabaseUnreachable:
            if not was_connected:
                raise
            reply = await self._request(statement, parameters or {})
        return _read_reply(reply, self._address)

    async def compact(self) -> None:
        """Replace the folder by a copy, because the library never frees deleted bytes; statements wait meanwhile.

        A crash in the middle leaves the old folder, the new one, or none. A server compacts its own files.
        """
        if (folder := self._address.folder) is None:
            return
        async with self._turn:
            with self._translate_errors():
                source, spare = await self._connect(), replace(self._address, url=f"{FILES}{_name_spare(folder)}")
                remove_tree(_name_spare(folder))
                target = await _open_connection(spare)
                try:
                    await copy_records(partial(_query, source, self._address), partial(_query, target, spare))
                except BaseException:
                    await _close_quietly(target)
                    remove_tree(_name_spare(folder), ignore_errors=True)
                    raise
                await _close_quietly(target)
                self._connection = None
                await _close_quietly(source)
                remove_tree(folder)
                _name_spare(folder).rename(folder)

    async def close(self) -> None:
        """Release the files or the connection. May be called twice."""
        self._is_closed = True
        connection, self._connection = self._connection, None
        if connection is not None:
            await _close_quietly(connection)

    async def _request(self, statement: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The reply; a caller that is cancelled waits for it, so that what it reads next contains what it wrote."""
        async with self._turn:
            with self._translate_errors():
                connection = await self._connect()
                reply: dict[str, Any] = await wait_for_completion(connection.query_raw(statement, dict(parameters)))
        return reply

    async def _connect(self) -> Any:
        """The connection, opened if there is none."""
        if self._connection is None:
            self._connection = await _open_connection(self._address)
        return self._connection

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Translate every error of the library raised inside.

        Once a connection is lost, the library raises KeyError or CancelledError in statements under way.
        """
        if not self._address.is_server:
            with translate_library_errors(Path(self._address.label)):
                yield
            return
        try:
            yield
        except SurrealError as error:
            raise StoreError(f"SurrealDB at {self._address.label} refused the connection: {error}") from error
        except BaseException as error:
            if is_task_exit(error, current_task()):
                raise
            self._connection = None
            message = f"SurrealDB at {self._address.label} does not answer: {type(error).__name__}: {error}"
            raise DatabaseUnreachable(message) from error


async def _open_connection(address: SurrealAddress) -> Any:
    connection: Any = AsyncSurreal(address.url)
    try:
        await connection.connect()
        if address.user:
            scope = {"namespace": address.namespace, "database": address.database}
            await connection.signin({**scope, "username": address.user, "password": address.password})
        await connection.use(address.namespace, address.database)
    except BaseException:
        await _close_quietly(connection)
        raise
    return connection


async def _query(connection: Any, address: SurrealAddress, statement: str, parameters: dict[str, Any]) -> Any:
    return _read_reply(await connection.query_raw(statement, parameters), address)


def _read_reply(reply: dict[str, Any], address: SurrealAddress) -> Any:
    """The result of the last statement. Raises StoreError if one failed."""
    if "error" in reply:
        raise StoreError(f"SurrealDB refused a statement: {reply['error'].get('message', '')}")
    errors = [str(each["result"]) for each in reply["result"] if each["status"] != "OK"]
    if errors and FILES_FAILED in errors[-1] and not address.is_server:
        raise map_library_error(RuntimeError(errors[-1]), Path(address.label))
    if errors:
        raise StoreError(f"SurrealDB refused a statement: {errors[-1]}")
    return reply["result"][-1]["result"]


def _name_spare(folder: Path) -> Path:
    """Where the copy of a folder is made."""
    return folder.with_name(f"{folder.name}.new")


async def _close_quietly(connection: Any) -> None:
    with suppress(Exception):  # the connection may be lost
        await connection.close()


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
