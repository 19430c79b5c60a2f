"""Runs of neighboring places: their first places, and the places behind their last ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from engine.storage.column_arrays import is_member

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Self


# Neighbors are compared in few calls, since each waits for its turn in the interpreter. Those in a file are read into a
# buffer that a cache of the processor holds.
MAX_RUN_ROWS, READ_ROWS = 65_536, 8_192


class Runs(NamedTuple):
    """Runs of neighbors, ascending."""

    starts: np.ndarray
    ends: np.ndarray

    @classmethod
    def find(cls, places: np.ndarray) -> Self:
        """The runs among ascending places."""
        edges = np.flatnonzero(np.diff(places) != 1) + 1
        first = np.zeros(min(1, len(places)), np.int64)
        return cls(places[np.append(first, edges)], places[np.append(edges - 1, len(places) - first - 1)] + 1)

    @property
    def lengths(self) -> np.ndarray:
        """How many places each run has."""
        return np.asarray(self.ends - self.starts)

    def join(self) -> Runs:
        """Those that follow each other without a gap as one."""
        if not len(self.starts):
            return self
        is_first = np.append(True, self.starts[1:] != self.ends[:-1])
        is_last = np.append(self.starts[1:] != self.ends[:-1], True)
        return Runs(self.starts[is_first], self.ends[is_last])

    def list_places(self) -> np.ndarray:
        """All places."""
        firsts = np.cumsum(self.lengths) - self.lengths
        return np.asarray(np.arange(int(self.lengths.sum())) + np.repeat(self.starts - firsts, self.lengths))

    def mark(self, count: int) -> np.ndarray:
        """Which of the first `count` places are in a run, as booleans; runs are joined."""
        steps = np.zeros(count + 1, np.int8)
        steps[self.starts] = 1
        steps[self.ends] = -1
        return np.cumsum(steps[:-1], dtype=np.int8).view(np.bool_)

    def split(self, size: int) -> tuple[Runs, np.ndarray]:
        """The runs, cut where a part of `size` places ends, and the part of each."""
        first, last = self.starts // size, (self.ends - 1) // size
        counts = last - first + 1
        owners = np.repeat(np.arange(len(counts)), counts)
        parts = np.arange(int(counts.sum())) + np.repeat(first - (np.cumsum(counts) - counts), counts)
        starts = np.maximum(self.starts[owners], parts * size)
        return Runs(starts, np.minimum(self.ends[owners], (parts + 1) * size)), parts

    def list_full_parts(self, size: int, coverage: float, few: int) -> np.ndarray:
        """The parts of `size` places that the runs cover, at least this share of each.

        Only those that they cover wholly if the others have so few places of the runs.
        """
        pieces, parts = self.split(size)
        covered = np.bincount(parts, weights=pieces.lengths)
        is_full = covered >= coverage * size
        if covered[is_full & (covered < size)].sum() < few:
            is_full = covered == size
        return np.flatnonzero(is_full)

    def divide(self, size: int, parts: np.ndarray) -> tuple[Runs, Runs]:
        """The runs in some parts of `size` places, and those in the others."""
        pieces, owners = self.split(size)
        chosen = np.isin(owners, parts)
        inside, outside = (Runs(pieces.starts[each], pieces.ends[each]).join() for each in (chosen, ~chosen))
        return inside, outside


class SpaceRuns(NamedTuple):
    """The runs of rows of one space, and their spaces."""

    spaces: np.ndarray
    runs: Runs

    @classmethod
    def find(cls, spaces: np.ndarray) -> Self:
        """The runs in a column of spaces."""
        edges = np.flatnonzero(spaces[1:] != spaces[:-1]) + 1
        starts = np.append(np.zeros(min(1, len(spaces)), np.int64), edges)
        return cls(spaces[starts], Runs(starts, np.append(starts, len(spaces))[1:]))

    def select(self, spaces: Collection[int]) -> Runs:
        """The runs of these spaces."""
        matches = is_member(self.spaces, spaces)
        return Runs(self.runs.starts[matches], self.runs.ends[matches]).join()


def split_run(start: int, end: int, shift: int, resident: int) -> Iterator[tuple[int, int, int]]:
    """A run in blocks; those of rows from the place `resident` on are read from a file."""
    while start < end:
        last = min(start + MAX_RUN_ROWS, end, resident) if start < resident else min(start + READ_ROWS, end)
        yield start, last, shift
        start = last
