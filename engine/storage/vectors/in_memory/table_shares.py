"""The memory that the tables of vectors share."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from engine.storage.vectors.base import VectorTable
from engine.storage.vectors.in_memory.row_loading import has_codes, table_size

if TYPE_CHECKING:
    from collections.abc import Mapping

TABLES: tuple[VectorTable, ...] = get_args(VectorTable)
GROWTH = 1.5  # times the rows that a table has, for which it is given memory if there is enough
LEAST_GROWTH = 1.05  # the same if there is not enough for all
LEAST_SHARE = 4  # one of so many parts of an equal share is given to a table without rows


class TableShares:
    """Gives tables what their rows take, rounded; what is too little for all is divided evenly, and so is the rest.

    `equal_share`: bytes for each table if all are as large. `has_files`: whether rows can be outside memory; then what
    tables with codes get is given first for what cannot. A table keeps what it was given until it is loaded again.
    """

    def __init__(self, equal_share: int, dim: int, *, has_files: bool = False) -> None:
        self._least = equal_share // LEAST_SHARE
        self._total = equal_share * len(TABLES)
        self._dim = dim
        self._has_files = has_files
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
        shares = _divide(free, needs)
        if self._has_files:
            shares |= _serve_first(shares, needs, {each: self._find_unmovable(counts[each]) for each in counts})
        self._given[table] = shares[table] + (free - sum(shares.values())) // len(needs)
        return self._given[table]

    def take_back(self, table: VectorTable) -> None:
        """Free what a table was given that is not in memory."""
        self._given.pop(table, None)

    def _find_need(self, rows: int, growth: float) -> int:
        return max(self._least, table_size(self._dim, rows, growth))

    def _find_unmovable(self, rows: int) -> int:
        """What coded rows take that cannot be in a file; 0 for others."""
        if not has_codes(self._dim, rows):
            return 0
        return table_size(self._dim, rows, LEAST_GROWTH) - int(LEAST_GROWTH * rows * self._dim)


def _divide(free: int, needs: Mapping[VectorTable, int]) -> dict[VectorTable, int]:
    """What each table needs, or an even part of what the smaller ones leave."""
    shares = dict[VectorTable, int]()
    for place, each in enumerate(sorted(needs, key=lambda each: needs[each])):
        shares[each] = min(needs[each], free // (len(needs) - place))
        free -= shares[each]
    return shares


def _serve_first(
    shares: Mapping[VectorTable, int], needs: Mapping[VectorTable, int], first: Mapping[VectorTable, int]
) -> dict[VectorTable, int]:
    """The shares of the tables that need something first, divided again, if they are enough for that."""
    served = [each for each in shares if first[each]]
    free = sum(shares[each] - first[each] for each in served)
    if free < 0:
        return {}
    rest = _divide(free, {each: needs[each] - first[each] for each in served})
    return {each: first[each] + rest[each] for each in served}
