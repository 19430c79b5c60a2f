"""The vectors of two embedders: those of the present one, and those of the former one that are not made again yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy as np

    from engine.storage.vectors.base import VectorFilter, VectorHit, VectorRow, VectorStore, VectorTable


class VectorGenerations:
    """Implements `VectorStore`: what is written or deleted leaves the former store; the present one is read.

    A row is written to the present store first, so that a program that ends in between loses none.
    """

    def __init__(self, present: VectorStore, former: VectorStore) -> None:
        self._present = present
        self._former = former
        self._has_former = True

    async def upsert(
        self,
        table: VectorTable,
        rows: Sequence[VectorRow],
        vectors: np.ndarray,
        spaces: Collection[int] | None = None,
    ) -> None:
        await self._present.upsert(table, rows, vectors, spaces)
        if self._has_former and rows:
            await self._former.delete(table, {row.id for row in rows}, spaces)

    async def delete(self, table: VectorTable, ids: Collection[int], spaces: Collection[int] | None = None) -> None:
        if self._has_former:
            await self._former.delete(table, ids, spaces)
        await self._present.delete(table, ids, spaces)

    async def search(
        self, table: VectorTable, vector: np.ndarray, k: int, vector_filter: VectorFilter
    ) -> list[VectorHit]:
        return await self._present.search(table, vector, k, vector_filter)

    async def fetch(
        self, table: VectorTable, ids: Collection[int], spaces: Collection[int] | None = None
    ) -> dict[int, np.ndarray]:
        return await self._present.fetch(table, ids, spaces)

    async def fetch_stored(self, table: VectorTable, ids: Collection[int]) -> dict[int, np.ndarray]:
        return await self._present.fetch_stored(table, ids)

    async def list_rows(self, table: VectorTable) -> list[VectorRow]:
        return await self._present.list_rows(table)

    async def clear(self) -> None:
        """Delete all rows of both."""
        await self._former.clear()
        await self._present.clear()

    async def drop_former(self) -> None:
        """Delete all rows of the former store, which may be searched meanwhile, and write to it no more."""
        self._has_former = False
        await self._former.clear()

    async def compact(self) -> None:
        await self._present.compact()
        if self._has_former:
            await self._former.compact()

    async def close(self) -> None:
        await self._former.close()
        await self._present.close()
