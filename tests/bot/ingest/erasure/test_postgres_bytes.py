"""What was forgotten is in no file of a PostgreSQL database but its log."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psycopg
import pytest

from bot.capabilities.erasure.requests import ForgetMe
from tests.bot.ingest.erasure.test_histories import perform
from tests.support.bot_fixture import open_bot
from tests.support.databases import find_database, use_server
from tests.support.engine_fixture import find_files_containing
from tests.support.postgres_server import PostgresServer, start_server

WORDS = tuple(f"zq{number}wallaby" for number in range(20))


async def forget_all_words(home: Path) -> None:
    """Ada says a word in each message; then she has everything forgotten that she said."""
    async with open_bot(home) as bot:
        place = await bot.join("C1", "ada", "bob")
        for number, word in enumerate(WORDS):
            await bot.post(place, "ada", f"Mina met Otto at the {word}.")
            await bot.post(place, "bob", f"Rolf saw the {number} boats.")
        await bot.engine.wait_until_indexed()
        await bot.ask(place, "bob", "Whom did Mina meet?")
        await perform(bot, "ada", place, ForgetMe())
        await bot.engine.wait_until_indexed()
        await bot.engine.maintenance.compact()
        await bot.store.compact()


def list_files_with_words(server: PostgresServer, address: str) -> list[str]:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        [(number,)] = connection.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchall()
    folder = server.folder / "data" / "base" / str(number)
    return sorted({name for word in WORDS for name in find_files_containing(folder, word)})


@pytest.mark.long
def test_after_compaction_tables_and_indexes_hold_no_forgotten_word(tmp_path: Path) -> None:
    server = start_server()
    try:
        with use_server(server):
            asyncio.run(forget_all_words(tmp_path / "home"))
            assert list_files_with_words(server, find_database(tmp_path / "home")) == []
        assert find_files_containing(tmp_path, WORDS[0]) == []
    finally:
        server.release()
