"""The file of the bot's tables: old ones are led to the present schema, and what is asked often never reads it all."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bot.platform.models import Location
from bot.store import BotStore
from bot.store.database import Database
from engine.storage.sqlite.timestamps import EPOCH
from tests.support.engines import find_files_containing
from tests.support.fake_platform import START

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from bot.store.database import Row

FIRST = Path(__file__).parent / "schema_1.sql"
ROOF = Location("slack", "T1", "ROOF", "m1")


def old(path: Path, script: str = "") -> Path:
    """A file as the first version made it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"{FIRST.read_text()}\n{script}\nPRAGMA user_version = 1;")
    return path


def shape(path: Path) -> dict[str, Any]:
    """The columns and keys of all tables, and what the indexes are of."""
    with closing(sqlite3.connect(path)) as connection:
        names = connection.execute("SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
        pragmas = {"table": ("table_info", "foreign_key_list"), "index": ("index_xinfo",)}
        return {
            name: [connection.execute(f"PRAGMA {pragma}({name})").fetchall() for pragma in pragmas[kind]]
            for kind, name in names
        }


async def test_an_old_file_becomes_what_a_new_one_is(tmp_path: Path) -> None:
    path = old(tmp_path / "old.db")
    for each in (path, tmp_path / "new.db"):
        async with BotStore.open(each):
            pass
    assert shape(path) == shape(tmp_path / "new.db")


async def test_what_an_old_file_held_is_there_and_can_be_found(tmp_path: Path) -> None:
    answer = (
        "'{id}', 'slack', 'T1', 'ROOF', 'm1', 'slack:T1:ROOF', 'ada', 'Who?', 1, '{message}', 0, 'swordfish', '', '[]',"
        " NULL, 'He.', '[]', '[]', '[]', '{mark}', 'done'"
    )
    rows = [
        answer.format(id=id_, message=message, mark=mark)
        for id_, message, mark in (("a1", "m1", "ROOF:m2,m3"), ("a2", "m9", ""), ("a3", "m8", 'odd"\\'))
    ]
    path = old(tmp_path / "bot.db", "".join(f"INSERT INTO answer VALUES ({row});\n" for row in rows))
    async with BotStore.open(path) as store:
        for message, id_ in (("m1", "a1"), ("m2", "a1"), ("m3", "a1"), ("m9", "a2"), ("m8", "a3")):
            found = await store.answers.get_by_message(ROOF, message)
            assert found is not None
            assert (found.id, found.text, found.state) == (id_, "He.", "done")
        assert await store.answers.get_by_message(ROOF, "m4") is None
        await store.compact()
    assert find_files_containing(tmp_path, "swordfish") == []


async def test_who_opted_out_by_an_old_file_is_out_still(tmp_path: Path) -> None:
    path = old(tmp_path / "bot.db", "INSERT INTO opted_out VALUES ('slack', 'T1', 'ada');")
    async with BotStore.open(path) as store:
        assert await store.opt_outs.is_opted_out("slack", "T1", "ada", START)
        await store.opt_outs.opt_in("slack", "T1", "ada", START)
        assert not await store.opt_outs.is_opted_out("slack", "T1", "ada")


async def test_a_channel_of_an_old_file_was_compared_up_to_the_last_message_that_is_known(tmp_path: Path) -> None:
    rows = [
        *(f"room VALUES ('{name}', 'slack', 'T1', '{name}', '{name}', 7, 1)" for name in ("ROOF", "HALL")),
        *(f"message VALUES ('ROOF', 'm{time}', '', 'ada', {time}, '', '', 0, 1)" for time in (8, 9)),
    ]
    path = old(tmp_path / "bot.db", "".join(f"INSERT INTO {row};\n" for row in rows))
    async with BotStore.open(path) as store:
        compared = [await store.channels.get_synced_until(name) for name in ("ROOF", "HALL", "YARD")]
    assert compared == [EPOCH + timedelta(microseconds=9), EPOCH + timedelta(microseconds=7), None]


async def test_a_step_that_fails_leaves_the_old_file_as_it_was(tmp_path: Path) -> None:
    path = old(tmp_path / "bot.db", "DROP INDEX message_author;")
    before = shape(path)
    with pytest.raises(sqlite3.OperationalError):
        async with BotStore.open(path):
            pass
    assert shape(path) == before


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
        "COVERING INDEX answer_message (room=? AND message=?)",
        "PRIMARY KEY (message=?)",
    ]


@pytest.mark.parametrize(
    ("ask", "plan"),
    [
        (lambda store: store.unconfirmed_deletions.list_next(ROOF.room, 10), "SEARCH n USING PRIMARY KEY (room=?)"),
        (lambda store: store.files.list_pending(ROOF.room, 10), "SEARCH file USING INDEX file_message (room=?)"),
    ],
)
async def test_what_a_channel_still_lacks_is_found_without_reading_all_its_messages(
    tmp_path: Path, ask: Callable[[BotStore], Awaitable[object]], plan: str
) -> None:
    [first, *_] = await planned(tmp_path, ask)
    assert first == plan


async def planned(folder: Path, ask: Callable[[BotStore], Awaitable[object]]) -> list[str]:
    """How something is looked up."""
    async with Database.open(folder / "bot.db") as database:
        noted = Asked(database)
        await ask(BotStore(noted))  # type: ignore[arg-type]
        return await noted.plans()
