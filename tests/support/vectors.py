"""Vectors in memory: the contract of engine.storage.vectors.base by exact search with numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np

from engine.storage.vectors.base import Area, Hit, Row, Table
from engine.text.similarity import directions, similarities

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


class MemoryVectors:
    """Rows and their vectors by (id, part), for each table."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.tables: dict[Table, dict[tuple[int, int], tuple[Row, np.ndarray]]] = {}
        for name in get_args(Table):
            self.tables[name] = {}

    async def put(self, table: Table, rows: Sequence[Row], vectors: np.ndarray) -> None:
        await self.drop(table, {row.id for row in rows})
        content = directions(np.asarray(vectors).reshape(len(rows), self.dim))
        self.tables[table] |= {(row.id, row.part): (row, vector) for row, vector in zip(rows, content, strict=True)}

    async def drop(self, table: Table, ids: Collection[int]) -> None:
        gone = set(ids)
        self.tables[table] = {key: value for key, value in self.tables[table].items() if key[0] not in gone}

    async def search(self, table: Table, vector: np.ndarray, k: int, area: Area) -> list[Hit]:
        query = directions(np.asarray(vector).reshape(1, self.dim))[0]
        inside = [(row, own) for row, own in self.tables[table].values() if within(row, area) and own.any()]
        if not inside or k <= 0 or not query.any():
            return []
        scores = similarities(query, np.stack([own for _, own in inside]))
        hits = [Hit(row.id, row.part, float(score)) for (row, _), score in zip(inside, scores, strict=True)]
        return sorted(hits, key=lambda hit: (-hit.similarity, hit.id, hit.part))[:k]

    async def fetch(self, table: Table, ids: Collection[int]) -> dict[int, np.ndarray]:
        asked = set(ids)
        found: dict[int, list[np.ndarray]] = {}
        for (number, _), (_, vector) in sorted(self.tables[table].items(), key=lambda item: item[0]):
            if number in asked:
                found.setdefault(number, []).append(vector)
        return {number: np.stack(parts) for number, parts in found.items()}

    async def everything(self, table: Table) -> list[Row]:
        return sorted(row for row, _ in self.tables[table].values())

    async def clear(self) -> None:
        for name in self.tables:
            self.tables[name] = {}

    async def compact(self) -> None:
        """There is nothing to merge."""

    async def close(self) -> None:
        """There is nothing to release."""


def within(row: Row, area: Area) -> bool:
    return (row.space in area.spaces or row.room in area.rooms) and (area.ids is None or row.id in area.ids)
