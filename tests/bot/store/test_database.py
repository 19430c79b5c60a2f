"""The database of the bot: files of an early version are refused, and frequent queries use an index."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from bot.platform.models import Location
from bot.store import BotStore, VerifiedAnswer
from bot.store.database import Database, Row
from bot.store.schema import SOURCE
from bot.store.sqlite_file import SqliteStore
from engine.clock import SYSTEM_CLOCK
from engine.errors import StoreError
from engine.storage.postgres import portable
from tests.support.clock import ManualClock
from tests.support.fake_platform import START

ROOF = Location("slack", "T1", "ROOF", "m1")


async def test_a_file_of_an_early_version_is_refused_with_a_way_out(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "bot.db")) as connection:
        connection.executescript("CREATE TABLE inbox (id INTEGER PRIMARY KEY); PRAGMA user_version = 7;")
    with pytest.raises(StoreError, match="early version") as caught:
        async with BotStore.open(tmp_path / "bot.db", ManualClock()):
            pass
    assert "ingest your files again" in caught.value.hint


async def test_tables_without_row_ids_begin_with_their_keys(tmp_path: Path) -> None:
    """Otherwise SQLite's check of a restored copy finds a NULL in a column before the key, where there is none."""
    async with BotStore.open(tmp_path / "bot.db", ManualClock()):
        pass
    with closing(sqlite3.connect(tmp_path / "bot.db")) as connection:
        tables = connection.execute("SELECT name FROM pragma_table_list WHERE wr AND type = 'table'").fetchall()
        assert tables
        for (table,) in tables:
            columns = [(row[5], row[1]) for row in connection.execute(f"PRAGMA table_info({table})")]
            keys = sorted(column for column in columns if column[0])
            assert sorted(columns[: len(keys)]) == keys, table


class Asked:
    """Notes what is read of a database."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.asked: list[tuple[str, Sequence[Any]]] = []

    async def fetch_all(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        self.asked.append((sql, parameters))
        return await self.database.fetch_all(sql, parameters)

    async def fetch_one(self, sql: str, parameters: Sequence[Any] = ()) -> Row | None:
        return next(iter(await self.fetch_all(sql, parameters)), None)

    async def plans(self) -> list[str]:
        """How all of it is looked up."""
        found = [await self.database.fetch_all(f"EXPLAIN QUERY PLAN {sql}", values) for sql, values in self.asked]
        return [row[3] for rows in found for row in rows]


@pytest.mark.parametrize(
    ("ask", "index"),
    [
        (lambda store: store.answers.get("a1"), "answer USING PRIMARY KEY"),
        (lambda store: store.answers.list_in_thread(ROOF, START, 10), "answer_thread (room=? AND thread=? AND time<?)"),
        (
            lambda store: store.answers.list_in_thread(ROOF, START, 10, asker="ada"),
            "answer_thread (room=? AND thread=? AND",
        ),
        (lambda store: store.answers.has_answered_in(ROOF.room, "m1"), "answer_thread (room=? AND thread=?)"),
        (lambda store: store.answers.get_latest(ROOF.room, "m1", "ada"), "answer_thread (room=? AND thread=?)"),
        (lambda store: store.answers.get_latest(ROOF.room, ""), "answer_room (room=?)"),
        (lambda store: store.answers.list_disliked("slack", "T1", START, 3), "answer_time (time>?)"),
        (lambda store: store.feedback.count("slack", "T1", START), "answer_time (time>?)"),
        (lambda store: store.messages.list_before(START, 500), "message_age (time<?)"),
        (lambda store: store.messages.get_last_time(ROOF.room, "ada"), "message_author (author=? AND room=?)"),
    ],
)
async def test_what_is_asked_often_is_found_by_an_index_and_in_its_order(
    tmp_path: Path, ask: Callable[[BotStore], Awaitable[object]], index: str
) -> None:
    first, *rest = await planned(tmp_path, ask)
    assert index in first
    assert not [plan for plan in rest if "SCAN" in plan or "B-TREE" in plan]


async def test_the_answer_that_stands_in_a_message_is_found_without_looking_at_others(tmp_path: Path) -> None:
    plans = await planned(tmp_path, lambda store: store.answers.get_by_message(ROOF, "m1"))
    looked = [plan.partition("USING ")[2] for plan in plans if "SCAN" in plan or "SEARCH" in plan]
    assert looked[:3] == [
        "PRIMARY KEY (id=?)",
        "COVERING INDEX answer_question (room=? AND message=?)",
        "PRIMARY KEY (message=?)",
    ]


@pytest.mark.parametrize(
    ("ask", "plan"),
    [
        (lambda store: store.unconfirmed_deletions.list_next(ROOF.room, 10), "SEARCH n USING PRIMARY KEY (room=?)"),
        (lambda store: store.files.list_pending(ROOF.room, 10), "SEARCH file USING INDEX file_message (room=?)"),
        (
            lambda store: store.messages.list_by_ids(ROOF.room, ["m1"]),
            "SEARCH message USING PRIMARY KEY (room=? AND id=?)",
        ),
        (
            lambda store: store.messages.list_by_thread(ROOF.room, "m1"),
            "SEARCH message USING PRIMARY KEY (room=? AND id=?)",
        ),
        (
            lambda store: store.messages.list_by_document("d1"),
            "SEARCH message USING INDEX message_document (document=?)",
        ),
    ],
)
async def test_single_messages_and_what_is_lacking_are_found_without_reading_the_channel(
    tmp_path: Path, ask: Callable[[BotStore], Awaitable[object]], plan: str
) -> None:
    [first, *_] = await planned(tmp_path, ask)
    assert first == plan


async def planned(folder: Path, ask: Callable[[BotStore], Awaitable[object]]) -> list[str]:
    """How something is looked up."""
    async with SqliteStore.open(folder / "bot.db", SYSTEM_CLOCK) as database:
        noted = Asked(database)
        await ask(BotStore(noted, ManualClock()))  # type: ignore[arg-type]
        return await noted.plans()


def test_every_table_of_a_bot_in_a_database_is_in_its_backup(postgres_store_url: str) -> None:
    """Tables that only PostgreSQL has would be lost: name here those that describe running processes."""
    tables = portable.list_columns(SOURCE)
    with psycopg.connect(postgres_store_url) as raw:
        rows = raw.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'threadlore_bot'"
        ).fetchall()
    assert {(table, column) for table, columns in tables.items() for column in columns} <= set(rows)
    assert {table for table, _ in rows} - set(tables) == {"schema_version", "suspension", "visibility_change"}


async def test_a_row_that_cannot_be_read_hides_no_other(store: BotStore) -> None:
    for id_ in ("v1", "v2", "v3"):
        verified = VerifiedAnswer(id_, ROOF, "m1", "Who?", "Ada.", "ada", "", "bob", START, keys=frozenset({"k"}))
        await store.verified_answers.save(verified)
    await store._database.execute("UPDATE verified_answer SET sources = '[{\"mood\": 1}]' WHERE id = 'v2'")
    assert {answer.id for answer in await store.verified_answers.list_in_room(ROOF.room)} == {"v1", "v3"}
