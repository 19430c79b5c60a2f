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
import structlog

from engine.errors import DiskError
from engine.storage.column_arrays import ArraysFull, ColumnArrays, is_member
from engine.storage.search_gate import SearchGate, SearchThreads
from engine.storage.spilled_rows import SpilledRows, check_space
from engine.storage.vector_columns import REMAINDER, ROUNDED, ExactColumns, RoundedColumns
from engine.storage.vectors.base import VectorHit
from engine.storage.vectors.search_plan import max_matching_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path
    from typing import Self

    from engine.storage.vector_columns import Columns, VectorColumns
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
# This multiple of the wanted rows, and so many at least, are compared with the exact query.
REFINE_FACTOR, MIN_REFINED_ROWS = 2, 80
MIN_SPARE_SHARE = 0.05  # arrays are reserved with room for this share of further rows
# Rows at neighboring places are compared where they are, from so many on, and so many at once, which fit
# into a cache of the processor.
MIN_RUN_ROWS, MAX_RUN_ROWS = 128, 8_192
NO_DIRECTION = np.float32(-2.0)  # below every cosine
# Room for at most so many times the rows is reserved, since systems refuse more addresses than they have memory.
MAX_GROWTH, MIN_RESERVED_ROWS = 4, 500_000
FILE_SPARE_SHARE = 0.1  # a file has room for this share of further rows
MIN_RESIDENT_SHARE = 0.25  # of the memory of a table that its keys leave for vectors
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
        """As `search`, beside the event loop if the table is large or a file is read."""
        if len(self) <= LOOP_ROWS and not self.others:
            return self.search(query, k, vector_filter)
        return await self._threads.run(partial(self.search, query, k, vector_filter))

    async def look_up(self, ids: Collection[int]) -> dict[int, np.ndarray]:
        """As `fetch`, beside the event loop if a file is read."""
        return await self._threads.run(partial(self.fetch, ids)) if self.others else self.fetch(ids)

    def hold_searches(self) -> AbstractAsyncContextManager[None]:
        """While inside, nothing is searched beside the event loop, so that a change does not block it."""
        return self._threads.hold()

    def search(self, query: np.ndarray, k: int, vector_filter: VectorFilter) -> list[VectorHit]:
        """The k rows most similar to a query of length one that match the filter, best first; ties by id and part."""
        with self._gate.search():
            find = self._find_in_groups if self._is_grouped else self._find_nearest
            places = find(query, max(REFINE_FACTOR * k, MIN_REFINED_ROWS), vector_filter)
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

    def _find_nearest(self, query: np.ndarray, count: int, vector_filter: VectorFilter) -> np.ndarray:
        """The places of the rows that match the filter and are as similar as the `count`-th of these."""
        expected, prepared = max_matching_rows(vector_filter) or 0, self._vectors.prepare(query)
        every = self._compare_run(prepared, 0, len(self)) if expected * COPY_SHARE >= len(self) > 0 else None
        if every is not None and (near := self._find_in_sample(every, count * len(self) // expected)) is not None:
            places = near[self._matches(vector_filter, near)]
            if len(places) >= count:
                return np.asarray(places)
        places = np.flatnonzero(self._matches(vector_filter))
        if every is None and len(places) * COPY_SHARE >= len(self) > 0:
            every = self._compare_run(prepared, 0, len(self))
        similarities = self._compare_copies(prepared, places) if every is None else every[places]
        if count < len(places):
            places = places[similarities >= np.partition(similarities, -count)[-count]]
        return np.asarray(places)

    def _find_in_groups(self, query: np.ndarray, count: int, vector_filter: VectorFilter) -> np.ndarray:
        """As `_find_nearest`, where rows of a space are neighbors: these are compared where they are."""
        starts, ends = self._find_runs(vector_filter)
        similarities = self._compare_runs(self._vectors.prepare(query), starts, ends)
        near = self._find_in_sample(similarities, count)
        if near is None or len(near) < count:
            near = np.flatnonzero(similarities > NO_DIRECTION)
        if count < len(near):
            found = similarities[near]
            near = near[found >= np.partition(found, -count)[-count]]
        firsts = np.append(0, np.cumsum(ends - starts))
        runs = np.searchsorted(firsts, near, side="right") - 1
        places = starts[runs] + near - firsts[runs] if len(near) else near
        return np.asarray(places[self._rows["has_direction"][places]])

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

    def _compare_runs(self, prepared: Columns, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """The cosines with the rows of these runs, long ones where they are; NO_DIRECTION for vectors without one."""
        lengths = ends - starts
        firsts = np.append(0, np.cumsum(lengths))
        similarities = np.empty(firsts[-1], np.float32)
        is_long = lengths >= MIN_RUN_ROWS
        for start, end, first in zip(starts[is_long], ends[is_long], firsts[:-1][is_long], strict=True):
            similarities[first : first + end - start] = self._compare_run(prepared, int(start), int(end))
        if not is_long.all():
            others = np.flatnonzero(np.repeat(~is_long, lengths))
            places = others + np.repeat((starts - firsts[:-1])[~is_long], lengths[~is_long])
            copied = self._compare_copies(prepared, places)
            copied[~self._rows["has_direction"][places]] = NO_DIRECTION
            similarities[others] = copied
        return similarities

    def _compare_run(self, prepared: Columns, start: int, end: int) -> np.ndarray:
        """The cosines with the rows from one place to another."""
        file = self.others.get(ROUNDED)
        buffer = NO_ROWS
        if file is not None and end > file.resident_rows:
            buffer = np.empty((min(MAX_RUN_ROWS, end - start), file.width), np.int8)
        elif end - start <= MAX_RUN_ROWS:
            return self._compare_part(prepared, start, end)
        parts = [(first, min(first + MAX_RUN_ROWS, end)) for first in range(start, end, MAX_RUN_ROWS)]
        return np.concatenate([self._compare_part(prepared, *part, buffer) for part in parts])

    def _compare_part(self, prepared: Columns, start: int, end: int, buffer: np.ndarray = NO_ROWS) -> np.ndarray:
        """The cosines with these rows; NO_DIRECTION for vectors without one. `buffer`: for rows in a file."""
        columns = {name: self._rows[name][start:end] for name in self._vectors.compared if name not in self.others}
        if ROUNDED in self.others:
            columns[ROUNDED] = self.others[ROUNDED].read_run(start, end, buffer)
        similarities = self._vectors.compare(columns, prepared)
        similarities[~self._rows["has_direction"][start:end]] = NO_DIRECTION
        return similarities

    def _compare_copies(self, prepared: Columns, places: np.ndarray) -> np.ndarray:
        blocks = [places[start : start + BLOCK_ROWS] for start in range(0, len(places), BLOCK_ROWS)]
        return np.concatenate(
            [
                np.empty(0, np.float32),
                *(self._vectors.compare(self._copy(at, self._vectors.compared), prepared) for at in blocks),
            ]
        )

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

    A file in `folder` holds what rounding took from them, and the rows that take more. Raises ArraysFull.
    """
    exact, rounded = ExactColumns(dim), RoundedColumns(dim)
    if max_rows := _find_room(exact, count, int(EXACT_SHARE * max_bytes)):
        return RowArrays(exact, max_rows)
    fitting = _find_room(rounded, count, max_bytes)
    if folder is None and fitting:
        return RowArrays(rounded, fitting)
    max_rows = fitting or int(count * (1 + FILE_SPARE_SHARE))
    resident = max_rows if fitting else (max_bytes - max_rows * (row_bytes(rounded) - dim)) // dim
    if folder is None or (not fitting and resident * dim < MIN_RESIDENT_SHARE * max_bytes):
        raise ArraysFull
    try:
        check_space(folder, (2 * count - min(count, resident)) * dim)
        others = {REMAINDER: SpilledRows(folder, dim, max_rows)}
        if not fitting:
            others[ROUNDED] = SpilledRows(folder, dim, max_rows, resident)
    except (OSError, DiskError) as error:
        log.warning("vectors.no_copy", error=str(error), is_rounded=bool(fitting))
        if fitting:
            return RowArrays(rounded, fitting)
        raise ArraysFull from error
    return RowArrays(RoundedColumns(dim, is_refined=True), max_rows, others)


def _find_room(vectors: VectorColumns, count: int, max_bytes: int) -> int:
    """How many rows to reserve in so much memory for `count` rows and further ones; 0 if these do not fit."""
    max_rows = max_bytes // row_bytes(vectors)
    if count > max_rows - int(MIN_SPARE_SHARE * max_rows):
        return 0
    return min(max_rows, max(MIN_RESERVED_ROWS, MAX_GROWTH * count))


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
