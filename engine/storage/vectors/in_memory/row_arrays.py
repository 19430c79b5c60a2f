"""Rows of a vector table in memory, as arrays: search and look-up without the database.

One search of 20,000 exact rows of 384 dimensions takes 1 ms of one core, of 380,000 rounded ones 7 ms. Tables of up to
200,000 rows in memory are searched in the event loop, others beside it.
"""

from __future__ import annotations

import asyncio
import math
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from engine.scheduling.supervisor import wait_for_completion
from engine.storage.column_arrays import ArraysFull, ColumnArrays, is_member
from engine.storage.search_gate import SearchGate, SearchThreads, share_work
from engine.storage.vector_columns import ROUNDED, RoundedColumns
from engine.storage.vectors.base import VectorHit
from engine.storage.vectors.in_memory.nearest import NO_DIRECTION, NearRows, find_in_sample, find_nearest
from engine.storage.vectors.in_memory.place_runs import READ_ROWS, Runs, SpaceRuns, split_run
from engine.storage.vectors.in_memory.row_codes import (
    MIN_TRAINING_ROWS,
    TRAINING_ROWS,
    RowCodes,
    compare_candidates,
    report_failure,
)
from engine.storage.vectors.in_memory.row_types import column_types
from engine.storage.vectors.search_plan import max_matching_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from engine.storage.spilled_rows import SpilledRows
    from engine.storage.vector_columns import Columns, VectorColumns
    from engine.storage.vectors.base import VectorFilter, VectorRow

# Copying a row out costs about six times as much as its product with the query: fewer rows are copied first.
COPY_SHARE = 8
BLOCK_ROWS = 2_048
LOOP_ROWS = 200_000  # of a table that is searched in the event loop
EVERYWHERE = slice(None)
# This multiple of the wanted rows, and so many at least, are found; those whose order rounding may change are compared
# with the exact query.
REFINE_FACTOR, MIN_REFINED_ROWS = 2, 80
MIN_RUN_ROWS = 128  # rows at neighboring places are compared where they are, from so many on
CODE = "code"
# From so many rows on their codes are searched; from so many on if a file has rows, which are read one by one.
MIN_CODED_SCOPE, MIN_CODED_FILE_SCOPE = 50_000, 200_000
# Lists of codes with fewer rows in the scope, or all such lists if they have few rows of the table, are not searched:
# comparing these rows takes less time.
LEAST_COVERAGE, FEW_ROWS_SHARE = 0.25, 32
NO_ROWS, NO_PLACES = np.empty((0, 0), np.int8), np.empty(0, np.int64)
NO_NEAR_ROWS = NearRows(NO_PLACES, np.empty(0, np.float32))


