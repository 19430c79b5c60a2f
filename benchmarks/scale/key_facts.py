"""The facts of one name or pair, counted while documents are written."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from engine.knowledge.merge import FactCounts, Fragment
from engine.options import SummaryLimits

MAX_FRAGMENTS = SummaryLimits().join_fragments  # more are never joined


@dataclass(slots=True)
class KeyFactsBuilder:
    """A name, or a pair of names with its `ends`; keeps the descriptions that the engine would join."""

    id: int
    space: int
    ends: tuple[int, ...] = ()
    labels: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    chunk_count: int = 0
    _last_chunk: int = 0
    _fragments: list[Fragment] = field(default_factory=list)

    def add(self, chunk: int, label: str, type_: str, fragment: Fragment) -> None:
        """Count a fact; those of a chunk come together."""
        self.labels[label] += 1
        self.types[type_] += 1
        self.chunk_count += chunk != self._last_chunk
        self._last_chunk = chunk
        self._fragments.append(fragment)
        if len(self._fragments) > 2 * MAX_FRAGMENTS:
            self._fragments = sorted(self._fragments)[-MAX_FRAGMENTS:]

    @property
    def counts(self) -> FactCounts:
        """What the engine's fold takes."""
        return FactCounts(self.chunk_count, self.labels, self.types, tuple(sorted(self._fragments)))
