"""Rows of a vector table in memory, as arrays: search and look-up without the database.

One search of 20,000 exact rows of 384 dimensions takes 1 ms of one core, of 380,000 rounded ones 7 ms. Tables of up to
200,000 rows are searched in the event loop, larger ones beside it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import numpy as np
import structlog

from engine.storage.column_arrays import ArraysFull, ColumnArrays, is_member
from engine.storage.mapped_file import MappedFile
from engine.storage.search_gate import SearchGate
from engine.storage.vector_columns import ExactColumns, RoundedColumns
from engine.storage.vectors.base import VectorHit
from engine.storage.vectors.search_plan import max_matching_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from engine.storage.vector_columns import VectorColumns
    from engine.storage.vectors.base import VectorFilter, VectorRow

log = structlog.get_logger(__name__)

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
LOOP_ROWS = 200_000  # of a table that is searched in the event loop
SAMPLE_STEP = 16  # one of this many rows is sampled to estimate how similar the nearest rows are
EVERYWHERE = slice(None)
REFINE_FACTOR = 2  # this multiple of the wanted rows is compared with the exact query
MIN_SPARE_SHARE = 0.05  # arrays are reserved with room for this share of further rows
# Rows at neighboring places are compared where they are, from so many on, and up to so many at once.
MIN_RUN_ROWS, MAX_RUN_ROWS = 128, 65_536
NEARLY_ALL = 0.9  # of the rows: all are compared
PAGE_BYTES = 4_096  # of the memory, read for one row
# Room for at most so many times the rows is reserved, since systems refuse more addresses than they have memory.
MAX_GROWTH, MIN_RESERVED_ROWS = 4, 500_000
FILE_COLUMN = "rounded"  # the one that a file may hold
FILE_SPARE_SHARE = 0.1  # a file has room for this share of further rows
MIN_RESIDENT_SHARE = 0.25  # of the memory of a table that its keys leave for vectors in a file


class RowArrays:
    """The rows of one table in no particular order, at most `max_rows`. Changes wait for a search in another thread.

    `file`: holds the vectors, as rounded ones; else they are in memory.
    """

    def __init__(self, vectors: VectorColumns, max_rows: int, file: MappedFile | None = None) -> None:
        self._vectors = vectors
        self._file = file
        self._rows = ColumnArrays(_column_types(vectors), max_rows, {FILE_COLUMN: file} if file else {})
        self._is_grouped = False
        self._gate = SearchGate()

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def is_rounded(self) -> bool:
        """Whether there are enough rows that their order matters."""
        return isinstance(self._vectors, RoundedColumns)

    def reserve_places(self, count: int) -> None:
        """Add empty rows, for `write`: rows of a space will be next to each other. Raises ArraysFull."""
        with self._gate.change():
            self._rows.extend(count)
            self._is_grouped = True

    def write(self, places: np.ndarray, keys: Mapping[str, np.ndarray], vectors: np.ndarray) -> None:
        """Write rows with new keys at places that were reserved."""
        with self._gate.change():
            self._rows.write(places, self._encode(keys, vectors))
        if self._file is not None:
            self._file.count_read(len(places) * PAGE_BYTES)

    def remove(self, places: np.ndarray) -> None:
        """Remove the rows at these places."""
        with self._gate.change():
            self._rows.delete(places)

    def append(self, keys: Mapping[str, np.ndarray], vectors: np.ndarray) -> None:
        """Add rows with new keys, given as columns, and their vectors of length one. Raises ArraysFull."""
        with self._gate.change():
            self._rows.append(self._encode(keys, vectors))

    def _encode(self, keys: Mapping[str, np.ndarray], vectors: np.ndarray) -> dict[str, np.ndarray]:
        return {**keys, **self._vectors.encode(vectors), "has_direction": np.asarray(vectors.any(axis=1))}

    def upsert(self, rows: Sequence[VectorRow], vectors: np.ndarray) -> None:
        """Replace all rows of these ids; vectors have length one.

        Raises ArraysFull; then the former rows of the ids are gone.
        """
        numbers = np.array(rows, dtype=np.int64).reshape(len(rows), len(rows[0]._fields))
        with self._gate.change():
            self.delete({row.id for row in rows})
            self.append(dict(zip(rows[0]._fields, numbers.T, strict=True)), vectors)

    def delete(self, ids: Collection[int]) -> None:
        """Delete all rows of the ids."""
        with self._gate.change():
            self._rows.delete(np.flatnonzero(is_member(self._rows["id"], ids)))

    async def find(self, query: np.ndarray, k: int, vector_filter: VectorFilter) -> list[VectorHit]:
        """As `search`, beside the event loop if the table is large."""
        if len(self) <= LOOP_ROWS:
            return self.search(query, k, vector_filter)
        return await asyncio.to_thread(self.search, query, k, vector_filter)

    def search(self, query: np.ndarray, k: int, vector_filter: VectorFilter) -> list[VectorHit]:
        """The k rows most similar to a query of length one that match the filter, best first; ties by id and part."""
        with self._gate.search():
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
        compares_all = expected >= NEARLY_ALL * len(self) if self._is_grouped else expected * COPY_SHARE >= len(self)
        every = self._compare(query) if compares_all and len(self) else None
        if every is not None and (near := self._find_in_sample(every, count * len(self) // expected)) is not None:
            places = near[self._matches(vector_filter, near)]
            if len(places) >= count:
                return np.asarray(places)
        places = np.flatnonzero(self._matches(vector_filter))
        similarities = self._compare(query, places) if every is None else every[places]
        near = self._find_in_sample(similarities, count) if self._is_grouped else None
        if near is not None and len(near) >= count:
            places, similarities = places[near], similarities[near]
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
        if places is None:
            return self._compare_run(query, 0, len(self))
        if self._is_grouped:
            return self._compare_runs(query, places)
        if len(places) * COPY_SHARE >= len(self):
            return np.asarray(self._compare_run(query, 0, len(self))[places])
        return self._compare_copies(query, places)

    def _compare_runs(self, query: np.ndarray, places: np.ndarray) -> np.ndarray:
        """The cosines with rows at ascending places: neighbors where they are, and copies of the others."""
        similarities = np.empty(len(places), np.float32)
        edges = np.flatnonzero(np.diff(places) != 1) + 1
        starts, ends = np.append(0, edges), np.append(edges, len(places))
        is_long = ends - starts >= MIN_RUN_ROWS
        for start, end in zip(starts[is_long].tolist(), ends[is_long].tolist(), strict=True):
            similarities[start:end] = self._compare_run(query, int(places[start]), int(places[end - 1]) + 1)
        others = np.flatnonzero(np.repeat(~is_long, ends - starts))
        similarities[others] = self._compare_copies(query, places[others])
        return similarities

    def _compare_run(self, query: np.ndarray, start: int, end: int) -> np.ndarray:
        """The cosines with the rows from one place to another; a part at once, since its pages may then be released."""
        step = MAX_RUN_ROWS if self._file else max(1, end - start)
        found = [np.empty(0, np.float32)]
        for first in range(start, end, step):
            run = slice(first, min(first + step, end))
            found.append(self._vectors.compare({name: self._rows[name][run] for name in self._vectors.types}, query))
            if self._file is not None:
                self._file.count_read((run.stop - run.start) * self._rows[FILE_COLUMN].shape[1])
        return np.asarray(np.concatenate(found) if len(found) > 2 else found[-1])

    def _compare_copies(self, query: np.ndarray, places: np.ndarray) -> np.ndarray:
        blocks = [places[start : start + BLOCK_ROWS] for start in range(0, len(places), BLOCK_ROWS)]
        return np.concatenate(
            [np.empty(0, np.float32), *(self._vectors.compare(self._copy(at), query) for at in blocks)]
        )

    def _decode(self, places: np.ndarray) -> np.ndarray:
        return self._vectors.decode(self._copy(places))

    def _copy(self, places: np.ndarray) -> dict[str, np.ndarray]:
        """The columns of vectors, only these rows."""
        if self._file is not None:
            self._file.count_read(len(places) * PAGE_BYTES)
        return {name: self._rows[name][places] for name in self._vectors.types}


class SpaceGroups:
    """Writes rows into empty arrays, those of a space next to each other.

    `counts`: of the rows by space, about. What is more follows at the end; what is less is left out by `finish`. Raises
    ArraysFull.
    """

    def __init__(self, rows: RowArrays, counts: Mapping[int, int]) -> None:
        self._rows = rows
        self._spaces = np.array(sorted(counts), np.int64)
        self._ends = np.cumsum([counts[space] for space in self._spaces.tolist()], dtype=np.int64)
        self._next = np.append(0, self._ends)[:-1]
        rows.reserve_places(int(self._ends[-1]) if len(self._ends) else 0)

    def append(self, keys: Mapping[str, np.ndarray], vectors: np.ndarray) -> None:
        """Write rows with new keys, given as columns, and their vectors of length one. Raises ArraysFull."""
        order = np.argsort(keys["space"], kind="stable")
        spaces = keys["space"][order]
        group = np.minimum(np.searchsorted(self._spaces, spaces), max(0, len(self._spaces) - 1))
        is_known = self._spaces[group] == spaces if len(self._spaces) else np.zeros(len(spaces), np.bool_)
        group = group[is_known]
        places = self._next[group] + np.arange(len(spaces))[is_known] - np.searchsorted(spaces, spaces[is_known])
        fits = places < self._ends[group]
        self._next += np.bincount(group[fits], minlength=len(self._next))
        inside = order[np.flatnonzero(is_known)[fits]]
        self._rows.write(places[fits], {name: column[inside] for name, column in keys.items()}, vectors[inside])
        rest = np.setdiff1d(order, inside)
        if len(rest):
            self._rows.append({name: column[rest] for name, column in keys.items()}, vectors[rest])

    def finish(self) -> None:
        """Remove the places that stayed empty."""
        spans = zip(self._next.tolist(), self._ends.tolist(), strict=True)
        empty = [np.arange(first, end) for first, end in spans if first < end]
        if empty:
            self._rows.remove(np.concatenate(empty))


def reserve_rows(dim: int, count: int, max_bytes: int, folder: Path | None = None) -> RowArrays:
    """Arrays for `count` rows and for further ones: exact if these take little of `max_bytes`, else rounded.

    If rounded vectors take more, a file in `folder` holds them; the memory is for what is read most. Raises ArraysFull.
    """
    for vectors, share in ((ExactColumns(dim), EXACT_SHARE), (RoundedColumns(dim), 1.0)):
        max_rows = int(share * max_bytes) // row_bytes(vectors)
        if count <= max_rows - int(MIN_SPARE_SHARE * max_rows):
            return RowArrays(vectors, min(max_rows, max(MIN_RESERVED_ROWS, MAX_GROWTH * count)))
    max_rows = int(count * (1 + FILE_SPARE_SHARE))
    resident = max_bytes - max_rows * (row_bytes(RoundedColumns(dim)) - dim)
    if folder is None or resident < MIN_RESIDENT_SHARE * max_bytes:
        raise ArraysFull
    try:
        file = MappedFile(folder, max_rows * dim, resident)
    except OSError as error:
        log.warning("vectors.no_copy", error=str(error))
        raise ArraysFull from error
    return RowArrays(RoundedColumns(dim), max_rows, file)


def row_bytes(vectors: VectorColumns) -> int:
    """The memory that a row takes."""
    return sum(type_.itemsize for type_ in _column_types(vectors).values())


def _column_types(vectors: VectorColumns) -> dict[str, np.dtype[Any]]:
    """The columns; vectors without a direction are similar to nothing (see engine.text.similarity)."""
    return {**KEY_TYPES, "has_direction": np.dtype(np.bool_), **vectors.types}
