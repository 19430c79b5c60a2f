"""The facts of one name or pair, counted from the rows that state them."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.knowledge.merge import FactCounts, Fragment
from engine.options import SummaryLimits

MAX_FRAGMENTS = SummaryLimits().join_fragments  # more are never joined
# Rows of a key come together, as the tables keep them.
SELECT_MENTIONS = (
    "SELECT name.id, name.space, 0, 0, chunk, surface, type, time, hash, description"
    " FROM name CROSS JOIN mention ON mention.name = name.id ORDER BY name.id"
)
SELECT_LINKS = (
    "SELECT pair.id, pair.space, a, b, chunk, keywords, 'stated', time, hash, description"
    " FROM pair CROSS JOIN link ON link.pair = pair.id ORDER BY pair.id"
)


@dataclass(slots=True)
class KeyFactsBuilder:
    """A name, or a pair of names with its `ends`; keeps the descriptions that the engine would join."""

    id: int
    space: int
    ends: tuple[int, int]
    _labels: Counter[str] = field(default_factory=Counter)
    _types: Counter[str] = field(default_factory=Counter)
    _chunks: set[int] = field(default_factory=set)
    _fragments: list[Fragment] = field(default_factory=list)

    def add(self, chunk: int, label: str, type_: str, fragment: Fragment) -> None:
        """Count a fact."""
        self._labels[label] += 1
        self._types[type_] += 1
        self._chunks.add(chunk)
        self._fragments.append(fragment)
        if len(self._fragments) > 2 * MAX_FRAGMENTS:
            self._fragments = sorted(self._fragments)[-MAX_FRAGMENTS:]

    @property
    def counts(self) -> FactCounts:
        """What the engine's fold takes."""
        return FactCounts(len(self._chunks), self._labels, self._types, tuple(sorted(self._fragments)))


def read_facts(db: sqlite3.Connection, statement: str) -> Iterator[KeyFactsBuilder]:
    """The facts of each key, in the order of their ids; `statement` is one of the two above."""
    current: KeyFactsBuilder | None = None
    for id_, space, a, b, chunk, label, type_, time, hash_, text in db.execute(statement):
        if current is None or current.id != id_:
            if current is not None:
                yield current
            current = KeyFactsBuilder(id_, space, (a, b))
        current.add(chunk, label, type_, Fragment(time, hash_, text))
    if current is not None:
        yield current
