"""Plans for vector searches with a filter, and the filter as SQL."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from engine.storage.vectors.base import VectorFilter

# Up to here reading the rows themselves costs little more than the index (40 ms at most), and is exact: nothing outside
# the area decides what is found.
EXACT_ROWS = 4_000
# The index is told to look at partitions of about this many rows.
PARTITION_ROWS = 8_000
# With every so many rows of the table in the area, its nearest are in the nearest quarter of the partitions.
DENSE_AREA_SHARE = 0.05
DENSE_PARTITION_SHARE = 0.25
# The index knows its vectors by two bits a dimension; so many times more are fetched and compared exactly.
REFINE_FACTOR = 12
MIN_REFINED_ROWS = 240


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """`probes` partitions of the index with exact comparison of the best `refine` × k; or an exact scan of all rows."""

    exact: bool
    probes: int = 0
    refine: int = 0


def plan_search(in_area: int, in_table: int, k: int) -> SearchPlan:
    """The plan for the k best of `in_area` matching rows in a table with an index over `in_table`.

    A selective filter starves the nearest partitions of an index: such rows are scanned exactly, and larger sets use as
    many partitions as their share needs. Measured by tests/bench/vector_recall.py.
    """
    if in_area <= EXACT_ROWS:
        return SearchPlan(exact=True)
    share = DENSE_PARTITION_SHARE if in_area >= DENSE_AREA_SHARE * in_table else 1.0
    refine = max(REFINE_FACTOR, ceil(MIN_REFINED_ROWS / k))
    return SearchPlan(exact=False, probes=max(8, ceil(share * 2 * in_table / PARTITION_ROWS)), refine=refine)


def build_filter(area: VectorFilter) -> str | None:
    """The filter as SQL; None if no row can match."""
    places = [
        build_in_clause(name, members) for name, members in (("space", area.spaces), ("room", area.rooms)) if members
    ]
    if not places or (area.ids is not None and not area.ids):
        return None
    where = places[0] if len(places) == 1 else f"({' OR '.join(places)})"
    return where if area.ids is None else f"{where} AND {build_in_clause('id', area.ids)}"


def max_matching_rows(area: VectorFilter) -> int | None:
    """The highest possible number of matching rows; None if the caller does not know."""
    known = (
        None if area.rooms or not area.rows_by_space else sum(area.rows_by_space.get(space, 0) for space in area.spaces)
    )
    if area.ids is None:
        return known
    return len(area.ids) if known is None else min(known, len(area.ids))


def build_in_clause(column: str, numbers: Collection[int]) -> str:
    """`column IN (…)`; contains only numbers, so nothing needs escaping."""
    return f"{column} IN ({','.join(str(int(number)) for number in sorted(numbers))})"
