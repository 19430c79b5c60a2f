"""Keeps a table of the vector projection in order: small files merged, new rows indexed, removed bytes gone."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from engine.memory import give_back
from engine.scheduling.tasks import completed
from engine.storage.library_errors import told_in_words
from engine.storage.vectors.search_plan import PARTITION_ROWS, among

if TYPE_CHECKING:
    from pathlib import Path

    from engine.storage.vectors.lance_table import LanceTable

# Up to here every search reads all rows, which is exact and fast enough.
INDEX_ABOVE = 8_000
SCALARS_ABOVE = 2_000
RETRAIN_AT = 4.0
# Rounds of k-means that find the centres of the partitions; the library's own 50 take five times as long for nothing.
ROUNDS = 10
MOVED_AT_ONCE = 4_000
# Each tidying adds a part to an index, every search looks through all of them, and files of different parts are never
# merged: with so many, and one more for every so many rows, the index is built anew.
PARTS, ROWS_A_PART = 8, 50_000
# The library rewrites a file once more than a tenth of its rows are gone, never before.
REWRITE_SHARE = 10
KEEP = timedelta(days=7)
# Zero would do, but is warned about: it is safe only with one process and no reader of an old version, as here.
AT_ONCE = timedelta(milliseconds=1)


class Tidier:
    """Tidies one table; never twice at once."""

    def __init__(self, table: LanceTable) -> None:
        self._table = table
        self._tidying = asyncio.Lock()
        self._trained = 0

    async def tidy(self, *, purge: bool) -> None:
        """Merge files, bring the indexes up to date, remove old files; `purge`: those of dropped rows too.

        Writers wait while files are merged, not while an index is built. Searches go on all the time.
        """
        async with self._tidying:
            with told_in_words(self._table.folder):
                await self._merge(purge=purge and self._table.dropped)
                await self._index()
                await self._prune()
        await asyncio.to_thread(give_back)

    async def _merge(self, *, purge: bool) -> None:
        table = self._table
        async with table.writing:
            table.writes = 0
            await completed(table.table.optimize(cleanup_older_than=KEEP))
            if purge and torn_files(table.folder):
                await self._prune_versions()
                await self._move_out()
                await completed(table.table.optimize(cleanup_older_than=KEEP))
            table.dropped = table.dropped and not purge

    async def _move_out(self) -> None:
        """Move a tenth of the rows out of every file that still holds dropped ones, so that the file is rewritten."""
        table = self._table
        moving: list[int] = []
        for fragment in torn_files(table.folder):
            inside = (await table.table.query().fragment_ids([fragment]).select(["id"]).to_arrow())["id"].to_pylist()
            moving += sorted(inside)[: len(inside) // REWRITE_SHARE + 1]
        for start in range(0, len(moving), MOVED_AT_ONCE):
            where = among("id", moving[start : start + MOVED_AT_ONCE])
            await table.write(await table.table.query().where(where).to_arrow())

    async def _index(self) -> None:
        """Scalar indexes for the filters; the vector index when the table is large, anew when it has grown much."""
        from lancedb.index import Bitmap, BTree, IvfRq  # noqa: PLC0415  - heavy, and only needed once a store is open

        table, rows, existing = self._table, await self._table.size(), await self._table.index_columns()
        if rows > SCALARS_ABOVE:
            for column, kind in (("id", BTree()), ("space", Bitmap()), ("room", Bitmap())):
                if column not in existing:
                    await completed(table.table.create_index(column, config=kind))
        if rows <= INDEX_ABOVE:
            return
        self._trained = self._trained or (rows if "vector" in existing else 0)
        if "vector" not in existing or rows >= RETRAIN_AT * self._trained or await self._scattered(rows):
            kind = IvfRq(
                distance_type="cosine",
                num_partitions=max(1, rows // PARTITION_ROWS),
                num_bits=2,
                max_iterations=ROUNDS,
            )
            await completed(table.table.create_index("vector", config=kind, replace=True))
            self._trained, table.indexed = rows, True

    async def _scattered(self, rows: int) -> bool:
        stats = await self._table.table.index_stats("vector_idx")
        return stats is not None and (stats.num_indices or 0) > PARTS + rows // ROWS_A_PART

    async def _prune(self) -> None:
        """Remove files that no search uses any more; whoever searches from now on uses the newest ones."""
        async with self._table.writing:
            await self._prune_versions()

    async def _prune_versions(self) -> None:
        # It may merge once more before it removes what was merged: a search that began in between would lose its files.
        async with self._table.unread():
            await completed(self._table.table.optimize(cleanup_older_than=AT_ONCE, delete_unverified=True))


def torn_files(folder: Path) -> list[int]:
    """The fragments of a table of which some rows are gone but whose files still hold them.

    Lance lists them in `_deletions/<fragment>-<version>-<random>.<kind>` (Lance table format, "Deletion Files").
    """
    return sorted({int(file.name.split("-")[0]) for file in (folder / "_deletions").glob("*-*-*.*")})
