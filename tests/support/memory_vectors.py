"""Vectors in memory: the contract of engine.storage.vectors.base by exact search with numpy."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import get_args

import numpy as np

from engine.storage.vectors.base import VectorFilter, VectorHit, VectorRow, VectorTable
from engine.text.similarity import unit_vectors


class MemoryVectors:
    """Rows and their vectors by (id, part), for each table."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.tables: dict[VectorTable, dict[tuple[int, int], tuple[VectorRow, np.ndarray]]] = {}
        for name in get_args(VectorTable):
            self.tables[name] = {}

    async def upsert(
        self,
        table: VectorTable,
        rows: Sequence[VectorRow],
        vectors: np.ndarray,
        spaces: Collection[int] | None = None,
    ) -> None:
        await self.delete(table, {row.id for row in rows})
        content = unit_vectors(np.asarray(vectors).reshape(len(rows), self.dim))
        self.tables[table] |= {(row.id, row.part): (row, vector) for row, vector in zip(rows, content, strict=True)}

    async def delete(self, table: VectorTable, ids: Collection[int], spaces: Collection[int] | None = None) -> None:
        gone = set(ids)
        self.tables[table] = {key: value for key, value in self.tables[table].items() if key[0] not in gone}

    async def search(self, table: VectorTable, vector: np.ndarray, k: int, area: VectorFilter) -> list[VectorHit]:
        query = unit_vectors(np.asarray(vector).reshape(1, self.dim))[0]
        inside = [(row, own) for row, own in self.tables[table].values() if matches_filter(row, area) and own.any()]
        if not inside or k <= 0 or not query.any():
            return []
        scores = np.clip(np.stack([own for _, own in inside]) @ query, -1.0, 1.0)
        hits = [VectorHit(row.id, row.part, float(score)) for (row, _), score in zip(inside, scores, strict=True)]
        return sorted(hits, key=lambda hit: (-hit.similarity, hit.id, hit.part))[:k]

    async def fetch(
        self, table: VectorTable, ids: Collection[int], spaces: Collection[int] | None = None
    ) -> dict[int, np.ndarray]:
        asked = set(ids)
        found: dict[int, list[np.ndarray]] = {}
        for (number, _), (_, vector) in sorted(self.tables[table].items(), key=lambda item: item[0]):
            if number in asked:
                found.setdefault(number, []).append(vector)
        return {number: np.stack(parts) for number, parts in found.items()}

    async def fetch_stored(self, table: VectorTable, ids: Collection[int]) -> dict[int, np.ndarray]:
        return await self.fetch(table, ids)

    async def list_rows(self, table: VectorTable) -> list[VectorRow]:
        return sorted(row for row, _ in self.tables[table].values())

    async def clear(self) -> None:
        for name in self.tables:
            self.tables[name] = {}

    async def compact(self) -> None:
        """There is nothing to merge."""

    async def close(self) -> None:
        """There is nothing to release."""


def matches_filter(row: VectorRow, area: VectorFilter) -> bool:
    return (row.space in area.spaces or row.room in area.rooms) and (area.ids is None or row.id in area.ids)
