"""Plans of searches in the vector store on PostgreSQL: which spaces by index, which exactly."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from engine.storage.vectors.pgvector_tables import INDEX_ABOVE
from engine.storage.vectors.search_plan import max_matching_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.storage.vectors.base import VectorFilter
    from engine.storage.vectors.pgvector_tables import Leaf

# An exact search takes 0.65 µs of processor time a row of 384 dimensions, and an index 40 ms. It visits more rows the
# fewer of them match: both cost the same at about sqrt(1000 × rows of the index) matching rows in it, or more.
MIN_EXACT_ROWS = INDEX_ABOVE
EXACT_ROW_FACTOR = 1_000


class SearchStep(NamedTuple):
    """A part of a search: the rows of a filter, exactly or by index."""

    vector_filter: VectorFilter
    is_exact: bool


def max_exact_rows(index_rows: int, leaves: int = 1) -> int:
    """The most matching rows that are searched exactly in so many partitions with up to `index_rows` rows each."""
    return leaves * max(MIN_EXACT_ROWS, int((EXACT_ROW_FACTOR * index_rows) ** 0.5))


def plan_steps(vector_filter: VectorFilter, leaves: Sequence[Leaf]) -> list[SearchStep] | None:
    """The parts of a search, whose best hits are merged; None if the matching rows must be counted (`plan_counted`).

    An index under a selective filter loses hits: large spaces are searched by index, the small ones exactly beside it.
    """
    if not any(leaf.is_indexed for leaf in leaves):
        return [SearchStep(vector_filter, is_exact=True)]
    matching = max_matching_rows(vector_filter)
    if matching is None:
        return None
    if vector_filter.ids is not None or not vector_filter.rows_by_space:
        return [plan_counted(vector_filter, leaves, matching)]
    rows, largest = vector_filter.rows_by_space, _largest_index(leaves)
    large = {space for space in vector_filter.spaces if rows.get(space, 0) > max_exact_rows(largest)}
    small = vector_filter.spaces - large
    rest = plan_counted(replace(vector_filter, spaces=small), leaves, sum(rows.get(space, 0) for space in small))
    if not large or not rest.is_exact:
        return [plan_counted(vector_filter, leaves, matching)]
    by_index = SearchStep(replace(vector_filter, spaces=frozenset(large)), is_exact=False)
    return [by_index, rest] if small else [by_index]


def plan_counted(vector_filter: VectorFilter, leaves: Sequence[Leaf], matching: int) -> SearchStep:
    """The search of a filter that so many rows match, in one part."""
    return SearchStep(vector_filter, matching <= max_counted_rows(vector_filter, leaves))


def max_counted_rows(vector_filter: VectorFilter, leaves: Sequence[Leaf]) -> int:
    """The most matching rows that are searched exactly."""
    locations = len(vector_filter.spaces) + len(vector_filter.rooms)
    return max_exact_rows(_largest_index(leaves), min(len(leaves), locations))


def _largest_index(leaves: Sequence[Leaf]) -> int:
    return max(leaf.rows for leaf in leaves if leaf.is_indexed)
