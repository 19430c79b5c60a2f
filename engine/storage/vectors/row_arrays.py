"""Rows of a vector table in memory, as arrays: search and look-up without the database.

One search of 20,000 exact rows of 384 dimensions takes 1 ms of one core, of 380,000 rounded ones 7 ms, so that it may
run in the event loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from engine.storage.column_arrays import ArraysFull, ColumnArrays, is_member
from engine.storage.vector_columns import ExactColumns, RoundedColumns
from engine.storage.vectors.base import VectorHit
from engine.storage.vectors.search_plan import max_matching_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from engine.storage.vector_columns import VectorColumns
    from engine.storage.vectors.base import VectorFilter, VectorRow

KEY_TYPES: dict[str, np.dtype[Any]] = {
    "id": np.dtype(np.int64),
    "space": np.dtype(np.int32),
    "room": np.dtype(np.int32),
    "part": np.dtype(np.int16),
}
# Of the memory that a table may take: up to here its vectors are exact.
EXACT_SHARE = 0.25
# Copying a row out costs about six times as much as its product with the query: fewer rows are copied first.
COPY_SHARE = 8
BLOCK_ROWS = 2_048
SAMPLE_STEP = 16  # one of this many rows is sampled to estimate how similar the nearest rows are
EVERYWHERE = slice(None)
REFINE_FACTOR = 2  # this multiple of the wanted rows is compared with the exact query
MIN_SPARE_SHARE = 0.05  # arrays are reserved with room for this share of further rows


class RowArrays:
    """The rows of one table in no particular order, at most `max_rows`; for one thread."""

    def __init__(self, vectors: VectorColumns, max_rows: int) -> None:
        self._vectors = vectors
        self._rows = ColumnArrays(_column_types(vectors), max_rows)

    def __len__(self) -> int:
        return len(self._rows)

    def append(self, keys: Mapping[str, np.ndarray], vectors: np.ndarray) -> None:
        """Add rows with new keys, given as columns, and their vectors of length one. Raises ArraysFull."""
        self._rows.append({**keys, **self._vectors.encode(vectors), "has_direction": np.asarray(vectors.any(axis=1))})

    def upsert(self, rows: Sequence[VectorRow], vectors: np.ndarray) -> None:
        """Replace all rows of these ids; vectors have length one.

        Raises ArraysFull; then the former rows of the ids are gone.
        """
        self.delete({row.id for row in rows})
        numbers = np.array(rows, dtype=np.int64).reshape(len(rows), len(rows[0]._fields))
        self.append(dict(zip(rows[0]._fields, numbers.T, strict=True)), vectors)

    def delete(self, ids: Collection[int]) -> None:
        """Delete all rows of the ids."""
        self._rows.delete(np.flatnonzero(is_member(self._rows["id"], ids)))

    def search(self, query: np.ndarray, k: int, vector_filter: VectorFilter) -> list[VectorHit]:
        """The k rows most similar to a query of length one that match the filter, best first; ties by id and part."""
        places = self._find_nearest(query, REFINE_FACTOR * k, vector_filter)
        similarities = np.clip(np.vecdot(self._decode(places), query), -1.0, 1.0)
        ids, parts = self._rows["id"][places], self._rows["part"][places]
        order = np.lexsort((parts, ids, -similarities))[:k]
        hits = zip(ids[order].tolist(), parts[order].tolist(), similarities[order].tolist(), strict=True)
        return [VectorHit(*hit) for hit in hits]

    def fetch(self, ids: Collection[int]) -> dict[int, np.ndarray]:
        """The vectors by id, shape (parts, dim), parts in order; missing ids are left out."""
        places = np.flatnonzero(is_member(self._rows["id"], ids))
        places = places[np.lexsort((self._rows["part"][places], self._rows["id"][places]))]
        found, starts = np.unique(self._rows["id"][places], return_index=True)
        vectors, ends = self._decode(places), np.append(starts, len(places))[1:]
        return {
            id_: vectors[start:end]
            for id_, start, end in zip(found.tolist(), starts.tolist(), ends.tolist(), strict=True)
        }

    def _find_nearest(self, query: np.ndarray, count: int, vector_filter: VectorFilter) -> np.ndarray:
        """The places of the rows that match the filter and are as similar as the `count`-th of these."""
        expected = max_matching_rows(vector_filter) or 0
        every = self._compare(query) if expected * COPY_SHARE >= len(self) > 0 else None
        if every is not None and (near := self._find_in_sample(every, count * len(self) // expected)) is not None:
            places = near[self._matches(vector_filter, near)]
            if len(places) >= count:
                return np.asarray(places)
        places = np.flatnonzero(self._matches(vector_filter))
        similarities = self._compare(query, places) if every is None else every[places]
        if count < len(places):
            places = places[similarities >= np.partition(similarities, -count)[-count]]
        return np.asarray(places)

    @staticmethod
    def _find_in_sample(similarities: np.ndarray, count: int) -> np.ndarray | None:
        """The places of the most similar rows, about twice `count`, found faster than by sorting; None if too many."""
        sample, rank = similarities[::SAMPLE_STEP], 2 * count // SAMPLE_STEP + 1
        if rank > len(sample) // 2:
            return None
        return np.flatnonzero(similarities >= np.partition(sample, -rank)[-rank])

    def _matches(self, vector_filter: VectorFilter, places: np.ndarray | slice = EVERYWHERE) -> np.ndarray:
        """Which rows at these places match the filter and have a direction, as booleans."""
        matches = is_member(self._rows["space"][places], vector_filter.spaces)
        if vector_filter.rooms:
            matches |= is_member(self._rows["room"][places], vector_filter.rooms)
        if vector_filter.ids is not None:
            matches &= is_member(self._rows["id"][places], vector_filter.ids)
        matches &= self._rows["has_direction"][places]
        return matches

    def _compare(self, query: np.ndarray, places: np.ndarray | None = None) -> np.ndarray:
        """The cosine of the query with all rows, or with those at these places."""
        if places is None or len(places) * COPY_SHARE >= len(self):
            every = self._vectors.compare({name: self._rows[name] for name in self._vectors.types}, query)
            return every if places is None else every[places]
        blocks = [places[start : start + BLOCK_ROWS] for start in range(0, len(places), BLOCK_ROWS)]
        return np.concatenate(
            [np.empty(0, np.float32), *(self._vectors.compare(self._copy(at), query) for at in blocks)]
        )

    def _decode(self, places: np.ndarray) -> np.ndarray:
        return self._vectors.decode(self._copy(places))

    def _copy(self, places: np.ndarray) -> dict[str, np.ndarray]:
        """The columns of vectors, only these rows."""
        return {name: self._rows[name][places] for name in self._vectors.types}


def reserve_rows(dim: int, count: int, max_bytes: int) -> RowArrays:
    """Arrays for `count` rows and for further ones: exact if these take little of `max_bytes`, else rounded.

    Raises ArraysFull.
    """
    for vectors, share in ((ExactColumns(dim), EXACT_SHARE), (RoundedColumns(dim), 1.0)):
        max_rows = int(share * max_bytes) // row_bytes(vectors)
        if count <= max_rows - int(MIN_SPARE_SHARE * max_rows):
            return RowArrays(vectors, max_rows)
    raise ArraysFull


def row_bytes(vectors: VectorColumns) -> int:
    """The memory that a row takes."""
    return sum(type_.itemsize for type_ in _column_types(vectors).values())


def _column_types(vectors: VectorColumns) -> dict[str, np.dtype[Any]]:
    """The columns; vectors without a direction are similar to nothing (see engine.text.similarity)."""
    return {**KEY_TYPES, "has_direction": np.dtype(np.bool_), **vectors.types}
