"""Stores in a file and in a PostgreSQL database: what is tested holds for both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bot.store import BotStore
from tests.support.clock import ManualClock
from tests.support.fake_platform import START
from tests.support.postgres_server import PostgresServer, fresh_database

TEMPLATE = "template_bot"


def create_tables(url: str) -> None:
    async def run() -> None:
        async with BotStore.open(url, ManualClock()):
            pass

    asyncio.run(run())


@pytest.fixture
def postgres_store_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The address of a database with empty tables."""
    postgres_server.ensure_template(TEMPLATE, create_tables)
    with fresh_database(postgres_server, TEMPLATE) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """The file or the address of a new store, one test for each database."""
    return tmp_path / "bot.db" if request.param == "sqlite" else str(request.getfixturevalue("postgres_store_url"))


@pytest.fixture
async def store(place: Path | str) -> AsyncIterator[BotStore]:
    async with BotStore.open(place, ManualClock(START)) as opened:
        yield opened
