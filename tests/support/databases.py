"""Which database the engines and bots of a test run use: files, or with `--database=postgres` a server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bot.store import BotStore
from engine.clock import SYSTEM_CLOCK
from engine.storage.ledger.postgres.ledger import PostgresLedger
from tests.support.postgres_server import PostgresServer

TEMPLATE = "template_threadlore"


def create_tables(url: str) -> None:
    """Create the empty tables of the engine and of the bot."""

    async def run() -> None:
        await (await PostgresLedger.open(url, clock=SYSTEM_CLOCK)).close()
        async with BotStore.open(url, SYSTEM_CLOCK):
            pass

    asyncio.run(run())


@dataclass(slots=True)
class ServerDatabases:
    """A database for each data directory, removed at the end."""

    server: PostgresServer
    names: dict[Path, str] = field(default_factory=dict)

    def find(self, home: Path) -> str:
        """The address of a data directory's database."""
        if home not in self.names:
            self.names[home] = self.server.create_database(TEMPLATE)
        return self.server.url(self.names[home])

    def drop_all(self) -> None:
        """Remove all databases."""
        for name in self.names.values():
            self.server.drop_database(name)
        self.names.clear()


_current: list[ServerDatabases] = []


def find_database(home: Path) -> str:
    """The address of the database of a data directory; "" if the test run uses files."""
    return _current[-1].find(home) if _current else ""


@contextmanager
def use_server(server: PostgresServer) -> Iterator[None]:
    """While inside, each data directory has a database of the server."""
    server.ensure_template(TEMPLATE, create_tables)
    databases = ServerDatabases(server)
    _current.append(databases)
    try:
        yield
    finally:
        _current.remove(databases)
        databases.drop_all()
