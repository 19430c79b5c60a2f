"""Maintenance of a table of vectors: merge small files, index new rows, remove deleted bytes."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from engine.memory import trim_heap
from engine.scheduling.supervisor import wait_for_completion
from engine.storage.library_errors import translate_library_errors
from engine.storage.vectors.search_plan import PARTITION_ROWS, build_in_clause

if TYPE_CHECKING:
    from pathlib import Path

    from engine.storage.vectors.lance_table import LanceTable

# Up to this many rows, every search scans all rows: exact and fast enough.
INDEX_ABOVE = 8_000
SCALAR_INDEX_ABOVE = 2_000
RETRAIN_GROWTH = 4.0
# Rounds of k-means for the partitions; the library's default of 50 takes five times as long for the same result.
KMEANS_ROUNDS = 10
REWRITE_BATCH = 4_000
# Each maintenance run adds a part to an index; every search reads all parts, and files of different parts are never
# merged. The index is rebuilt when it has MAX_INDEX_PARTS, plus one for each ROWS_PER_PART rows.
MAX_INDEX_PARTS, ROWS_PER_PART = 8, 50_000
# The library rewrites a file only after more than a tenth of its rows are deleted.
REWRITE_SHARE = 10
VERSION_MAX_AGE = timedelta(days=7)
# Zero works but logs a warning: it is safe only with one process and no reader of an old version, as here.
MIN_VERSION_AGE = timedelta(milliseconds=1)


class TableMaintenance:
    """Maintains one table; never twice at once."""

    def __init__(self, table: LanceTable) -> None:
        self._table = table
        self._lock = asyncio.Lock()
        self._trained_rows = 0

    async def run(self, *, purge: bool) -> None:
        """Merge files, update the indexes, remove old files; `purge` includes the files of deleted rows.

        Writes wait while files are merged, not while an index is built. Searches continue.
        """
        async with self._lock:
            with translate_library_errors(self._table.folder):
                await self._merge_files(purge=purge and self._table.has_deleted_rows)
                await self._build_indexes()
                await self._remove_old_files()
        await asyncio.to_thread(trim_heap)

    async def _merge_files(self, *, purge: bool) -> None:
        table = self._table
        async with table.write_lock:
            table.writes = 0
            await wait_for_completion(table.table.optimize(cleanup_older_than=VERSION_MAX_AGE))
            if purge and find_torn_fragments(table.folder):
                await self._remove_old_versions()
                await self._rewrite_fragments()
                await wait_for_completion(table.table.optimize(cleanup_older_than=VERSION_MAX_AGE))
            table.has_deleted_rows = table.has_deleted_rows and not purge

    async def _rewrite_fragments(self) -> None:
        """Move a tenth of the rows out of every file with deleted rows, so that the library rewrites the file."""
        table = self._table
        moving: list[int] = []
        for fragment in find_torn_fragments(table.folder):
            inside = (await table.table.query().fragment_ids([fragment]).select(["id"]).to_arrow())["id"].to_pylist()
            moving += sorted(inside)[: len(inside) // REWRITE_SHARE + 1]
        for start in range(0, len(moving), REWRITE_BATCH):
            where = build_in_clause("id", moving[start : start + REWRITE_BATCH])
            await table.merge_rows(await table.table.query().where(where).to_arrow())

    async def _build_indexes(self) -> None:
        """Create indexes for the filters, and a vector index for a large table; rebuild it after much growth."""
        from lancedb.index import Bitmap, BTree, IvfRq  # noqa: PLC0415  - heavy, and only needed once a store is open

        table, rows, existing = self._table, await self._table.count_rows(), await self._table.index_columns()
        if rows > SCALAR_INDEX_ABOVE:
            for column, kind in (("id", BTree()), ("space", Bitmap()), ("room", Bitmap())):
                if column not in existing:
                    await wait_for_completion(table.table.create_index(column, config=kind))
        if rows <= INDEX_ABOVE:
            return
        self._trained_rows = self._trained_rows or (rows if "vector" in existing else 0)
        if (
            "vector" not in existing
            or rows >= RETRAIN_GROWTH * self._trained_rows
            or await self._is_index_fragmented(rows)
        ):
            kind = IvfRq(
                distance_type="cosine",
                num_partitions=max(1, rows // PARTITION_ROWS),
                num_bits=2,
                max_iterations=KMEANS_ROUNDS,
            )
            await wait_for_completion(table.table.create_index("vector", config=kind, replace=True))
            self._trained_rows, table.is_indexed = rows, True

    async def _is_index_fragmented(self, rows: int) -> bool:
        stats = await self._table.table.index_stats("vector_idx")
        return stats is not None and (stats.num_indices or 0) > MAX_INDEX_PARTS + rows // ROWS_PER_PART

    async def _remove_old_files(self) -> None:
        """Remove files that no search uses; later searches use the newest ones."""
        async with self._table.write_lock:
            await self._remove_old_versions()

    async def _remove_old_versions(self) -> None:
        # It may merge once more before it removes merged files: a search started in between would lose its files.
        async with self._table.block_reads():
            await wait_for_completion(
                self._table.table.optimize(cleanup_older_than=MIN_VERSION_AGE, delete_unverified=True)
            )


def find_torn_fragments(folder: Path) -> list[int]:
    """The fragments of a table whose files still contain deleted rows.

    Lance lists them in `_deletions/<fragment>-<version>-<random>.<kind>` (Lance table format, "Deletion Files").
    """
    return sorted({int(file.name.split("-")[0]) for file in (folder / "_deletions").glob("*-*-*.*")})
