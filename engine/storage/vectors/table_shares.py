"""The memory that the tables of vectors share."""

from __future__ import annotations

from typing import get_args

from engine.storage.vector_columns import RoundedColumns
from engine.storage.vectors.base import VectorTable
from engine.storage.vectors.row_arrays import SKETCHED_ROWS, find_file_rows, row_bytes

TABLES: tuple[VectorTable, ...] = get_args(VectorTable)
GROWTH = 1.5  # times the rows that a table has, for which it is given memory if there is enough
LEAST_SHARE = 4  # one of so many parts of an equal share is given to a table without rows


class TableShares:
    """Gives tables what their rows take, rounded; what is too little for all is divided evenly, and so is the rest.

    First each gets what must be in memory for a fast search, the keys and sketches of its rows, if there is enough.
    `equal_share`: bytes for each table if all are as large. A table keeps what it was given until it is loaded again.
    """

    def __init__(self, equal_share: int, dim: int) -> None:
        self._least = equal_share // LEAST_SHARE
        self._total = equal_share * len(TABLES)
        self._dim = dim
        self._row_bytes, self._sketched_bytes = (
            row_bytes(RoundedColumns(dim, is_sketched=is_sketched)) for is_sketched in (False, True)
        )
        self._counts: dict[VectorTable, int] = dict.fromkeys(TABLES, 0)
        self._given: dict[VectorTable, int] = {}

    def record_rows(self, table: VectorTable, count: int) -> None:
        """Record how many rows a table has."""
        self._counts[table] = count

    def give(self, table: VectorTable) -> int:
        """The bytes for a table that is loaded now."""
        self.take_back(table)
        free = self._total - sum(self._given.values())
        counts = {each: count for each, count in self._counts.items() if each not in self._given}
        shares = {each: self._find_least(count) for each, count in counts.items()}
        if sum(shares.values()) > free:
            shares = dict.fromkeys(counts, 0)
        free -= sum(shares.values())
        wanted = {each: self._find_need(count) - shares[each] for each, count in counts.items()}
        for place, each in enumerate(sorted(wanted, key=lambda each: wanted[each])):
            more = min(wanted[each], free // (len(wanted) - place))
            shares[each] += more
            free -= more
        self._given[table] = shares[table] + free // len(counts)
        return self._given[table]

    def take_back(self, table: VectorTable) -> None:
        """Free what a table was given that is not in memory."""
        self._given.pop(table, None)

    def _find_least(self, rows: int) -> int:
        return find_file_rows(rows) * (self._sketched_bytes - self._dim) if rows >= SKETCHED_ROWS else 0

    def _find_need(self, rows: int) -> int:
        each = self._sketched_bytes if rows >= SKETCHED_ROWS else self._row_bytes
        return max(self._least, int(GROWTH * rows * each))
