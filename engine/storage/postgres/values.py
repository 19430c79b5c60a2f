"""Values in statements and rows: lists as arrays, every integer as a bigint, and sums of integers as integers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from psycopg.adapt import AdaptersMap, Dumper, Loader
from psycopg.postgres import adapters as default_adapters
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper

from engine.storage.postgres.row_sets import ColumnArray
from engine.storage.sql.fragments import IdList, TextList

if TYPE_CHECKING:
    from psycopg.abc import Buffer

_ARRAY_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\""})


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