class RowArrays:
    """The rows of one table in no particular order, at most `max_rows`. Changes wait for a search in another thread.

    `others`: the columns of vectors that are not in memory alone. Raises CopyLost if these cannot be read or written.
    `is_coded`: the rows are to have codes.
    """

    def __init__(
        self,
        vectors: VectorColumns,
        max_rows: int,
        others: Mapping[str, SpilledRows] | None = None,
        *,
        is_coded: bool = False,
    ) -> None:
        self._vectors = vectors
        self.others = others or {}
        types = {name: type_ for name, type_ in column_types(vectors).items() if name not in self.others}
        self._max_rows = max_rows
        self._rows = ColumnArrays(types, max_rows, self.others)
        self._is_grouped = False
        self._groups: SpaceRuns | None = None  # None: not known since the last change
        self._is_coded = is_coded
        self._codes: RowCodes | None = None  # made when there are rows
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
            moved = self._rows.delete(places)
            if self._codes is not None and self._codes.filled < math.inf:  # they may come from lists without codes
                self._codes[moved] = self._codes.encode(self._decode_compared(moved))

    async def extend_codes(self) -> bool:
        """Make the codes of some more rows, if these are to have any; whether there are others without.

        Rows may be searched and changed meanwhile. A step takes 0.2 s, the first some seconds.
        """
        if not self._is_coded or (self._codes is None and len(self) < MIN_TRAINING_ROWS):
            return False
        if self._codes is None:
            sample = await self._threads.run(self._sample)
            codes = await wait_for_completion(asyncio.to_thread(RowCodes, self._max_rows, sample))
            self._rows.add_column(CODE, codes)
            self._codes = codes  # no list is filled yet, so that searches may run meanwhile
            return True
        await self._threads.run(partial(self._code_list, self._codes))
        return self._codes.filled < math.inf

    def _sample(self) -> np.ndarray:
        with self._gate.search():
            return self._decode_compared(np.arange(0, len(self), max(1, len(self) // TRAINING_ROWS)))

    def _code_list(self, codes: RowCodes) -> None:
        with self._gate.search():
            number = int(codes.filled)
            start, end = number * codes.list_rows, (number + 1) * codes.list_rows
            vectors = self._decode_compared(np.arange(start, max(start, min(end, len(self)))))
            codes.fill_list(number, vectors, is_last=end >= len(self))

    def append(self, keys: Mapping[str, np.ndarray], vectors: np.ndarray) -> None:
        """Add rows with new keys, given as columns, and their vectors of length one. Raises ArraysFull."""
        with self._change():
            self._rows.append(self._encode(keys, vectors))

    def _encode(self, keys: Mapping[str, np.ndarray], vectors: np.ndarray) -> dict[str, np.ndarray]:
        codes = {} if self._codes is None else {CODE: self._codes.encode(vectors)}
        return {**keys, **codes, **self._vectors.encode(vectors), "has_direction": np.asarray(vectors.any(axis=1))}

    @contextmanager
    def _change(self) -> Iterator[None]:
        with self._gate.change():
            self._groups = None
            try:
                yield
            except ArraysFull:
                raise
            except Exception as error:
                if self._codes is None:
                    raise
                report_failure(error, len(self))  # the library may raise anything: the rows are loaded again
                raise ArraysFull from error

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
            self.remove(np.flatnonzero(is_member(self._rows["id"], ids)))

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
        """The k rows most similar to a query of length one that match the filter, best first; ties by id and part.

        In tables with codes, any of thousands of equal rows may be left out, and rarely another row.
        """
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
            return [self._list_hits(*search, found) for search, found in zip(searches, near, strict=True)]

    def _list_hits(self, query: np.ndarray, k: int, near: NearRows) -> list[VectorHit]:
        """The k of these rows that are most similar to a query."""
        steps = {name: self._rows[name][near.places] for name in self._vectors.steps}
        places = near.drop_far(k, self._vectors.find_margin(steps, query)).places
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

    def _find_nearest(self, queries: np.ndarray, counts: Sequence[int], vector_filter: VectorFilter) -> list[NearRows]:
        """For each query the rows that match the filter and are as similar as the last wanted one."""
        searches = zip(queries, counts, strict=True)
        return [self._find_nearest_to(query[None], count, vector_filter) for query, count in searches]

    def _find_nearest_to(self, query: np.ndarray, count: int, vector_filter: VectorFilter) -> NearRows:
        expected, prepared = max_matching_rows(vector_filter) or 0, self._vectors.prepare(query)
        every = self._compare_all(prepared) if expected * COPY_SHARE >= len(self) > 0 else None
        if every is not None and (near := find_in_sample(every, count * len(self) // expected)) is not None:
            places = near[self._matches(vector_filter, near)]
            if len(places) >= count:
                return NearRows(places, every[places])
        places = np.flatnonzero(self._matches(vector_filter))
        if every is None and len(places) * COPY_SHARE >= len(self) > 0:
            every = self._compare_all(prepared)
        similarities = self._compare_copies(prepared, places)[0] if every is None else every[places]
        return NearRows(places, similarities).drop_far(count, 0.0)

    def _find_in_groups(
        self, queries: np.ndarray, counts: Sequence[int], vector_filter: VectorFilter
    ) -> list[NearRows]:
        """As `_find_nearest`, where rows of a space are neighbors; if many have codes, hardly any row is missed."""
        runs = self._find_runs(vector_filter)
        least = MIN_CODED_FILE_SCOPE if ROUNDED in self.others else MIN_CODED_SCOPE
        if not self._is_coded or self._codes is None or runs.lengths.sum() < least:
            return self._find_in_runs(queries, counts, runs)
        lists = runs.list_full_parts(self._codes.list_rows, LEAST_COVERAGE, len(self) // FEW_ROWS_SHARE)
        lists = lists[lists < self._codes.filled]
        coded, others = runs.divide(self._codes.list_rows, lists)
        near = self._find_by_codes(self._codes, queries, counts, lists, coded)
        if others.starts.size:
            near = list(map(NearRows.join, zip(near, self._find_in_runs(queries, counts, others), strict=True)))
        return near

    def _find_by_codes(
        self, codes: RowCodes, queries: np.ndarray, counts: Sequence[int], lists: np.ndarray, runs: Runs
    ) -> list[NearRows]:
        """As `_find_in_runs`, for runs in lists of codes; their rows are compared where codes tell too little."""
        if not len(lists):
            return [NO_NEAR_ROWS] * len(queries)
        searched, matches = int(runs.lengths.sum()), None
        if searched < len(lists) * codes.list_rows or not self._rows["has_direction"].all():
            matches = runs.mark(len(self)) & self._rows["has_direction"]
            searched = int(np.count_nonzero(matches))
        try:
            found = codes.find(queries, max(counts), lists, matches)
        except Exception as error:  # noqa: BLE001 - the library may raise anything, and rows can be compared
            report_failure(error, len(self))
            self._is_coded = False
            return self._find_in_runs(queries, counts, runs)
        prepared, wanted = self._vectors.prepare(queries), [count // REFINE_FACTOR for count in counts]
        compared = compare_candidates(found, wanted, searched, partial(self._compare_copies, prepared))
        return [
            self._find_in_runs(query[None], [count], runs)[0] if near is None else near.drop_far(count, 0.0)
            for query, count, near in zip(queries, counts, compared, strict=True)
        ]

    def _find_in_runs(self, queries: np.ndarray, counts: Sequence[int], runs: Runs) -> list[NearRows]:
        """For each query the rows of these runs that are as similar as the last wanted one."""
        starts, firsts = runs.starts, np.append(0, np.cumsum(runs.lengths))
        found = list[NearRows]()
        for similarities, count in zip(self._compare_runs(queries, runs), counts, strict=True):
            near = find_nearest(similarities, count)
            owners = np.searchsorted(firsts, near, side="right") - 1
            places = starts[owners] + near - firsts[owners] if len(near) else near
            near_rows = NearRows(places, similarities[near])
            found.append(near_rows.select(self._rows["has_direction"][places]))
        return found

    def _find_runs(self, vector_filter: VectorFilter) -> Runs:
        """All runs of neighbors that match the filter."""
        if vector_filter.rooms or vector_filter.ids is not None:
            return Runs.find(np.flatnonzero(self._matches(vector_filter)))
        self._groups = self._groups or SpaceRuns.find(self._rows["space"])
        return self._groups.select(vector_filter.spaces)

    def _matches(self, vector_filter: VectorFilter, places: np.ndarray | slice = EVERYWHERE) -> np.ndarray:
        """Which rows at these places match the filter and have a direction, as booleans."""
        matches = is_member(self._rows["space"][places], vector_filter.spaces)
        if vector_filter.rooms:
            matches |= is_member(self._rows["room"][places], vector_filter.rooms)
        if vector_filter.ids is not None:
            matches &= is_member(self._rows["id"][places], vector_filter.ids)
        matches &= self._rows["has_direction"][places]
        return matches

    def _compare_runs(self, queries: np.ndarray, runs: Runs) -> np.ndarray:
        """The cosines of each query with the rows of these runs, long ones where they are.

        NO_DIRECTION for vectors without one.
        """
        prepared, lengths = self._vectors.prepare(queries), runs.lengths
        firsts = np.append(0, np.cumsum(lengths))
        similarities = np.empty((len(queries), firsts[-1]), np.float32)
        is_long = lengths >= MIN_RUN_ROWS
        long_runs = zip(*(each[is_long].tolist() for each in (*runs, firsts[:-1])), strict=True)
        self._compare_blocks(prepared, [(start, end, first - start) for start, end, first in long_runs], similarities)
        if not is_long.all():
            others = np.flatnonzero(np.repeat(~is_long, lengths))
            places = Runs(runs.starts[~is_long], runs.ends[~is_long]).list_places()
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

        blocks = [block for run in runs for block in split_run(*run, resident)]
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

    def _decode_compared(self, places: np.ndarray) -> np.ndarray:
        return self._vectors.decode_compared(self._copy(places, self._vectors.compared))

    def _copy(self, places: np.ndarray, names: Iterable[str]) -> dict[str, np.ndarray]:
        """These columns, only these rows."""
        return {name: self._rows.copy(name, places) for name in names}
