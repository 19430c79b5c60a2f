from __future__ import annotations

import psycopg
import pytest

from engine.storage.postgres.connection import connection_options, execute_many, fetch_rows
from engine.storage.postgres.values import translate_rows

PAIRS = "unnest($1::bigint[], $2::text[]) AS listed (c1, c2)"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (
            "INSERT INTO t (a, b, c) VALUES (?, ?, @greatest(0, 1)) ON CONFLICT DO NOTHING",
            f"INSERT INTO t (a, b, c) SELECT listed.c1, listed.c2, GREATEST(0, 1) FROM {PAIRS} ON CONFLICT DO NOTHING",
        ),
        (
            "INSERT INTO t SELECT ?1, ?2 WHERE EXISTS (SELECT FROM u WHERE id = ?1)",
            f"INSERT INTO t SELECT listed.c1, listed.c2 FROM {PAIRS} WHERE EXISTS (SELECT FROM u WHERE id = listed.c1)",
        ),
        (
            "INSERT INTO t SELECT id FROM u JOIN v ON v.b = ?2 WHERE id = ?1",
            f"INSERT INTO t SELECT id FROM {PAIRS} CROSS JOIN u JOIN v ON v.b = listed.c2 WHERE id = listed.c1",
        ),
        (
            "UPDATE t SET a = (SELECT 1 FROM u WHERE b = ?2) WHERE id = ?1",
            f"UPDATE t SET a = (SELECT 1 FROM u WHERE b = listed.c2) FROM {PAIRS} WHERE id = listed.c1",
        ),
        (
            "DELETE FROM t WHERE a = ? AND b = ? AND c <> 'VALUES ('",
            f"DELETE FROM t USING {PAIRS} WHERE a = listed.c1 AND b = listed.c2 AND c <> 'VALUES ('",
        ),
    ],
)
def test_statements_read_their_rows_from_arrays(written: str, expected: str) -> None:
    assert translate_rows(written, ("bigint", "text")) == expected


def test_values_written_together_are_read_as_they_were(postgres_url: str) -> None:
    rows = [
        (1, 'a "b" \\ {c}, NULL', None, b"\x00\xff", True, 0.5, None),
        (-(2**40), "", "ö\n'\"", None, False, float("inf"), None),
        (3, "NULL", "$1 ?", b"", None, None, None),
    ]
    with psycopg.connect(postgres_url, **connection_options("public")) as raw:
        raw.execute("CREATE TEMP TABLE t (a bigint, b text, c text, d bytea, e boolean, f float8, g bigint)")
        execute_many(raw, "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        assert fetch_rows(raw.execute("SELECT * FROM t")) == rows
        execute_many(raw, "UPDATE t SET b = ? WHERE a = ?", [("x", 1), ("y", 3)])
        execute_many(raw, "DELETE FROM t WHERE a = ? AND b = ?", [(1, "x"), (3, "z")])
        assert fetch_rows(raw.execute("SELECT a, b FROM t")) == [(-(2**40), ""), (3, "y")]
