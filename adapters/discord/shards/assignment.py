"""Share out shards over processes: who takes a free one, and who gives one up. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class ShardHoldings:
    """The shards 0 to `count - 1` as the process `me` sees them: each that is held, and the process that holds it.

    `processes`: the ids of all that take part.
    """

    me: int
    count: int
    processes: frozenset[int]
    holders: Mapping[int, int]

    @property
    def free(self) -> list[int]:
        """The shards that nobody holds."""
        return [shard for shard in range(self.count) if shard not in self.holders]

    def is_next(self) -> bool:
        """Whether this process takes the next free shard: it has the fewest, and of several such the lowest id."""
        held = self._count_held()
        return min(held, key=lambda process: (held[process], process)) == self.me

    def find_surplus(self) -> int | None:
        """A shard to give up: this process has the most, and two more than another. Nothing is while one is free."""
        held = self._count_held()
        richest = max(held, key=lambda process: (held[process], process))
        if self.free or richest != self.me or held[self.me] - min(held.values()) <= 1:
            return None
        return max(shard for shard, process in self.holders.items() if process == self.me)

    def with_mine(self, shard: int) -> ShardHoldings:
        """The holdings once this process has one more shard."""
        return ShardHoldings(self.me, self.count, self.processes, {**self.holders, shard: self.me})

    def _count_held(self) -> Mapping[int, int]:
        counts = Counter(self.holders.values())
        return {process: counts[process] for process in self.processes | {self.me}}
