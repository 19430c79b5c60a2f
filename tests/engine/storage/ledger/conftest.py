from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from engine.clock import SYSTEM_CLOCK
from engine.storage.ledger import Ledger
from engine.storage.ledger.postgres.ledger import PostgresLedger
from tests.conftest import is_drawn
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture
from tests.support.postgres_server import PostgresServer, fresh_database

TEMPLATE = "template_ledger"


def pytest_itemcollected(item: pytest.Item) -> None:
    """Run one in four tests on PostgreSQL always; there the others are long."""
    parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    if parameters.get("place") == "postgres" and not is_drawn(item.name, 4):
        item.add_marker("long")


def create_tables(url: str) -> None:
    async def run() -> None:
        await (await PostgresLedger.open(url, clock=SYSTEM_CLOCK)).close()

    asyncio.run(run())


@pytest.fixture
def postgres_ledger_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The address of a database with the tables of an empty ledger."""
    postgres_server.ensure_template(TEMPLATE, create_tables)
    with fresh_database(postgres_server, TEMPLATE) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """The file or the address of a new ledger, one test for each database."""
    return tmp_path / "ledger.db" if request.param == "sqlite" else str(request.getfixturevalue("postgres_ledger_url"))


@pytest.fixture
async def ledger(place: Path | str) -> AsyncIterator[LedgerFixture]:
    """An empty ledger, with short ways to fill it."""
    opened = await (
        PostgresLedger.open(place, clock=SYSTEM_CLOCK)
        if isinstance(place, str)
        else Ledger.open(place, clock=SYSTEM_CLOCK)
    )
    yield LedgerFixture(opened)
    await opened.close()
