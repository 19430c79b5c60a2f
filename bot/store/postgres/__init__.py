"""The bot's tables in a PostgreSQL database."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bot.store.database import Database
from engine.storage.postgres.database import PostgresDatabase
from engine.storage.postgres.schema import PostgresSchema

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SCHEMA = PostgresSchema("bot.store.postgres", "bot's database", "threadlore_bot")


class PostgresStore(PostgresDatabase, Database):
    """The tables in a schema of the database."""

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, process: int | None = None) -> AsyncIterator[PostgresStore]:
        """Connect, and create the tables. Raises StoreError."""
        database = cls(url, SCHEMA, process)
        await database._start()
        try:
            yield database
        finally:
            await database.close()

    async def compact(self) -> None:
        """Free the space of deleted rows in all tables."""
        await self.vacuum()
