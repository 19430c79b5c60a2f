"""What a database knows about its tables, as text that can be compared."""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING, Any

from engine.storage.sqlite.schema import read_structure

if TYPE_CHECKING:
    from psycopg import Connection

COMMENT_OR_SPACE = re.compile(r"--[^\n]*|\s+")
SQLITE_OBJECTS = (
    "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND (type <> 'table' OR sql LIKE 'CREATE VIRTUAL%')"
)
SQLITE_TABLES = "SELECT name, type, wr, strict FROM pragma_table_list WHERE schema = 'main'"
NUMBERED = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'"
POSTGRES_CATALOGS = {
    # The place of `search`, a column of PostgreSQL alone, is left out: later columns may come before it or after it.
    "columns": """
        SELECT c.relname, c.relkind, row_number() OVER (PARTITION BY c.oid ORDER BY a.attname = 'search', a.attnum),
            a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
            l.collname, a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid)
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
        LEFT JOIN pg_collation l ON l.oid = a.attcollation
        WHERE c.relnamespace = $1::regnamespace AND c.relkind <> 'i'""",
    "options": "SELECT relname, reloptions FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r'",
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = $1::regnamespace AND contype <> 'n'""",
    "indexes": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = $1",
    "triggers": """
        SELECT t.tgname, pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
        WHERE c.relnamespace = $1::regnamespace AND NOT t.tgisinternal""",
    "functions": "SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = $1::regnamespace",
    "views": "SELECT viewname, definition FROM pg_views WHERE schemaname = $1",
    "full text": """
        SELECT c.cfgname, m.maptokentype, m.mapseqno, d.dictname, d.dictinitoption FROM pg_ts_config c
        JOIN pg_ts_config_map m ON m.mapcfg = c.oid JOIN pg_ts_dict d ON d.oid = m.mapdict
        WHERE c.cfgnamespace = $1::regnamespace""",
}


def read_sqlite_catalog(db: sqlite3.Connection) -> dict[str, Any]:
    """Tables with their columns in order, options and references; the statements of everything else."""
    structure = read_structure(db)
    statements = {name: COMMENT_OR_SPACE.sub(" ", sql).split() for name, sql in db.execute(SQLITE_OBJECTS)}
    return {
        "columns": {name: list(columns.items()) for name, columns in structure.tables.items()},
        "indexes": {name: found for name, (found, _) in structure.indexes.items()},
        "tables": set(db.execute(SQLITE_TABLES)),
        "numbered": set(db.execute(NUMBERED)),
        "references": {name: db.execute(f"PRAGMA foreign_key_list({name})").fetchall() for name in structure.tables},
        "statements": statements,
    }


def read_postgres_catalog(raw: Connection[Any], schema: str) -> dict[str, Any]:
    """Everything in a schema: tables, columns, constraints, indexes, triggers, functions, views and full text."""
    return {kind: sorted(map(repr, raw.execute(sql.encode(), (schema,)))) for kind, sql in POSTGRES_CATALOGS.items()}
