from __future__ import annotations

import pytest

from engine.storage.postgres.dialect import translate


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("SELECT ? + ?, '?'", "SELECT $1 + $2, '?'"),
        ("SELECT ?2, ?, ?1", "SELECT $2, $3, $1"),
        ("SELECT value FROM json_each(?) WHERE a = ?", "SELECT value FROM unnest($1) AS listed (value) WHERE a = $2"),
        ("x IN (SELECT value FROM json_each(?2))", "x IN (SELECT value FROM unnest($2) AS listed (value))"),
        (
            "FROM json_each(?) j CROSS JOIN name n ON n.id = j.value",
            "FROM unnest($1) AS j (value) JOIN name n ON n.id = j.value",
        ),
        ("FROM led x CROSS JOIN led y CROSS JOIN p ON p.a = x.id", "FROM led x CROSS JOIN led y JOIN p ON p.a = x.id"),
        (
            "d CROSS JOIN (SELECT a FROM b JOIN c ON true) f ON f.a = d.a",
            "d JOIN (SELECT a FROM b JOIN c ON true) f ON f.a = d.a",
        ),
        ("(SELECT 1 FROM a CROSS JOIN b) JOIN c ON true", "(SELECT 1 FROM a CROSS JOIN b) JOIN c ON true"),
        ("FROM chunk c INDEXED BY chunk_order WHERE", "FROM chunk c  WHERE"),
        ("MIN(a, f(b, c)) + MAX(x) + COUNT(*) + MIN(d)", "LEAST(a, f(b, c)) + MAX(x) + COUNT(*) + MIN(d)"),
        ("n CROSS JOIN m USING (a, b) WHERE n.a = ?", "n JOIN m USING (a, b) WHERE n.a = $1"),
        ("json_group_object(k, v), instr(a, 'b')", "json_object_agg(k, v), strpos(a, 'b')"),
        ("WHERE +a = 1 AND (+b = c + 1 OR +d IN (2))", "WHERE a = 1 AND (b = c + 1 OR d IN (2))"),
        ("a IS NOT ?2 AND b IS NOT NULL", "a IS DISTINCT FROM $2 AND b IS NOT NULL"),
        ("retry_at < 9e999 ORDER BY l COLLATE BINARY", "retry_at < 'infinity'::float8 ORDER BY l COLLATE \"C\""),
        ("SELECT 'CROSS JOIN b ON MIN(a, b)'", "SELECT 'CROSS JOIN b ON MIN(a, b)'"),
    ],
)
def test_statements_of_sqlite_become_those_of_postgresql(written: str, expected: str) -> None:
    assert translate(written) == expected
