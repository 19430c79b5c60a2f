from __future__ import annotations

import pytest

from engine.storage.vector_columns import RoundedColumns
from engine.storage.vectors.base import VectorTable
from engine.storage.vectors.in_memory import row_loading
from engine.storage.vectors.in_memory.row_loading import row_size
from engine.storage.vectors.in_memory.row_types import row_bytes
from engine.storage.vectors.in_memory.table_shares import LEAST_GROWTH, TABLES, TableShares

DIM, EACH = 8, 100_000
ROW = row_bytes(RoundedColumns(DIM))


def give_all(shares: TableShares, **counts: int) -> list[int]:
    for table in TABLES:
        shares.record_rows(table, counts[table])
    return [shares.give(table) for table in TABLES]


def test_small_tables_have_equal_shares() -> None:
    assert give_all(TableShares(EACH, DIM), chunks=3, entities=0, relations=9) == [EACH] * 3


def test_a_large_table_gets_what_the_others_do_not_need() -> None:
    rows = EACH // ROW
    chunks, entities, relations = give_all(
        TableShares(EACH, DIM), chunks=rows // 2, entities=rows // 3, relations=9 * rows
    )
    assert chunks == int(LEAST_GROWTH * (rows // 2) * ROW)
    assert entities == int(LEAST_GROWTH * (rows // 3) * ROW)
    assert chunks + entities + relations <= 3 * EACH


def test_tables_may_grow_by_half_if_there_is_enough_for_all() -> None:
    rows = EACH // ROW
    chunks, entities, _ = give_all(TableShares(EACH, DIM), chunks=rows // 2, entities=rows // 3, relations=rows)
    assert chunks >= 1.5 * (rows // 2) * ROW - 1
    assert entities >= 1.5 * (rows // 3) * ROW - 1


def test_tables_that_need_more_than_there_is_share_it_evenly() -> None:
    shares = give_all(TableShares(EACH, DIM), chunks=90 * EACH, entities=99 * EACH, relations=95 * EACH)
    assert max(shares) - min(shares) <= 2


def test_a_table_keeps_its_share_until_it_is_loaded_again_or_gives_it_back() -> None:
    shares = TableShares(EACH, DIM)
    first = shares.give("chunks")
    shares.record_rows("relations", 90 * EACH)
    assert shares.give("relations") < 3 * EACH - first
    shares.take_back("chunks")
    assert shares.give("relations") > 2.4 * EACH


@pytest.fixture
def codes_of_small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give tables of 500 rows codes."""
    monkeypatch.setattr(row_loading, "MIN_CODED_ROWS", 500)
    monkeypatch.setattr(row_loading, "CODED_TABLE_BYTES", 0)


@pytest.mark.usefixtures("codes_of_small_tables")
@pytest.mark.parametrize("has_files", [True, False])
def test_of_what_tables_with_codes_get_codes_are_given_first(*, has_files: bool) -> None:
    shares = TableShares(400 * 1_000, 384, has_files=has_files)
    counts: dict[VectorTable, int] = {"chunks": 400, "entities": 2_000, "relations": 4_000}
    for table, count in counts.items():
        shares.record_rows(table, count)
    needs_first = LEAST_GROWTH * 4_000 * (row_size(384, is_coded=True) - 384)
    given = {table: shares.give(table) for table in counts}
    assert given["chunks"] >= LEAST_GROWTH * 400 * row_size(384, is_coded=False) - 1
    assert (given["relations"] >= needs_first - 1) == has_files
    assert sum(given.values()) <= 3 * 400_000


@pytest.mark.usefixtures("codes_of_small_tables")
def test_a_table_without_codes_keeps_what_it_had_beside_one_whose_codes_do_not_fit() -> None:
    counts: dict[VectorTable, int] = {"chunks": 300, "entities": 480, "relations": 20_000}
    given = []
    for has_files in (True, False):
        shares = TableShares(200_000, 384, has_files=has_files)
        for table, count in counts.items():
            shares.record_rows(table, count)
        given.append([shares.give(table) for table in counts])
    assert given[0] == given[1]
