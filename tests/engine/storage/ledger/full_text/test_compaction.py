"""The structure of an index is read as FTS5 writes it, and an index that is filled again is the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from engine.errors import CorruptLedger
from engine.storage.ledger.full_text.compaction import Level, TermSegment, fill_again, read_levels
from engine.storage.ledger.records.projection import KeyKind
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, only_sqlite
from tests.support.engine_fixture import doc

COOKIE = b"\0\0\0\5"
LEVELS = [Level(2, (TermSegment(1, 9), TermSegment(2, 300))), Level(0, (TermSegment(3, 4),))]
FIRST = COOKIE + bytes((2, 3, 0x81, 0, 2, 2, 1, 1, 9, 2, 5, 0x82, 0x2C, 0, 1, 3, 1, 4))
ADDED = bytes((1, 1, 0, 0, 7))
SECOND = COOKIE + b"\xff\0\0\1" + bytes((2, 3, 0x81, 0, 2, 2, 1, 1, 9)) + ADDED
SECOND += bytes((2, 5, 0x82, 0x2C)) + ADDED + bytes((0, 1, 3, 1, 4)) + ADDED


class FixedRows:
    """A connection on which every statement finds these rows."""

    def __init__(self, rows: Sequence[tuple[Any, ...]]) -> None:
        self.rows = rows

    def execute_fetchall(self, *_: object) -> list[Any]:
        return list(self.rows)


@pytest.mark.parametrize("block", [FIRST, SECOND], ids=["first", "second"])
def test_both_formats_of_a_structure_are_read(block: bytes) -> None:
    assert read_levels(FixedRows([(block,)]), "chunk_fts") == LEVELS  # type: ignore[arg-type]


@pytest.mark.parametrize("rows", [[], [(None,)], [(b"",)], [(FIRST[:-1],)], [(COOKIE + b"\xff\xff\x7f\0\0",)]])
def test_a_damaged_structure_is_a_damaged_ledger(rows: list[tuple[Any, ...]]) -> None:
    with pytest.raises(CorruptLedger, match="chunk_fts"):
        read_levels(FixedRows(rows), "chunk_fts")  # type: ignore[arg-type]


@only_sqlite
async def test_an_index_that_is_filled_again_is_the_same(ledger: LedgerFixture) -> None:
    await ledger.add(doc("one", "The ferries leave the harbor at noon", "港の船は正午に出る", "gone"))
    await ledger.execute("UPDATE chunk SET stems = 'hafen schiff' WHERE text LIKE '%harbor%'")
    await ledger.add_facts("two")
    terms = [f"SELECT * FROM {index}_fts_terms ORDER BY term, doc, offset" for index in ("chunk", "entity")]
    before = [await ledger.rows(sql) for sql in terms]
    assert "hafen" in {row[0] for row in before[0]}
    await ledger.execute("INSERT INTO unsegmented_fts VALUES (0, 0, 1), (1, 0, 1)")
    for kind in KeyKind.CHUNK, KeyKind.NAME:
        await ledger.write(fill_again, kind)
    assert [await ledger.rows(sql) for sql in terms] == before
    assert await ledger.rows("SELECT * FROM unsegmented_fts") == []
