"""The vector store on PostgreSQL with copies in memory: searched there if they fit, else by the server."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import DatabaseReadOnly
from engine.scheduling.supervisor import cancel_tasks
from engine.storage.vectors.pgvector_copy.change_log import delete_old
from engine.storage.vectors.pgvector_copy.copies import VectorCopies
from engine.text.similarity import unit_vectors

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from engine.scheduling.processes import Processes
    from engine.scheduling.supervisor import Supervisor
    from engine.storage.vectors.base import VectorFilter, VectorHit, VectorRow, VectorTable
    from engine.storage.vectors.pgvector import PostgresVectors

TOPIC = "vectors changed"
# The copies follow in the background, so that a question finds little to do: after a notification, not more often than
# every FOLLOW_SECONDS, and without one every IDLE_SECONDS.
FOLLOW_SECONDS = 1.0
IDLE_SECONDS = 60.0
CLEANING_SECONDS = 900.0  # between two deletions of old rows of the log


class CopiedVectors:
    """Vectors in a database, and copies of its tables in `max_bytes` of memory each; 0: none.

    A read finds exactly what was committed when it began, by this process or another one. Notifications only tell when
    to follow in the background.
    """

    def __init__(self, stored: PostgresVectors, max_bytes: int, processes: Processes, supervisor: Supervisor) -> None:
        self._stored = stored
        self._copies = VectorCopies(stored.connection, stored.dim, max_bytes)
        self._processes = processes
        self._changed = asyncio.Event()
        processes.subscribe(TOPIC, self._changed.set)
        self._tasks = (
            supervisor.run("follow vectors", self._follow),
            supervisor.run("clean changes of vectors", self._clean),
        )

    async def upsert(
        self,
        table: VectorTable,
        rows: Sequence[VectorRow],
        vectors: np.ndarray,
        spaces: Collection[int] | None = None,
    ) -> None:
        await self._stored.upsert(table, rows, vectors, spaces)
        self._processes.notify(TOPIC)

    async def delete(self, table: VectorTable, ids: Collection[int], spaces: Collection[int] | None = None) -> None:
        await self._stored.delete(table, ids, spaces)
        self._processes.notify(TOPIC)

    async def search(
        self, table: VectorTable, vector: np.ndarray, k: int, vector_filter: VectorFilter
    ) -> list[VectorHit]:
        """The k most similar rows that match the filter, best first; ties by id and part. A zero vector has no hits."""
        if (rows := await self._copies.get(table)) is None:
            return await self._stored.search(table, vector, k, vector_filter)
        query = unit_vectors(np.asarray(vector).reshape(1, self._stored.dim))[0]
        return await rows.find(query, k, vector_filter) if k > 0 and query.any() else []

    async def fetch(
        self, table: VectorTable, ids: Collection[int], spaces: Collection[int] | None = None
    ) -> dict[int, np.ndarray]:
        if (rows := await self._copies.get(table)) is None:
            return await self._stored.fetch(table, ids, spaces)
        return rows.fetch(ids)

    async def fetch_stored(self, table: VectorTable, ids: Collection[int]) -> dict[int, np.ndarray]:
        return await self._stored.fetch_stored(table, ids)

    async def list_rows(self, table: VectorTable) -> list[VectorRow]:
        return await self._stored.list_rows(table)

    async def clear(self) -> None:
        await self._stored.clear()
        self._processes.notify(TOPIC)

    async def compact(self) -> None:
        await self._stored.compact()

    async def close(self) -> None:
        """Free the copies and release the database. May be called twice."""
        self._processes.unsubscribe(TOPIC, self._changed.set)
        await cancel_tasks(*self._tasks)
        await self._copies.close()
        await self._stored.close()

    async def _follow(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(IDLE_SECONDS):
                    await self._changed.wait()
            self._changed.clear()
            await self._copies.catch_up()
            await asyncio.sleep(FOLLOW_SECONDS)

    async def _clean(self) -> None:
        while True:
            await asyncio.sleep(CLEANING_SECONDS)
            with suppress(DatabaseReadOnly):
                async with self._stored.connection() as connection:
                    await delete_old(connection)
