"""SQL of the vector store on PostgreSQL, and how a search is planned.

Every row has its space in its key, and every statement that is given spaces reads only their partitions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg import sql

from engine.storage.vectors.pgvector_tables import INDEX_ABOVE
from engine.storage.vectors.search_plan import max_matching_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy as np

    from engine.storage.vectors.base import VectorFilter, VectorRow
    from engine.storage.vectors.pgvector_tables import Leaf


# Rows that the index keeps in view. Of the nearest 20 of 181,000 nearly equal relations it finds 75 % with 200 and 95 %
# with 800, in 13 and 40 ms of processor time; of 25,000 rows in clusters it finds all with 200.
CANDIDATES = 800
MAX_CANDIDATES = 1_000  # a limit of the library
# The index knows its vectors in half precision and returns them in roughly the right order: so many times more rows
# are fetched and compared exactly.
REFINE_FACTOR = 2

# The planner would otherwise sort all rows of a middling scope.
SEARCH_SETTINGS = sql.SQL(
    "SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),"
    " set_config('hnsw.ef_search', %(candidates)s, true), set_config('hnsw.max_scan_tuples', '40000', true),"
    " set_config('hnsw.scan_mem_multiplier', '4', true), set_config('enable_sort', 'off', true)"
)
SEARCH_EXACT = sql.SQL(
    "SELECT id, part, vector <#> %(query)b AS distance FROM {table} WHERE {scope} AND has_direction"
    " ORDER BY distance, id, part LIMIT %(k)s"
)
SEARCH_INDEX = sql.SQL(
    "SELECT id, part, vector <#> %(query)b AS distance FROM (SELECT id, part, vector FROM {table}"
    " WHERE {scope} AND has_direction ORDER BY {half} <#> %(query)b::halfvec({dim}) LIMIT %(fetched)s) AS nearest"
    " ORDER BY distance, id, part LIMIT %(k)s"
)
COUNT_MATCHING = sql.SQL("SELECT count(*) FROM (SELECT FROM {table} WHERE {scope} LIMIT %(limit)s) AS matching")
# The row of part 0 is the lock of its id: another writer of the id waits for this transaction, and then replaces all.
UPSERT = sql.SQL(
    "INSERT INTO {table} AS old (space, id, part, room, has_direction, vector)"
    " SELECT * FROM unnest(%(space)s::int[], %(id)s::bigint[], %(part)s::smallint[], %(room)s::int[],"
    " %(has_direction)s::bool[], %(vector)b) AS new (space, id, part, room, has_direction, vector)"
    " ORDER BY id, part ON CONFLICT (space, id, part) DO UPDATE SET room = excluded.room,"
    " has_direction = excluded.has_direction, vector = excluded.vector"
    " WHERE (old.room, old.vector) IS DISTINCT FROM (excluded.room, excluded.vector)"
)
DELETE_OTHER_PARTS = sql.SQL(
    "DELETE FROM {table} USING (SELECT new_id, min(new_space) AS new_space, count(*) AS new_parts"
    " FROM unnest(%(space)s::int[], %(id)s::bigint[]) AS new (new_space, new_id) GROUP BY new_id) AS kept"
    " WHERE {scope} AND id = new_id AND (space <> new_space OR part >= new_parts)"
)
DELETE = sql.SQL("DELETE FROM {table} WHERE {scope}")
FETCH = sql.SQL("SELECT id, part, vector FROM {table} WHERE {scope} ORDER BY id, part")
LIST_ROWS = sql.SQL("SELECT id, space, room, part FROM {table} ORDER BY id, space, room, part")

SPACES = sql.SQL("space = ANY(%(spaces)s)")
ROOMS = sql.SQL("room = ANY(%(rooms)s)")
IDS = sql.SQL("id = ANY(%(ids)s)")
# An exact search takes 0.65 µs of processor time a row of 384 dimensions, and an index 40 ms. It visits more rows the
# fewer of them match: both cost the same at about sqrt(1000 × rows of the index) matching rows in it, or more.
MIN_EXACT_ROWS = INDEX_ABOVE
EXACT_ROW_FACTOR = 1_000


def build_scope(vector_filter: VectorFilter) -> sql.Composable | None:
    """The condition of a filter; None if no row can match. Its parameters: `scope_parameters`."""
    conditions = [clause for clause, ids in ((SPACES, vector_filter.spaces), (ROOMS, vector_filter.rooms)) if ids]
    if not conditions or (vector_filter.ids is not None and not vector_filter.ids):
        return None
    location = sql.SQL("({})").format(sql.SQL(" OR ").join(conditions))
    return location if vector_filter.ids is None else sql.SQL(" AND ").join([location, IDS])


def scope_parameters(vector_filter: VectorFilter) -> dict[str, Any]:
    """The parameters of `build_scope`."""
    ids = vector_filter.ids
    return {
        "spaces": sorted(vector_filter.spaces),
        "rooms": sorted(vector_filter.rooms),
        "ids": None if ids is None else sorted(ids),
    }


def build_key_scope(spaces: Collection[int] | None) -> sql.Composable:
    """The condition for rows of some ids, in known spaces or anywhere."""
    return IDS if spaces is None else sql.SQL(" AND ").join([SPACES, IDS])


def key_parameters(ids: Collection[int], spaces: Collection[int] | None) -> dict[str, Any]:
    """The parameters of `build_key_scope`."""
    return {"ids": sorted(ids), "spaces": None if spaces is None else sorted(spaces)}


def row_parameters(rows: Sequence[VectorRow], vectors: np.ndarray) -> dict[str, Any]:
    """The parameters of `UPSERT`: a list for each column."""
    columns = zip(*rows, strict=True)
    named = dict(zip(rows[0]._fields, map(list, columns), strict=True))
    return {**named, "has_direction": vectors.any(axis=1).tolist(), "vector": list(vectors)}


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
