"""The memory that the tables of vectors share."""

from __future__ import annotations

from typing import get_args

from engine.storage.vector_columns import RoundedColumns
from engine.storage.vectors.base import VectorTable
from engine.storage.vectors.in_memory.row_arrays import row_bytes

TABLES: tuple[VectorTable, ...] = get_args(VectorTable)
GROWTH = 1.5  # times the rows that a table has, for which it is given memory if there is enough
LEAST_GROWTH = 1.1  # the same if there is not enough for all
LEAST_SHARE = 4  # one of so many parts of an equal share is given to a table without rows


class TableShares:
    """Gives tables what their rows take, rounded; what is too little for all is divided evenly, and so is the rest.

    `equal_share`: bytes for each table if all are as large. A table keeps what it was given until it is loaded again.
    """

    def __init__(self, equal_share: int, dim: int) -> None:
        self._least = equal_share // LEAST_SHARE
        self._total = equal_share * len(TABLES)
        self._row_bytes = row_bytes(RoundedColumns(dim))
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
        needs = {each: self._find_need(count, GROWTH) for each, count in counts.items()}
        if sum(needs.values()) > free:
            needs = {each: self._find_need(count, LEAST_GROWTH) for each, count in counts.items()}
        shares = dict[VectorTable, int]()
        for place, each in enumerate(sorted(needs, key=lambda each: needs[each])):
            shares[each] = min(needs[each], free // (len(needs) - place))
            free -= shares[each]
        self._given[table] = shares[table] + free // len(needs)
        return self._given[table]

    def take_back(self, table: VectorTable) -> None:
        """Free what a table was given that is not in memory."""
        self._given.pop(table, None)

    def _find_need(self, rows: int, growth: float) -> int:
        return max(self._least, int(growth * rows * self._row_bytes))
