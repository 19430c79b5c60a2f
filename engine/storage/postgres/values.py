"""Values in statements and rows: lists as arrays, rows in sets, every integer as a bigint, and sums as integers.

What SQLite runs once for each row of parameters, one statement reads from a table of arrays:

| written                               | PostgreSQL, `rows` is `unnest($1::bigint[], ...) AS listed (c1, ...)` |
|---------------------------------------|------------------------------------------------------------------------|
| `INSERT INTO t VALUES (?, 0) ...`     | `INSERT INTO t SELECT listed.c1, 0 FROM rows ...`                      |
| `SELECT ? FROM u WHERE`               | `SELECT listed.c1 FROM rows CROSS JOIN u WHERE`                        |
| `UPDATE t SET a = ? WHERE`            | `UPDATE t SET a = listed.c1 FROM rows WHERE`                           |
| `DELETE FROM t WHERE`                 | `DELETE FROM t USING rows WHERE`                                       |

No two rows of parameters may update the same row of the table, and none sees what another one did.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from psycopg.adapt import AdaptersMap, Dumper, Loader
from psycopg.postgres import adapters as default_adapters
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper

from engine.storage.sql.fragments import IdList, TextList, for_postgres

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg.abc import Buffer


_ARRAY_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\""})
_PARAMETER = re.compile(r"\$(\d+)")
_PART = re.compile(r"'(?:[^']|'')*'|\w+|.", re.DOTALL)
_TYPES = {bool: "boolean", float: "float8", str: "text", bytes: "bytea"}  # others are integers


class IdListDumper(Dumper):
    """A list of integers as an array of bigint."""

    oid = default_adapters.types["int8"].array_oid

    def dump(self, obj: IdList) -> Buffer:
        return f"{{{obj[1:-1]}}}".encode()


class TextListDumper(Dumper):
    """A list of texts as an array of text."""

    oid = default_adapters.types["text"].array_oid

    def dump(self, obj: TextList) -> Buffer:
        quoted = (f'"{text.translate(_ARRAY_ESCAPES)}"' for text in json.loads(obj))
        return f"{{{','.join(quoted)}}}".encode()


class ColumnArrayDumper(Dumper):
    """The values of a column as an array; the statement names its type."""

    def dump(self, obj: ColumnArray) -> Buffer:
        return f"{{{','.join(map(_write_element, obj))}}}".encode()


def _write_element(value: object) -> str:
    match value:
        case None:
            return "NULL"
        case str():
            return f'"{value.translate(_ARRAY_ESCAPES)}"'
        case bytes():
            return f'"\\\\x{value.hex()}"'
        case bool():
            return "t" if value else "f"
        case float():
            return repr(value)
        case int():
            return str(int(value))
    raise TypeError(f"a column of a statement holds {type(value).__name__}")


class IntegralNumericLoader(Loader):
    """A sum of integers, which PostgreSQL makes a numeric, as an integer."""

    def load(self, data: Buffer) -> int:
        return int(bytes(data))


def build_adapters() -> AdaptersMap:
    """The conversions of all our connections."""
    adapters = AdaptersMap(default_adapters)
    adapters.register_dumper(int, Int8Dumper)
    adapters.register_dumper(str, StrDumper)
    adapters.register_dumper(IdList, IdListDumper)
    adapters.register_dumper(TextList, TextListDumper)
    adapters.register_dumper(ColumnArray, ColumnArrayDumper)
    adapters.register_loader("numeric", IntegralNumericLoader)
    return adapters


class ColumnArray(list[Any]):
    """Values of one column as a parameter."""

    __slots__ = ()


def build_row_set(sql: str, rows: Sequence[Sequence[Any]]) -> tuple[str, list[ColumnArray]]:
    """The statement for all rows at once, and its parameters."""
    columns = [ColumnArray(column) for column in zip(*rows, strict=True)]
    statement = translate_rows(sql, tuple(map(_find_type, columns)))
    return statement, columns


def _find_type(column: Sequence[Any]) -> str:
    """The type of a column in SQL; "" if it has no values."""
    kinds = {type(value) for value in column if value is not None}
    if float in kinds:
        return "float8"
    return next((_TYPES.get(kind, "text" if issubclass(kind, str) else "bigint") for kind in kinds), "")


@lru_cache(maxsize=512)
def translate_rows(sql: str, types: tuple[str, ...]) -> str:
    """A statement that reads its parameters from arrays of these types."""
    names = ", ".join(f"c{number}" for number in range(1, len(types) + 1))
    arrays = ", ".join(f"${number}::{type_ or 'text'}[]" for number, type_ in enumerate(types, 1))
    source = f"unnest({arrays}) AS listed ({names})"

    def column(match: re.Match[str]) -> str:
        return f"listed.c{match[1]}" if types[int(match[1]) - 1] else "NULL"

    parts = _PART.findall(_PARAMETER.sub(column, for_postgres(sql)))
    top = _find_keywords(parts)
    if "VALUES" in top:
        return _select_values(parts, top["VALUES"], source)
    if "FROM" in top and parts[0].upper() != "DELETE":
        place, source = top["FROM"] + 1, f" {source} CROSS JOIN"
    else:
        place, source = top["WHERE"], f"{'USING' if parts[0].upper() == 'DELETE' else 'FROM'} {source} "
    return "".join((*parts[:place], source, *parts[place:]))


def _find_keywords(parts: Sequence[str]) -> dict[str, int]:
    """The first place of each keyword outside of parentheses."""
    depth, found = 0, dict[str, int]()
    for place, part in enumerate(parts):
        depth += (part == "(") - (part == ")")
        if depth == 0 and part.upper() in {"VALUES", "FROM", "WHERE"}:
            found.setdefault(part.upper(), place)
    return found


def _select_values(parts: Sequence[str], place: int, source: str) -> str:
    """An INSERT with VALUES at this place as one that selects from `source`."""
    first = parts.index("(", place)
    depth, end = 1, first
    while depth:
        end += 1
        depth += (parts[end] == "(") - (parts[end] == ")")
    select = ("SELECT ", *parts[first + 1 : end], " FROM ", source)
    return "".join((*parts[:place], *select, *parts[end + 1 :]))
