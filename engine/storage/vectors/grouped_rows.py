"""Rows of a table put in order by space while they are loaded: a search reads the places of its spaces only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.storage.vectors.row_arrays import RowArrays


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
