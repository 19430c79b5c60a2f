"""Named fragments: the few things that statements written once for all databases name, because these differ in them.

Everything else in such a statement is SQL that every database reads. Its placeholders are `?` and `?1`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from engine.storage.sql.connection import Dialect

# What a statement writes; what SQLite reads, and PostgreSQL.
FRAGMENTS = (
    (r"@list\((\?\d*), (\w+)\)", r"json_each(\1) \2", r"unnest(\1) AS \2 (value)"),  # a list of `lists` as a table
    (r"@list\((\?\d*)\)", r"json_each(\1)", r"unnest(\1) AS listed (value)"),
    (r"@then JOIN\b", "CROSS JOIN", "JOIN"),  # the order of these tables is fixed; PostgreSQL's planner chooses
    (r"@use\((\w+)\)", r"INDEXED BY \1", ""),  # the table before is read by this index; PostgreSQL's planner chooses
    (r"@unindexed ", "+", ""),  # the column behind is not looked up in an index; PostgreSQL's planner chooses
    (r"@never_indexed ", "+", "0 + "),  # as before; PostgreSQL's planner would read whole tables
    (r"@infinity\b", "9e999", "'infinity'::float8"),
    (r"@binary\b", "COLLATE BINARY", 'COLLATE "C"'),
    (r"@differs\b", "IS NOT", "IS DISTINCT FROM"),
    (r"@least\b", "MIN", "LEAST"),
    (r"@greatest\b", "MAX", "GREATEST"),
    (r"@position\b", "instr", "strpos"),
    (r"@joined\b", "group_concat", "string_agg"),
    (r"@json_object\b", "json_group_object", "json_object_agg"),
)
_READ = {
    dialect: [(re.compile(written), words[place]) for written, *words in FRAGMENTS]
    for place, dialect in enumerate((Dialect.SQLITE, Dialect.POSTGRES))
}
_PLACE = re.compile(r"\?(\d*)")


@lru_cache(maxsize=2048)
def for_sqlite(sql: str) -> str:
    """A statement as SQLite reads it."""
    return _name(sql, Dialect.SQLITE)


@lru_cache(maxsize=2048)
def for_postgres(sql: str) -> str:
    """A statement as PostgreSQL reads it, with placeholders `$1`."""
    last = 0

    def number(place: re.Match[str]) -> str:
        nonlocal last
        own = int(place[1] or last + 1)
        last = max(last, own)  # as in SQLite: one without a number follows the highest so far
        return f"${own}"

    return _PLACE.sub(number, _name(sql, Dialect.POSTGRES))


def _name(sql: str, dialect: Dialect) -> str:
    for written, words in _READ[dialect]:
        sql = written.sub(words, sql)
    return sql
