from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg
import pytest

from engine.storage.postgres.connection import BlockingConnection, connection_options
from engine.storage.sql.connection import Connection
from engine.storage.sql.ids import draw_ids
from engine.storage.sql.schema import ID
from engine.storage.sqlite.database_file import ThreadConnection


@contextmanager
def opened(database: str, request: pytest.FixtureRequest) -> Iterator[Connection]:
    """A connection to a database with an empty table."""
    if database == "sqlite":
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as file:
            file.execute(f"CREATE TABLE thing (id {ID.sqlite})")
            yield ThreadConnection(file)
    else:
        url = request.getfixturevalue("postgres_url")
        with psycopg.connect(url, **connection_options("public")) as raw:
            raw.execute(f"CREATE TABLE thing (id {ID.postgres})".encode())
            yield BlockingConnection(raw)


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_ids_are_drawn_in_order_and_never_twice(database: str, request: pytest.FixtureRequest) -> None:
    with opened(database, request) as db:
        draws = [draw_ids(db, "thing", count) for count in (2, 0, 3)]
        assert [list(draw()) for draw in draws] == [[1, 2], [], [3, 4, 5]]
        db.executemany("INSERT INTO thing (id) VALUES (?)", [(1,), (4,)])
        [[following]] = db.execute_fetchall("INSERT INTO thing DEFAULT VALUES RETURNING id")
        assert following == 6
        db.execute("DELETE FROM thing")
        assert list(draw_ids(db, "thing", 1)()) == [7]


def test_ids_are_above_the_rows_of_a_table_whose_sequence_is_gone() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as file:
        file.execute(f"CREATE TABLE thing (id {ID.sqlite})")
        file.execute("INSERT INTO thing (id) VALUES (7)")
        file.execute("DELETE FROM sqlite_sequence")
        assert list(draw_ids(ThreadConnection(file), "thing", 2)()) == [8, 9]
        file.execute("UPDATE sqlite_sequence SET seq = 1")
        assert list(draw_ids(ThreadConnection(file), "thing", 1)()) == [8]
