"""Make the arrays of a table: how many rows they get in the memory that it may take, and where each is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import structlog

from engine.errors import DiskError
from engine.storage.column_arrays import ArraysFull
from engine.storage.spilled_rows import SpilledRows, check_space
from engine.storage.vector_columns import REMAINDER, ROUNDED, ExactColumns, RoundedColumns
from engine.storage.vectors.in_memory.row_arrays import RowArrays, row_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from engine.storage.vector_columns import VectorColumns

log = structlog.get_logger(__name__)

# Of the memory that a table may take: up to here its vectors are exact.
EXACT_SHARE = 0.25
MIN_SPARE_SHARE = 0.05  # arrays are reserved with room for this share of further rows
# Room for at most so many times the rows is reserved, since systems refuse more addresses than they have memory.
MAX_GROWTH, MIN_RESERVED_ROWS = 4, 500_000
FILE_SPARE_SHARE = 0.1  # a file has room for this share of further rows
MIN_RESIDENT_SHARE = 0.25  # of the memory of a table that its keys leave for vectors


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
