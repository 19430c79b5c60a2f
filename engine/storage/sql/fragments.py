"""What statements for all databases are written with: named fragments, lists as parameters, and timestamps.

Everything else in such a statement is SQL that every database reads. Its placeholders are `?` and `?1`.

`@list(?)` is a table with the column `value`. SQLite reads lists as JSON. PostgreSQL gets them as arrays, whose types
tell integers from texts.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from engine.storage.sql.connection import Dialect

if TYPE_CHECKING:
    from collections.abc import Iterable


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
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
EARLIEST, LATEST = datetime(1000, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)  # with room to add and subtract


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


class IdList(str):
    """Integers as a JSON array."""

    __slots__ = ()


class TextList(str):
    """Texts as a JSON array."""

    __slots__ = ()


def id_list(ids: Iterable[int]) -> IdList:
    """A parameter for a list of integers."""
    return IdList(json.dumps(list(ids)))


def text_list(texts: Iterable[str]) -> TextList:
    """A parameter for a list of texts."""
    return TextList(json.dumps(list(texts)))


def to_micros(time: datetime | None) -> int | None:
    """A time as microseconds; a time without a zone counts as UTC."""
    if time is None:
        return None
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - EPOCH) // MICROSECOND


def from_micros(value: int | None) -> datetime | None:
    """Microseconds as a time; EARLIEST or LATEST for a number beyond the calendar, which makes no row unreadable."""
    if value is None:
        return None
    try:
        return EPOCH + value * MICROSECOND
    except OverflowError:
        return LATEST if value > 0 else EARLIEST
