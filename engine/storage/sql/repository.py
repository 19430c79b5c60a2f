"""Repositories: classes whose methods run SQL functions in a snapshot or in a transaction.

A method is one line of its class: `load = InSnapshot(load_document)`. The function takes a connection first; the method
has the same parameters without it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from engine.storage.sql.connection import Connection

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


class Database(Protocol):
    """Runs SQL functions: each in a snapshot or a transaction of its own, or all in one snapshot."""

    async def read(
        self,
        work: Callable[Concatenate[Connection, Arguments], Coroutine[Any, Any, Result]],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run `work` in a consistent snapshot."""

    async def write(
        self,
        work: Callable[Concatenate[Connection, Arguments], Coroutine[Any, Any, Result]],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run `work` in a transaction; return when it is durable."""


class SnapshotDatabase:
    """Runs every function on one connection that holds a snapshot, and writes nothing."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def read(
        self,
        work: Callable[Concatenate[Connection, Arguments], Coroutine[Any, Any, Result]],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        return await work(self._connection, *args, **kwargs)

    async def write(
        self,
        work: Callable[Concatenate[Connection, Arguments], Coroutine[Any, Any, Result]],  # noqa: ARG002 - the protocol's
        *_: Arguments.args,
        **__: Arguments.kwargs,
    ) -> Result:
        raise TypeError("A snapshot cannot be written to.")


class Repository:
    """Holds the database that the methods of a repository run in."""

    def __init__(self, database: Database) -> None:
        self.database = database


class InSnapshot(Generic[Arguments, Result]):
    """A method that reads: it runs the function in a snapshot."""

    def __init__(self, function: Callable[Concatenate[Connection, Arguments], Coroutine[Any, Any, Result]]) -> None:
        self._function = function

    def __get__(self, repository: Repository, owner: object = None) -> Callable[Arguments, Coroutine[Any, Any, Result]]:
        return partial(repository.database.read, self._function)


class InTransaction(Generic[Arguments, Result]):
    """A method that writes: it runs the function in a transaction."""

    def __init__(self, function: Callable[Concatenate[Connection, Arguments], Coroutine[Any, Any, Result]]) -> None:
        self._function = function

    def __get__(self, repository: Repository, owner: object = None) -> Callable[Arguments, Coroutine[Any, Any, Result]]:
        return partial(repository.database.write, self._function)
