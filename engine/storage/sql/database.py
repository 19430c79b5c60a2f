"""A SQL database: writes that share commits, and reads in snapshots."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from engine.errors import EngineClosed

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from engine.storage.sql.connection import Connection, StreamingConnection
    from engine.storage.sql.group_commit import GroupCommit

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


class SqlDatabase(ABC):
    """Runs SQL functions, each in a snapshot or a transaction of its own. Waiting writes share a commit.

    `name`: how messages call the database.
    """

    waited_seconds = 0.0  # of reads for a connection, in all
    name: str
    _commits: GroupCommit

    def check_open(self) -> None:
        """Raise EngineClosed once the database is closed, or about to be."""
        if self._commits.is_closing:
            raise EngineClosed(f"The {self.name} is closed.")

    def check_writable(self) -> None:  # noqa: B027 - most databases can be written
        """Raise the error that says why nothing can be written, if so."""

    async def write(
        self,
        work: Callable[Concatenate[Connection, Arguments], Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run `work` in a transaction; return when it is durable. It may run again after a rollback."""
        self.check_open()
        self.check_writable()
        result: Result = await self._commits.submit(lambda db: work(db, *args, **kwargs))
        return result

    @abstractmethod
    async def read(
        self,
        work: Callable[Concatenate[Connection, Arguments], Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Run `work` in a consistent snapshot."""

    @abstractmethod
    def stream_connection(self) -> AbstractAsyncContextManager[StreamingConnection]:
        """A connection of its own that reads as of one moment, for slow consumers of many rows."""

    @abstractmethod
    def abandon(self) -> None:
        """Make all calls fail from now on: other processes may have taken over the work of this one."""

    @abstractmethod
    async def close(self) -> None:
        """Finish waiting writes, and release the connections."""
