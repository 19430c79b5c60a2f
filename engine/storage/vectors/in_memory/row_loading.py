"""Make the arrays of a table: how many rows they get in the memory that it may take, and where each is loaded."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import structlog

from engine.errors import DiskError
from engine.storage.column_arrays import ArraysFull
from engine.storage.spilled_rows import SpilledRows, check_space
from engine.storage.vector_columns import REMAINDER, ROUNDED, ExactColumns, RoundedColumns
from engine.storage.vectors.in_memory.row_arrays import RowArrays
from engine.storage.vectors.in_memory.row_codes import code_bytes, report_failure
from engine.storage.vectors.in_memory.row_types import row_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Self

log = structlog.get_logger(__name__)

# Of the memory that a table may take: up to here its vectors are exact.
EXACT_SHARE = 0.25
MIN_SPARE_SHARE = 0.05  # arrays are reserved with room for this share of further rows
# Room for at most so many times the rows is reserved, since systems refuse more addresses than they have memory.
MAX_GROWTH, MIN_RESERVED_ROWS = 4, 500_000
UNCODED_GROWTH = 1.25  # the same for tables too small for codes: when it is used up, they are loaded again, with codes
FILE_SPARE_SHARE = 0.05  # a file has room for this share of further rows
MIN_CODED_ROWS = 500_000
CODED_TABLE_BYTES = 48 << 20  # of memory for FAISS and its lists, for each table
MIN_RESIDENT_SHARE = 0.25  # of the memory of a table, for vectors without codes


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


class _Plan(NamedTuple):
    """How rounded rows are held: how many at most, how many of them without a file, and whether they have codes."""

    max_rows: int
    resident: int
    is_coded: bool

    @classmethod
    def make(cls, dim: int, count: int, max_bytes: int, *, has_file: bool) -> Self:
        """For `count` rows and further ones in so much memory. Raises ArraysFull."""
        growth = _find_growth(dim, count)
        for is_coded in (True, False) if has_codes(dim, count) else (False,):
            size = row_size(dim, is_coded=is_coded)
            room = max_bytes - CODED_TABLE_BYTES * is_coded
            if max_rows := _find_room(size, count, room, growth):
                return cls(max_rows, max_rows, is_coded)
            max_rows = int(count * (1 + FILE_SPARE_SHARE))
            spare = room - max_rows * (size - dim)
            if has_file and spare >= (0 if is_coded else MIN_RESIDENT_SHARE * max_bytes):
                return cls(max_rows, spare // dim, is_coded)
        raise ArraysFull


def reserve_rows(dim: int, count: int, max_bytes: int, folder: Path | None = None) -> RowArrays:
    """Arrays for `count` rows and for further ones: exact if they are few and take little of `max_bytes`, else rounded.

    A file in `folder` holds what rounding took from them, and the rows that take more. Many rows have codes if there is
    room: `extend_codes` makes them from the written rows. Raises ArraysFull.
    """
    exact, room = ExactColumns(dim), int(EXACT_SHARE * max_bytes)
    is_small = not has_codes(dim, count)
    if is_small and (max_rows := _find_room(row_bytes(exact), count, room, _find_growth(dim, count))):
        return RowArrays(exact, max_rows)
    plan = _Plan.make(dim, count, max_bytes, has_file=folder is not None)
    is_whole = plan.resident == plan.max_rows
    unrefined = partial(RowArrays, RoundedColumns(dim), plan.max_rows, is_coded=plan.is_coded)
    if folder is None:
        return unrefined()
    try:
        check_space(folder, (2 * count - min(count, plan.resident)) * dim)
        others = {REMAINDER: SpilledRows(folder, dim, plan.max_rows)}
        if not is_whole:
            others[ROUNDED] = SpilledRows(folder, dim, plan.max_rows, plan.resident)
    except (OSError, DiskError) as error:
        log.warning("vectors.no_copy", error=str(error), is_rounded=is_whole)
        if is_whole:
            return unrefined()
        raise ArraysFull from error
    return RowArrays(RoundedColumns(dim, is_refined=True), plan.max_rows, others, is_coded=plan.is_coded)


async def extend_codes(rows: RowArrays) -> bool:
    """Make the codes of some more rows, if these are to have any; whether there are others without.

    A failure is logged: rows without codes are compared.
    """
    try:
        return await rows.extend_codes()
    except Exception as error:  # noqa: BLE001 - the library may raise anything, and searches do without it
        report_failure(error, len(rows))
        return False


def has_codes(dim: int, count: int) -> bool:
    """Whether so many rows have codes if there is memory for these."""
    return count >= MIN_CODED_ROWS and code_bytes(dim) > 0


def row_size(dim: int, *, is_coded: bool) -> int:
    """The memory that a rounded row takes with its code, if it has one; `dim` bytes of it can be in a file."""
    return row_bytes(RoundedColumns(dim)) + (code_bytes(dim) if is_coded else 0)


def table_size(dim: int, count: int, growth: float) -> int:
    """The memory that a multiple of so many rounded rows takes, with their codes if they have some."""
    is_coded = has_codes(dim, count)
    return int(growth * count * row_size(dim, is_coded=is_coded)) + CODED_TABLE_BYTES * is_coded


def _find_growth(dim: int, count: int) -> float:
    """The multiple of so many rows for which there is room at most."""
    return UNCODED_GROWTH if code_bytes(dim) and not has_codes(dim, count) else MAX_GROWTH


def _find_room(size: int, count: int, max_bytes: int, growth: float) -> int:
    """How many rows of a size to reserve in so much memory for `count` and further ones; 0 if these do not fit."""
    max_rows = max_bytes // size
    if count > max_rows - int(MIN_SPARE_SHARE * max_rows):
        return 0
    return min(max_rows, max(MIN_RESERVED_ROWS, int(growth * count)))
