"""Rows of a vector table in memory, as arrays: search and look-up without the database.

One search of 20,000 exact rows of 384 dimensions takes 1 ms of one core, of 380,000 rounded ones 7 ms. Tables of up to
200,000 rows in memory are searched in the event loop, others beside it.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.storage.column_arrays import ColumnArrays, is_member
from engine.storage.search_gate import SearchGate, SearchThreads, share_work
from engine.storage.vector_columns import ROUNDED, RoundedColumns
from engine.storage.vectors.base import VectorHit
from engine.storage.vectors.search_plan import max_matching_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from typing import Self

    from engine.storage.spilled_rows import SpilledRows
    from engine.storage.vector_columns import Columns, VectorColumns
    from engine.storage.vectors.base import VectorFilter, VectorRow

KEY_TYPES: dict[str, np.dtype[Any]] = {
    "id": np.dtype(np.int64),
    "space": np.dtype(np.int32),
    "room": np.dtype(np.int32),
    "part": np.dtype(np.int16),
}
# Copying a row out costs about six times as much as its product with the query: fewer rows are copied first.
COPY_SHARE = 8
BLOCK_ROWS = 2_048
LOOP_ROWS = 200_000  # of a table that is searched in the event loop
SAMPLE_STEP = 16  # one of this many rows is sampled to estimate how similar the nearest rows are
EVERYWHERE = slice(None)
# This multiple of the wanted rows, and so many at least, are compared with the exact query.
REFINE_FACTOR, MIN_REFINED_ROWS = 2, 80
# Rows at neighboring places are compared where they are, from so many on, and so many at once: few calls, since each
# waits for its turn in the interpreter. Those in a file are read into a buffer that a cache of the processor holds.
MIN_RUN_ROWS, MAX_RUN_ROWS, READ_ROWS = 128, 65_536, 8_192
NO_DIRECTION = np.float32(-2.0)  # below every cosine
NO_ROWS = np.empty((0, 0), np.int8)


class RowArrays:
    """The rows of one table in no particular order, at most `max_rows`. Changes wait for a search in another thread.

    `others`: the columns of vectors that are not in memory alone. Raises CopyLost if these cannot be read or written.
    """

    def __init__(self, vectors: VectorColumns, max_rows: int, others: Mapping[str, SpilledRows] | None = None) -> None:
        self._vectors = vectors
        self.others = others or {}
        types = {name: type_ for name, type_ in _column_types(vectors).items() if name not in self.others}
        self._rows = ColumnArrays(types, max_rows, self.others)
        self._is_grouped = False
        self._groups: _Groups | None = None  # None: not known since the last change
        self._gate, self._threads = SearchGate(), SearchThreads()

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def is_rounded(self) -> bool:
        """Whether there are enough rows that their order matters."""
        return isinstance(self._vectors, RoundedColumns)

    def reserve_places(self, count: int) -> None:
        """Add empty rows, for `write`: rows of a space will be next to each other. Raises ArraysFull."""
        with self._change():
            self._rows.extend(count)
            self._is_grouped = True

    def write(self, places: np.ndarray, keys: Mapping[str, np.ndarray], vectors: np.ndarray) -> None:
        """Write rows with new keys at places that were reserved."""
        with self._change():
            self._rows.write(places, self._encode(keys, vectors))

    def remove(self, places: np.ndarray) -> None:
        """Remove the rows at these places."""
        with self._change():
            self._rows.delete(places)

    def append(self, keys: Mapping[str, np.ndarray], vectors: np.ndarray) -> None:
        """Add rows with new keys, given as columns, and their vectors of length one. Raises ArraysFull."""
        with self._change():
            self._rows.append(self._encode(keys, vectors))

    def _encode(self, keys: Mapping[str, np.ndarray], vectors: np.ndarray) -> dict[str, np.ndarray]:
        return {**keys, **self._vectors.encode(vectors), "has_direction": np.asarray(vectors.any(axis=1))}

    @contextmanager
    def _change(self) -> Iterator[None]:
        with self._gate.change():
            self._groups = None
            yield

    def upsert(self, rows: Sequence[VectorRow], vectors: np.ndarray) -> None:
        """Replace all rows of these ids; vectors have length one.

        Raises ArraysFull; then the former rows of the ids are gone.
        """
        numbers = np.array(rows, dtype=np.int64).reshape(len(rows), len(rows[0]._fields))
        with self._change():
            self.delete({row.id for row in rows})
            self.append(dict(zip(rows[0]._fields, numbers.T, strict=True)), vectors)

    def delete(self, ids: Collection[int]) -> None:
        """Delete all rows of the ids."""
        with self._change():
            self._rows.delete(np.flatnonzero(is_member(self._rows["id"], ids)))

    async def find(self, query: np.ndarray, k: int, vector_filter: VectorFilter) -> list[VectorHit]:
        """As `search`, beside the event loop if the table is large or a file is read.

        There, searches that begin together with the same filter read each row once where rows of a space are neighbors:
        reading takes most of the time.
        """
        if len(self) <= LOOP_ROWS and not self.others:
            return self.search(query, k, vector_filter)
        if not self._is_grouped:
            return await self._threads.run(partial(self.search, query, k, vector_filter))
        return await self._threads.run_together(self.search_each, (query, k), vector_filter)

    async def look_up(self, ids: Collection[int]) -> dict[int, np.ndarray]:
        """As `fetch`, beside the event loop if a file is read."""
        return await self._threads.run(partial(self.fetch, ids)) if self.others else self.fetch(ids)

    def hold_searches(self) -> AbstractAsyncContextManager[None]:
        """While inside, nothing is searched beside the event loop, so that a change does not block it."""
        return self._threads.hold()

    def search(self, query: np.ndarray, k: int, vector_filter: VectorFilter) -> list[VectorHit]:
        """The k rows most similar to a query of length one that match the filter, best first; ties by id and part."""
        [hits] = self.search_each([(query, k)], vector_filter)
        return hits

    def search_each(
        self, searches: Sequence[tuple[np.ndarray, int]], vector_filter: VectorFilter
    ) -> list[list[VectorHit]]:
        """As `search`, for several queries, each with the number of rows that it wants."""
        counts = [max(REFINE_FACTOR * k, MIN_REFINED_ROWS) for _, k in searches]
        queries = np.stack([query for query, _ in searches])
        with self._gate.search():
            find = self._find_in_groups if self._is_grouped else self._find_nearest
            near = find(queries, counts, vector_filter)
            return [self._list_hits(*search, places) for search, places in zip(searches, near, strict=True)]

    def _list_hits(self, query: np.ndarray, k: int, places: np.ndarray) -> list[VectorHit]:
        """The k rows at these places that are most similar to a query."""
        similarities = np.clip(np.vecdot(self._decode(places), query), -1.0, 1.0)
        ids, parts = self._rows["id"][places], self._rows["part"][places]
        order = np.lexsort((parts, ids, -similarities))[:k]
        hits = zip(ids[order].tolist(), parts[order].tolist(), similarities[order].tolist(), strict=True)
        return [VectorHit(*hit) for hit in hits]

    def fetch(self, ids: Collection[int]) -> dict[int, np.ndarray]:
        """The vectors by id, shape (parts, dim), parts in order; missing ids are left out."""
        with self._gate.search():
            places = np.flatnonzero(is_member(self._rows["id"], ids))
            places = places[np.lexsort((self._rows["part"][places], self._rows["id"][places]))]
            found, starts = np.unique(self._rows["id"][places], return_index=True)
            vectors, ends = self._decode(places), np.append(starts, len(places))[1:]
        return {
            id_: vectors[start:end]
            for id_, start, end in zip(found.tolist(), starts.tolist(), ends.tolist(), strict=True)
        }

    def _find_nearest(
        self, queries: np.ndarray, counts: Sequence[int], vector_filter: VectorFilter
    ) -> list[np.ndarray]:
        """For each query the places of the rows that match the filter and are as similar as the last wanted one."""
        searches = zip(queries, counts, strict=True)
        return [self._find_nearest_to(query[None], count, vector_filter) for query, count in searches]

    def _find_nearest_to(self, query: np.ndarray, count: int, vector_filter: VectorFilter) -> np.ndarray:
        expected, prepared = max_matching_rows(vector_filter) or 0, self._vectors.prepare(query)
        every = self._compare_all(prepared) if expected * COPY_SHARE >= len(self) > 0 else None
        if every is not None and (near := _find_in_sample(every, count * len(self) // expected)) is not None:
            places = near[self._matches(vector_filter, near)]
            if len(places) >= count:
                return np.asarray(places)
        places = np.flatnonzero(self._matches(vector_filter))
        if every is None and len(places) * COPY_SHARE >= len(self) > 0:
            every = self._compare_all(prepared)
        similarities = self._compare_copies(prepared, places)[0] if every is None else every[places]
        if count < len(places):
            places = places[similarities >= np.partition(similarities, -count)[-count]]
        return np.asarray(places)

    def _find_in_groups(
        self, queries: np.ndarray, counts: Sequence[int], vector_filter: VectorFilter
    ) -> list[np.ndarray]:
        """As `_find_nearest`, where rows of a space are neighbors: these are compared where they are."""
        starts, ends = self._find_runs(vector_filter)
        firsts = np.append(0, np.cumsum(ends - starts))
        found = list[np.ndarray]()
        for similarities, count in zip(self._compare_runs(queries, starts, ends), counts, strict=True):
            near = _select_nearest(similarities, count)
            runs = np.searchsorted(firsts, near, side="right") - 1
            places = starts[runs] + near - firsts[runs] if len(near) else near
            found.append(np.asarray(places[self._rows["has_direction"][places]]))
        return found

    def _find_runs(self, vector_filter: VectorFilter) -> tuple[np.ndarray, np.ndarray]:
        """The first places of all runs of neighbors that match the filter, and the places behind their last ones."""
        if vector_filter.rooms or vector_filter.ids is not None:
            return _join_neighbors(np.flatnonzero(self._matches(vector_filter)))
        groups = self._groups or _Groups.find(self._rows["space"])
        self._groups = groups
        matches = is_member(groups.spaces, vector_filter.spaces)
        starts, ends = groups.starts[matches], groups.ends[matches]
        is_first, is_last = np.append(True, starts[1:] != ends[:-1]), np.append(starts[1:] != ends[:-1], True)
        return (starts[is_first], ends[is_last]) if len(starts) else (starts, ends)

    def _matches(self, vector_filter: VectorFilter, places: np.ndarray | slice = EVERYWHERE) -> np.ndarray:
        """Which rows at these places match the filter and have a direction, as booleans."""
        matches = is_member(self._rows["space"][places], vector_filter.spaces)
        if vector_filter.rooms:
            matches |= is_member(self._rows["room"][places], vector_filter.rooms)
        if vector_filter.ids is not None:
            matches &= is_member(self._rows["id"][places], vector_filter.ids)
        matches &= self._rows["has_direction"][places]
        return matches

    def _compare_runs(self, queries: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """The cosines of each query with the rows of these runs, long ones where they are.

        NO_DIRECTION for vectors without one.
        """
        prepared, lengths = self._vectors.prepare(queries), ends - starts
        firsts = np.append(0, np.cumsum(lengths))
        similarities = np.empty((len(queries), firsts[-1]), np.float32)
        is_long = lengths >= MIN_RUN_ROWS
        runs = zip(starts[is_long].tolist(), ends[is_long].tolist(), firsts[:-1][is_long].tolist(), strict=True)
        self._compare_blocks(prepared, [(start, end, first - start) for start, end, first in runs], similarities)
        if not is_long.all():
            others = np.flatnonzero(np.repeat(~is_long, lengths))
            places = others + np.repeat((starts - firsts[:-1])[~is_long], lengths[~is_long])
            copied = self._compare_copies(prepared, places)
            copied[:, ~self._rows["has_direction"][places]] = NO_DIRECTION
            similarities[:, others] = copied
        return similarities

    def _compare_all(self, prepared: Columns) -> np.ndarray:
        """The cosines of one query with all rows; NO_DIRECTION for vectors without one."""
        similarities = np.empty((1, len(self)), np.float32)
        self._compare_blocks(prepared, [(0, len(self), 0)], similarities)
        return np.asarray(similarities[0])

    def _compare_blocks(
        self, prepared: Columns, runs: Iterable[tuple[int, int, int]], similarities: np.ndarray
    ) -> None:
        """Write the cosines of each query with the rows of these runs; NO_DIRECTION for vectors without one.

        A run is its first place, the place behind its last one, and how much further its columns of `similarities` are.
        """
        file = self.others.get(ROUNDED)
        resident = len(self) if file is None else file.resident_rows

        def compare(blocks: Iterator[tuple[int, int, int]]) -> None:
            buffer = NO_ROWS
            for start, end, shift in blocks:
                if file is not None and start >= resident and buffer is NO_ROWS:
                    buffer = np.empty((READ_ROWS, file.width), np.int8)
                part = similarities[:, start + shift : end + shift]
                self._vectors.compare(self._read_part(start, end, buffer), prepared, part)
                if not (has_direction := self._rows["has_direction"][start:end]).all():
                    part[:, ~has_direction] = NO_DIRECTION

        blocks = [block for run in runs for block in _split(*run, resident)]
        if sum(end - start for start, end, _ in blocks) > LOOP_ROWS:
            share_work(blocks, compare)
        else:
            compare(iter(blocks))

    def _read_part(self, start: int, end: int, buffer: np.ndarray) -> dict[str, np.ndarray]:
        """What is compared of the rows from one place to another. `buffer`: for rows in a file."""
        columns = {name: self._rows[name][start:end] for name in self._vectors.compared if name not in self.others}
        if ROUNDED in self.others:
            columns[ROUNDED] = self.others[ROUNDED].read_run(start, end, buffer)
        return columns

    def _compare_copies(self, prepared: Columns, places: np.ndarray) -> np.ndarray:
        similarities = np.empty((len(prepared[self._vectors.compared[0]]), len(places)), np.float32)
        for first in range(0, len(places), BLOCK_ROWS):
            part = slice(first, first + BLOCK_ROWS)
            columns = self._copy(places[part], self._vectors.compared)
            self._vectors.compare(columns, prepared, similarities[:, part])
        return similarities

    def _decode(self, places: np.ndarray) -> np.ndarray:
        return self._vectors.decode(self._copy(places, self._vectors.types))

    def _copy(self, places: np.ndarray, names: Iterable[str]) -> dict[str, np.ndarray]:
        """These columns, only these rows."""
        return {name: self._rows.copy(name, places) for name in names}


@dataclass(frozen=True, slots=True)
class _Groups:
    """Runs of neighbors of one space: their first places, and the places behind their last ones."""

    spaces: np.ndarray
    starts: np.ndarray
    ends: np.ndarray

    @classmethod
    def find(cls, spaces: np.ndarray) -> Self:
        """The runs in a column of spaces."""
        edges = np.flatnonzero(spaces[1:] != spaces[:-1]) + 1
        starts = np.append(np.zeros(min(1, len(spaces)), np.int64), edges)
        return cls(spaces[starts], starts, np.append(starts, len(spaces))[1:])


def _split(start: int, end: int, shift: int, resident: int) -> Iterator[tuple[int, int, int]]:
    """A run in blocks; those of rows from the place `resident` on are read from a file."""
    while start < end:
        last = min(start + MAX_RUN_ROWS, end, resident) if start < resident else min(start + READ_ROWS, end)
        yield start, last, shift
        start = last


def _select_nearest(similarities: np.ndarray, count: int) -> np.ndarray:
    """The places of the rows as similar as the `count`-th of those with a direction; of all if these are fewer."""
    near = _find_in_sample(similarities, count)
    if near is None or len(near) < count:
        near = np.flatnonzero(similarities > NO_DIRECTION)
    if count < len(near):
        found = similarities[near]
        near = near[found >= np.partition(found, -count)[-count]]
    return near


def _find_in_sample(similarities: np.ndarray, count: int) -> np.ndarray | None:
    """The places of the most similar rows, about twice `count`, found faster than by sorting; None if too many."""
    sample, rank = similarities[::SAMPLE_STEP], 2 * count // SAMPLE_STEP + 1
    if rank > len(sample) // 2:
        return None
    return np.flatnonzero(similarities >= np.partition(sample, -rank)[-rank])


def _join_neighbors(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The runs of neighbors among ascending places: first places, and the places behind the last ones."""
    edges = np.flatnonzero(np.diff(places) != 1) + 1
    first = np.zeros(min(1, len(places)), np.int64)
    return places[np.append(first, edges)], places[np.append(edges - 1, len(places) - first - 1)] + 1


def row_bytes(vectors: VectorColumns) -> int:
    """The memory that a row takes."""
    return sum(type_.itemsize for type_ in _column_types(vectors).values())


def _column_types(vectors: VectorColumns) -> dict[str, np.dtype[Any]]:
    """The columns; vectors without a direction are similar to nothing (see engine.text.similarity)."""
    return {**KEY_TYPES, "has_direction": np.dtype(np.bool_), **vectors.types}
