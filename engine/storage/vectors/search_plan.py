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
# The search probes partitions of about this many rows.
PARTITION_ROWS = 8_000
# With every so many rows of the table in the area, its nearest are in the nearest quarter of the partitions.
DENSE_AREA_SHARE = 0.05
DENSE_PARTITION_SHARE = 0.25
# The index knows its vectors by two bits a dimension; so many times more are fetched and compared exactly, which is
# most of the cost. Of the nearest 81 of 60,000 rows, factors of 3 and more found all; of the nearest 648, 3 found 98 %,
# 4 found 99 % and 6 nearly all. A few rows need more: at least MIN_REFINED_ROWS are compared.
REFINE_FACTOR = 5
MIN_REFINED_ROWS = 240


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """`probes` partitions of the index with exact comparison of the best `refine` × k; or an exact scan of all rows."""

    exact: bool
    probes: int = 0
    refine: int = 0


def plan_search(matching_rows: int, table_rows: int, k: int) -> SearchPlan:
    """The plan for the k best of `matching_rows` in a table with an index over `table_rows`.

    A selective filter leaves few hits in the nearest partitions of an index: such rows are scanned exactly, and larger
    sets use as many partitions as their share needs. Measured by benchmarks/vector_recall.py.
    """
    if matching_rows <= EXACT_ROWS:
        return SearchPlan(exact=True)
    share = DENSE_PARTITION_SHARE if matching_rows >= DENSE_AREA_SHARE * table_rows else 1.0
    refine = max(REFINE_FACTOR, ceil(MIN_REFINED_ROWS / k))
    return SearchPlan(exact=False, probes=max(8, ceil(share * 2 * table_rows / PARTITION_ROWS)), refine=refine)


def build_filter(vector_filter: VectorFilter) -> str | None:
    """The filter as SQL; None if no row can match."""
    conditions = [
        build_in_clause(name, members)
        for name, members in (("space", vector_filter.spaces), ("room", vector_filter.rooms))
        if members
    ]
    if not conditions or (vector_filter.ids is not None and not vector_filter.ids):
        return None
    condition = conditions[0] if len(conditions) == 1 else f"({' OR '.join(conditions)})"
    return condition if vector_filter.ids is None else f"{condition} AND {build_in_clause('id', vector_filter.ids)}"


def excludes_rows(vector_filter: VectorFilter) -> bool:
    """Whether the filter excludes rows, as far as the caller knows the rows of each space."""
    known = vector_filter.rows_by_space
    return vector_filter.ids is not None or not known or not vector_filter.spaces.issuperset(known)


def max_matching_rows(vector_filter: VectorFilter) -> int | None:
    """The highest possible number of matching rows; None if the caller does not know."""
    known = (
        None
        if vector_filter.rooms or not vector_filter.rows_by_space
        else sum(vector_filter.rows_by_space.get(space, 0) for space in vector_filter.spaces)
    )
    if vector_filter.ids is None:
        return known
    return len(vector_filter.ids) if known is None else min(known, len(vector_filter.ids))


def build_in_clause(column: str, numbers: Collection[int]) -> str:
    """`column IN (…)`; contains only numbers, so nothing needs escaping."""
    return f"{column} IN ({','.join(str(int(number)) for number in sorted(numbers))})"
