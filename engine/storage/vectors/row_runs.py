"""Runs of rows in arrays: those of a scope, and those of them that sketches leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.storage.column_arrays import is_member

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Self

    from engine.storage.vector_sketch import SketchedQuery

# Rows at neighboring places are compared where they are, from so many on.
MIN_RUN_ROWS = 128
BLOCK_ROWS = 8_192  # whose sketches are copied at once
# So many times the wanted rows, and so many at least, show how similar the nearest rows are.
PROBE_FACTOR, MIN_PROBED_ROWS = 5, 1_000
MIN_RANK = 40  # so many rows at least are wanted, as the last ones are missed more often
SAMPLE_STEP = 16
# If more than one of so many rows remains, all are compared: a row elsewhere costs six times as much as one in a run.
WHOLE_SHARE = 6


class Runs:
    """Runs of neighbors, ascending: first places, and the places behind the last ones."""

    def __init__(self, starts: np.ndarray, ends: np.ndarray) -> None:
        self.starts, self.ends, self.lengths = starts, ends, ends - starts
        self._firsts = np.append(0, np.cumsum(self.lengths))

    @classmethod
    def of_places(cls, places: np.ndarray) -> Self:
        """The runs of neighbors among ascending places."""
        edges = np.flatnonzero(np.diff(places) != 1) + 1
        first = np.zeros(min(1, len(places)), np.int64)
        return cls(places[np.append(first, edges)], places[np.append(edges - 1, len(places) - first - 1)] + 1)

    def __len__(self) -> int:
        """The number of rows."""
        return int(self._firsts[-1])

    def find_places(self, numbers: np.ndarray) -> np.ndarray:
        """The places of these rows, which are counted from the first run on, ascending."""
        counts = np.diff(np.searchsorted(numbers, self._firsts))
        return np.asarray(numbers + np.repeat(self.starts - self._firsts[:-1], counts))

    def list_long(self) -> list[tuple[int, int, int]]:
        """The long runs: first place, the place behind the last one, and the number of the first row."""
        chosen = self.lengths >= MIN_RUN_ROWS
        columns = self.starts[chosen], self.ends[chosen], self._firsts[:-1][chosen]
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def list_short_rows(self) -> np.ndarray:
        """The numbers of the rows in short runs."""
        return np.flatnonzero(np.repeat(self.lengths < MIN_RUN_ROWS, self.lengths))


@dataclass(frozen=True, slots=True)
class SpaceRuns:
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

    def choose(self, spaces: Collection[int]) -> Runs:
        """The runs of some spaces, as long as possible."""
        matches = is_member(self.spaces, spaces)
        starts, ends = self.starts[matches], self.ends[matches]
        if not len(starts):
            return Runs(starts, ends)
        is_first, is_last = np.append(True, starts[1:] != ends[:-1]), np.append(starts[1:] != ends[:-1], True)
        return Runs(starts[is_first], ends[is_last])


@dataclass(frozen=True, slots=True)
class SketchSearch:
    """Leaves of many rows those whose sketches are near enough to a query.

    `words`: the columns of the sketches.

    The k-th best cosine of the rows whose sketches are nearest is reached by k rows. From it follows how far the
    sketches of the k nearest rows may be: a row that just reaches it is left out with a probability of 5 %, a nearer
    one hardly ever, whatever the vectors are. Of the 20 and 40 nearest rows 98 % and more are found in the mean.
    Nothing but the vectors of the rows of the runs decides: neither their places, nor other rows.
    """

    words: Sequence[np.ndarray]
    has_direction: np.ndarray
    query: SketchedQuery

    def narrow(self, runs: Runs, k: int, compare: Callable[[np.ndarray], np.ndarray]) -> Runs:
        """The rows that may be among the k nearest; all of them if these are too many.

        `compare`: gives the cosines of rows at places.
        """
        k = max(k, MIN_RANK)
        probed = max(PROBE_FACTOR * k, MIN_PROBED_ROWS)
        differences = self._count_differences(runs)
        limit = _find_limit(differences, probed, self.query.dim)
        near = runs.find_places(np.flatnonzero(differences <= limit))
        if len(near) < k or len(near) * WHOLE_SHARE > len(runs):
            return runs
        cosines = compare(near)
        least = _find_highest(cosines, k)
        limit = max(limit, self.query.most_differences(least))
        if np.count_nonzero(differences <= limit) * WHOLE_SHARE > len(runs):
            return runs
        places = runs.find_places(np.flatnonzero(differences <= limit))
        estimates = self._estimate(places)
        best = places[estimates >= _find_highest(estimates, probed)]
        if len(best) * WHOLE_SHARE > len(runs):
            return runs
        least = max(least, _find_highest(compare(best), k))
        chosen = np.union1d(places[estimates >= self.query.least_estimate(least)], near[cosines >= least])
        return runs if len(chosen) * WHOLE_SHARE > len(runs) else Runs.of_places(chosen)

    def _count_differences(self, runs: Runs) -> np.ndarray:
        """How many bits of each row differ; more than there are without a direction."""
        found = np.empty(len(runs), np.uint16)
        for start, end, first in runs.list_long():
            part = found[first : first + end - start]
            self.query.count_differences([column[start:end] for column in self.words], part)
            self._mark_directionless(part, slice(start, end))
        others = runs.list_short_rows()
        for begin in range(0, len(others), BLOCK_ROWS):
            block = others[begin : begin + BLOCK_ROWS]
            places, part = runs.find_places(block), np.empty(len(block), np.uint16)
            self.query.count_differences([column[places] for column in self.words], part)
            self._mark_directionless(part, places)
            found[block] = part
        return found

    def _mark_directionless(self, part: np.ndarray, places: slice | np.ndarray) -> None:
        has_direction = self.has_direction[places]
        if not has_direction.all():
            part[~has_direction] = self.query.dim + 1

    def _estimate(self, places: np.ndarray) -> np.ndarray:
        blocks = [places[start : start + BLOCK_ROWS] for start in range(0, len(places), BLOCK_ROWS)]
        return np.concatenate(
            [self.query.estimate([column.take(block, mode="clip") for column in self.words]) for block in blocks]
        )


def _find_limit(differences: np.ndarray, count: int, highest: int) -> int:
    """The least number of differences that at least `count` rows do not exceed, or the highest possible one."""
    sample = np.bincount(differences[::SAMPLE_STEP]).cumsum()
    limit = min(int(np.searchsorted(sample, count // SAMPLE_STEP)), highest)
    while limit > 0 and np.count_nonzero(differences < limit) >= count:
        limit -= 1
    while limit < highest and np.count_nonzero(differences <= limit) < count:
        limit += 1
    return limit


def _find_highest(numbers: np.ndarray, count: int) -> float:
    """The `count`-th highest number, or the lowest."""
    rank = min(count, len(numbers))
    return float(np.partition(numbers, -rank)[-rank])
