"""An inverted index as arrays: in which rows a term stands, how often, and where the rows are.

Terms are known by a hash of 64 bits. The places of a term in 100,000 texts are found in microseconds; a scope is
compared with all rows, in less than a millisecond.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.storage.column_arrays import ArraysFull, is_member

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

ROW_TYPES = {
    "id": np.dtype(np.int64),
    "space": np.dtype(np.int32),
    "room": np.dtype(np.int32),
    "length": np.dtype(np.int32),
    "is_there": np.dtype(np.bool_),
}
MIN_ROWS = 1_024  # that arrays have room for
MAX_DELETED_SHARE = 0.25  # of the rows; with more all are written again


class Places(NamedTuple):
    """The rows of a term, as numbers within the arrays, and how often it stands in each."""

    rows: np.ndarray
    times: np.ndarray


class Segment(NamedTuple):
    """The places of some rows by term: those of `terms[i]` are from `starts[i]` to `starts[i + 1]`."""

    terms: np.ndarray
    starts: np.ndarray
    rows: np.ndarray
    times: np.ndarray

    def find(self, term: int) -> Places:
        """The places of a term."""
        at = int(np.searchsorted(self.terms, term))
        if at == len(self.terms) or self.terms[at] != term:
            return Places(self.rows[:0], self.times[:0])
        start, end = self.starts[at], self.starts[at + 1]
        return Places(self.rows[start:end], self.times[start:end])

    def list_terms(self) -> np.ndarray:
        """The term of each place."""
        return np.repeat(self.terms, np.diff(self.starts))

    @property
    def bytes(self) -> int:
        """The memory of the arrays."""
        return sum(array.nbytes for array in self)


class WordArrays:
    """Rows and their terms in at most `max_bytes`; for one thread at a time."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._count = self._deleted = 0
        self._rows = {name: np.empty(MIN_ROWS, type_) for name, type_ in ROW_TYPES.items()}
        self._segments = list[Segment]()
        self._scope: tuple[object, np.ndarray] | None = None  # the one that was asked for last

    def __len__(self) -> int:
        return self._count - self._deleted

    def append(self, rows: Mapping[str, np.ndarray], counts: np.ndarray, terms: np.ndarray, times: np.ndarray) -> None:
        """Add rows with new ids, given as columns but `is_there`; `counts`: the number of terms of each.

        Raises ArraysFull.
        """
        self._scope = None
        first, self._count = self._count, self._count + len(counts)
        self._reserve()
        for name, column in self._rows.items():
            column[first : self._count] = rows.get(name, True)
        numbers = np.repeat(np.arange(first, self._count, dtype=np.int32), counts)
        self._segments.append(_build_segment(terms.astype(np.int64), numbers, times.astype(np.uint16)))
        while len(self._segments) > 1 and len(self._segments[-2].rows) < 2 * len(self._segments[-1].rows):
            self._segments[-2:] = [_join(self._segments[-2:])]
        if self._measure_bytes() > self._max_bytes:
            raise ArraysFull

    def delete(self, ids: Collection[int]) -> None:
        """Delete the rows of the ids; missing ones are no error."""
        self._scope = None
        found = is_member(self._column("id"), ids) & self._column("is_there")
        self._column("is_there")[found] = False
        self._deleted += int(np.count_nonzero(found))
        if self._deleted > MAX_DELETED_SHARE * self._count + MIN_ROWS:
            self._remove_deleted()

    def find_scope(self, spaces: frozenset[int], rooms: frozenset[int]) -> np.ndarray:
        """Which rows are within the spaces or the rooms, as booleans."""
        if self._scope is None or self._scope[0] != (spaces, rooms):
            self._scope = (spaces, rooms), self._compare(spaces, rooms)
        return self._scope[1]

    def _compare(self, spaces: frozenset[int], rooms: frozenset[int]) -> np.ndarray:
        inside = is_member(self._column("space"), spaces)
        if rooms:
            inside |= is_member(self._column("room"), rooms)
        inside &= self._column("is_there")
        return inside

    def find(self, term: int, scope: np.ndarray) -> Places:
        """The places of a term in the rows of a scope."""
        found = [segment.find(term) for segment in self._segments]
        rows = np.concatenate([np.empty(0, np.int32), *(places.rows for places in found)])
        times = np.concatenate([np.empty(0, np.uint16), *(places.times for places in found)])
        inside = scope[rows]
        return Places(rows[inside], times[inside])

    def list_ids(self, rows: np.ndarray) -> np.ndarray:
        """The ids of rows."""
        return np.asarray(self._column("id")[rows])

    def list_lengths(self, rows: np.ndarray) -> np.ndarray:
        """The lengths of rows."""
        return np.asarray(self._column("length")[rows])

    def _column(self, name: str) -> np.ndarray:
        return np.asarray(self._rows[name][: self._count])

    def _reserve(self) -> None:
        """Make room for all rows, and for half as many more."""
        if self._count <= len(self._rows["id"]):
            return
        size = self._count + self._count // 2
        for name, column in self._rows.items():
            self._rows[name] = np.concatenate([column, np.empty(size - len(column), column.dtype)])

    def _measure_bytes(self) -> int:
        rows: int = sum(column.nbytes for column in self._rows.values())
        return rows + sum(segment.bytes for segment in self._segments)

    def _remove_deleted(self) -> None:
        """Write all arrays again without deleted rows, so that nothing of them stays in memory."""
        kept = self._column("is_there")
        numbers = np.cumsum(kept, dtype=np.int32) - 1
        whole = _join(self._segments)
        left = kept[whole.rows]
        terms = whole.list_terms()[left]
        self._segments = [_build_segment(terms, numbers[whole.rows[left]], whole.times[left])]
        self._rows = {name: self._column(name)[kept] for name in self._rows}
        self._count, self._deleted = int(np.count_nonzero(kept)), 0


def _build_segment(terms: np.ndarray, rows: np.ndarray, times: np.ndarray) -> Segment:
    order = np.argsort(terms, kind="stable")
    distinct, starts = np.unique(terms[order], return_index=True)
    return Segment(distinct, np.append(starts, len(terms)), rows[order], times[order])


def _join(segments: Sequence[Segment]) -> Segment:
    terms = np.concatenate([segment.list_terms() for segment in segments])
    rows = np.concatenate([segment.rows for segment in segments])
    return _build_segment(terms, rows, np.concatenate([segment.times for segment in segments]))
