"""One source makes the tables of both databases: a new database has what all former versions lead to."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from bot.store.postgres import SCHEMA as POSTGRES_BOT
from bot.store.sqlite_file import SCHEMA as BOT
from engine.storage.ledger.database import SCHEMA as LEDGER
from engine.storage.ledger.postgres.ledger import SCHEMA as POSTGRES_LEDGER
from engine.storage.postgres.connection import connection_options
from engine.storage.postgres.schema import PROCESS_SCHEMA, PostgresSchema
from engine.storage.sql.connection import Dialect
from engine.storage.sql.schema import (
    BOOL,
    BYTES,
    ID,
    INT,
    REAL,
    TEXT,
    TIME,
    Column,
    DialectText,
    Index,
    Table,
    columns,
)
from engine.storage.sql.schema_source import (
    Migration,
    SchemaSource,
    add_column,
    create_index,
    create_table,
    load_numbered_scripts,
    run,
)
from engine.storage.sqlite.schema import Schema
from tests.support.database_catalogs import read_postgres_catalog, read_sqlite_catalog
from tests.support.former_versions import FormerSource
from tests.support.postgres_server import PostgresServer, fresh_database

TOKENIZER = "porter unicode61"
BOTH = (Dialect.SQLITE, Dialect.POSTGRES)

NOTE = Table("note", (Column("id", ID), Column("text", TEXT), Column("pinned", BOOL, default=False)))
STARS = Column("stars", INT, default=3)
BY_STARS = Index("note_stars", "stars, id", where="stars > 0")
TAG = Table(
    "tag",
    (
        Column("note", INT, references="note ON DELETE CASCADE"),
        *columns(TEXT, "name", "color"),
        Column("weight", REAL, default=0),
        Column("data", BYTES, nullable=True),
        Column("time", TIME, nullable=True),
        Column("known_time", TIME, computed="COALESCE(time, 0)"),
    ),
    (Index("tag_name", "name", unique=True, where=DialectText("note", "note <> 0")),),
    key="note, name",
)
FORMER = SchemaSource("tests.support", frozen=1, tables=(NOTE,))
LATER = SchemaSource(
    "tests.support",
    frozen=1,
    tables=(replace(NOTE, columns=(*NOTE.columns, STARS), indexes=(BY_STARS,)), TAG),
    migrations=(
        Migration(add_column("note", STARS), create_index("note", BY_STARS), online="its default fills the column."),
        Migration(create_table(TAG), run(sqlite="UPDATE note SET stars = 1;", postgres="UPDATE note SET stars = 2;")),
    ),
)


def read_postgres(raw: psycopg.Connection[tuple[object, ...]], *schemas: PostgresSchema) -> dict[str, object]:
    """Create or update the tables of these schemas; the catalog of the last one."""
    for schema in schemas:
        schema.migrate(raw, tokenizer=TOKENIZER)
    return read_postgres_catalog(raw, schemas[-1].name)


@pytest.mark.parametrize("schema", [LEDGER, BOT], ids=["ledger", "bot"])
def test_a_file_of_the_first_version_is_updated_to_what_a_new_one_has(schema: Schema) -> None:
    former = replace(schema, source=FormerSource(schema.source.package, frozen=1))
    with closing(sqlite3.connect(":memory:")) as old, closing(sqlite3.connect(":memory:")) as new:
        former.migrate(old, Path("old"), tokenizer=TOKENIZER)
        assert old.execute("PRAGMA user_version").fetchone() == (1,)
        schema.migrate(old, Path("old"), tokenizer=TOKENIZER)
        schema.migrate(new, Path("new"), tokenizer=TOKENIZER)
        assert read_sqlite_catalog(old) == read_sqlite_catalog(new)
        assert {db.execute("PRAGMA user_version").fetchone() for db in (old, new)} == {(schema.source.latest,)}


@pytest.mark.parametrize("schema", [POSTGRES_LEDGER, POSTGRES_BOT, PROCESS_SCHEMA], ids=["ledger", "bot", "processes"])
def test_tables_of_the_first_version_are_updated_to_what_new_ones_are(
    postgres_server: PostgresServer, schema: PostgresSchema
) -> None:
    former = replace(schema, source=FormerSource(schema.source.package, frozen=1))
    before = [] if schema is PROCESS_SCHEMA else [PROCESS_SCHEMA]
    with fresh_database(postgres_server) as one, fresh_database(postgres_server) as other:
        with psycopg.connect(one, **connection_options(schema.name)) as old:
            updated = read_postgres(old, *before, former, schema)
        with psycopg.connect(other, **connection_options(schema.name)) as new:
            assert read_postgres(new, *before, schema) == updated
    assert all(updated[kind] for kind in ("columns", "constraints", "indexes"))
    assert bool(updated["functions"]) == bool(updated["triggers"]) == (schema is POSTGRES_LEDGER)


def test_marks_of_superseded_answers_outlive_the_table_that_held_the_latest(postgres_server: PostgresServer) -> None:
    first = FormerSource(BOT.source.package, frozen=1)
    before = replace(BOT.source, tables=(), migrations=BOT.source.migrations[: 37 - BOT.source.frozen])
    answer = (
        "INSERT INTO answer (id, platform, workspace, channel, thread, room, asker, question, time, message, private)"
        " VALUES ('a', 'slack', 'T1', 'C1', '', 'r', 'ada', 'When?', 1, 'm1', {no})"
    )
    mark = "INSERT INTO superseded_answer VALUES ('a', 'r:message:m2', '[]', {yes}, {no})"
    kept = "SELECT newer, position, marked, added FROM supersession"
    with closing(sqlite3.connect(":memory:")) as old:
        for source in (first, before):
            replace(BOT, source=source).migrate(old, Path("old"))
        for statement in (answer, mark):
            old.execute(statement.format(yes=1, no=0))
        BOT.migrate(old, Path("old"))
        assert old.execute(kept).fetchall() == [("r:message:m2", 1, 1, 0)]
    with fresh_database(postgres_server) as one, psycopg.connect(one, **connection_options(POSTGRES_BOT.name)) as raw:
        read_postgres(raw, PROCESS_SCHEMA, *(replace(POSTGRES_BOT, source=source) for source in (first, before)))
        for statement in (answer, mark):
            raw.execute(statement.format(yes=True, no=False).encode())
        read_postgres(raw, POSTGRES_BOT)
        assert raw.execute(kept).fetchall() == [("r:message:m2", 1, True, False)]


def test_the_steps_of_a_migration_make_what_the_source_has(postgres_server: PostgresServer) -> None:
    with closing(sqlite3.connect(":memory:")) as old, closing(sqlite3.connect(":memory:")) as new:
        former, later = (Schema(source, "notes", "note", "early") for source in (FORMER, LATER))
        former.migrate(old, Path("old"))
        old.execute("INSERT INTO note (text) VALUES ('kept')")
        old.executescript("\n".join(LATER.load_updates(Dialect.SQLITE, 1)))
        later.migrate(new, Path("new"))
        assert read_sqlite_catalog(old) == read_sqlite_catalog(new)
        assert old.execute("SELECT * FROM note").fetchall() == [(1, "kept", 0, 1)]
    with fresh_database(postgres_server) as one, fresh_database(postgres_server) as other:
        former_tables, tables = (PostgresSchema(source, "notes", "notes") for source in (FORMER, LATER))
        with psycopg.connect(one, **connection_options("notes")) as raw:
            read_postgres(raw, PROCESS_SCHEMA, former_tables)
            raw.execute("INSERT INTO notes.note (text) VALUES ('kept')")
            updated = read_postgres(raw, tables)
            assert raw.execute("SELECT * FROM notes.note").fetchall() == [(1, "kept", False, 2)]
        with psycopg.connect(other, **connection_options("notes")) as raw:
            assert read_postgres(raw, tables) == updated


def test_a_migration_is_online_if_it_says_why() -> None:
    assert [
        [script.startswith("-- online: its default fills the column.\n") for script in LATER.load_updates(dialect, 1)]
        for dialect in BOTH
    ] == [[True, False]] * 2


@pytest.mark.parametrize(
    "source", [LEDGER.source, BOT.source, PROCESS_SCHEMA.source], ids=["ledger", "bot", "processes"]
)
def test_frozen_scripts_end_at_the_version_that_the_source_names(source: SchemaSource) -> None:
    for dialect in BOTH if source.tables else (Dialect.POSTGRES,):
        assert max(source.load_chain(dialect)) == source.latest
        assert source.load_updates(dialect, source.latest) == []


@pytest.mark.parametrize(
    ("names", "wrong"),
    [
        (("0002_a.sql", "0003_b.sql", "0003_c.sql"), "0003_c.sql"),
        (("0001_a.sql", "0002_b.sql", "0004_c.sql"), "0004_c.sql"),
        (("0003_a.sql", "0004_b.sql"), "0003_a.sql"),
        (("0002_a.sql", "later.sql"), "later.sql"),
    ],
)
def test_scripts_with_wrong_numbers_are_refused(tmp_path: Path, names: tuple[str, ...], wrong: str) -> None:
    for name in names:
        (tmp_path / name).write_text("SELECT 1;")
    with pytest.raises(ValueError, match=wrong):
        load_numbered_scripts(tmp_path)


def test_scripts_are_read_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("0003_a.sql", "0002_b.sql", "__init__.py"):
        (tmp_path / name).write_text(name)
    assert load_numbered_scripts(tmp_path) == {2: "0002_b.sql", 3: "0003_a.sql"}
