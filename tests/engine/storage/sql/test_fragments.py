from __future__ import annotations

import pytest

from engine.storage.sql.fragments import for_postgres, for_sqlite


@pytest.mark.parametrize(
    ("written", "sqlite", "postgres"),
    [
        (
            "SELECT value FROM @list(?) WHERE a = ?",
            "SELECT value FROM json_each(?) WHERE a = ?",
            "SELECT value FROM unnest($1) AS listed (value) WHERE a = $2",
        ),
        (
            "FROM @list(?2, j) @then JOIN name n ON n.id = j.value",
            "FROM json_each(?2) j CROSS JOIN name n ON n.id = j.value",
            "FROM unnest($2) AS j (value) JOIN name n ON n.id = j.value",
        ),
        (
            "FROM chunk c @use(chunk_order) WHERE @unindexed c.space = ?",
            "FROM chunk c INDEXED BY chunk_order WHERE +c.space = ?",
            "FROM chunk c  WHERE c.space = $1",
        ),
        ("WHERE @never_indexed n.space IN (1)", "WHERE +n.space IN (1)", "WHERE 0 + n.space IN (1)"),
        ("SELECT @least(a, 1), @greatest(a, 1)", "SELECT MIN(a, 1), MAX(a, 1)", "SELECT LEAST(a, 1), GREATEST(a, 1)"),
        (
            "a @differs ?2 AND b < @infinity",
            "a IS NOT ?2 AND b < 9e999",
            "a IS DISTINCT FROM $2 AND b < 'infinity'::float8",
        ),
        (
            "@position(a, 'b') ORDER BY l @binary",
            "instr(a, 'b') ORDER BY l COLLATE BINARY",
            "strpos(a, 'b') ORDER BY l COLLATE \"C\"",
        ),
        (
            "@json_object(k, v), @joined(k, ',')",
            "json_group_object(k, v), group_concat(k, ',')",
            "json_object_agg(k, v), string_agg(k, ',')",
        ),
        ("search @@ CAST(? AS tsquery)", "search @@ CAST(? AS tsquery)", "search @@ CAST($1 AS tsquery)"),
    ],
)
def test_each_database_reads_its_own_words(written: str, sqlite: str, postgres: str) -> None:
    assert (for_sqlite(written), for_postgres(written)) == (sqlite, postgres)


def test_a_place_without_a_number_follows_the_highest_so_far() -> None:
    assert for_postgres("SELECT ?2, ?, ?1") == "SELECT $2, $3, $1"
