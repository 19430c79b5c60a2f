"""The HNSW index and the exact search of SurrealDB, beside vectors stored as bytes and compared in this process.

`python measure_index.py --rows 5000 --index` shows the seconds that writing and indexing take, then for
each way to search the milliseconds of the best of three and the share of the nearest 20 that it finds.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from surrealdb_stores.database import SurrealDatabase, open_surreal, record_id

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

DIM, SPACES, NEAREST, BATCH_ROWS, SPACE = 384, 20, 20, 500, 3
ALL, ONE = "all spaces", "one space"
INDEX = f"DEFINE INDEX near ON array FIELDS vector HNSW DIMENSION {DIM} DIST COSINE TYPE F32 EFC 100 M 12"
EXACT = "SELECT id, vector::similarity::cosine(vector, $query) AS score FROM array {} ORDER BY score DESC LIMIT 20"
SEARCHES = {
    ("exact", ALL): f"SELECT VALUE record::id(id) FROM ({EXACT.format('')})",
    ("exact", ONE): f"SELECT VALUE record::id(id) FROM ({EXACT.format('WHERE space = $space')})",
}
INDEXED_SEARCHES = {
    ("HNSW", ALL): "SELECT VALUE record::id(id) FROM array WHERE vector <|20,100|> $query",
    ("HNSW", ONE): "SELECT VALUE record::id(id) FROM array WHERE vector <|20,100|> $query AND space = $space",
}
BYTES = {
    ALL: "SELECT VALUE [record::id(id), vector] FROM bytes",
    ONE: "SELECT VALUE [record::id(id), vector] FROM bytes WHERE space = $space",
}


class Comparison:
    """Random vectors in a database, and the nearest ones to a query."""

    def __init__(self, database: SurrealDatabase, rows: int) -> None:
        random = np.random.default_rng(1)
        self._database = database
        self._vectors = random.standard_normal((rows, DIM)).astype(np.float32)
        self._vectors /= np.linalg.norm(self._vectors, axis=1, keepdims=True)
        self._spaces = random.integers(0, SPACES, rows)
        self._query = random.standard_normal(DIM).astype(np.float32)

    def nearest(self, scope: str) -> set[int]:
        """The nearest rows within all spaces or within one."""
        rows = np.flatnonzero((self._spaces == SPACE) | (scope == ALL))
        return set(rows[np.argsort(-(self._vectors[rows] @ self._query))[:NEAREST]].tolist())

    async def write(self, table: str) -> None:
        """Write every row, its vector as an array or as bytes."""
        await self._database.run(f"DEFINE INDEX space ON {table} FIELDS space")
        for start in range(0, len(self._vectors), BATCH_ROWS):
            batch = self._vectors[start : start + BATCH_ROWS]
            content = [each.tolist() if table == "array" else each.tobytes() for each in batch]
            rows = [
                {"id": record_id(table, start + at), "space": int(self._spaces[start + at]), "vector": each}
                for at, each in enumerate(content)
            ]
            await self._database.run(f"INSERT INTO {table} $rows RETURN NONE", {"rows": rows})

    async def search(self, statement: str) -> list[int]:
        """The rows that a statement finds."""
        found: list[int] = await self._database.run(statement, {"query": self._query.tolist(), "space": SPACE})
        return found

    async def compare_bytes(self, statement: str) -> list[int]:
        """The nearest of the rows that a statement reads."""
        found = await self._database.run(statement, {"space": SPACE})
        vectors = np.frombuffer(b"".join(vector for _, vector in found), np.float32).reshape(-1, DIM)
        return [found[at][0] for at in np.argsort(-(vectors @ self._query))[:NEAREST]]

    async def show(self, name: str, scope: str, search: Callable[[], Awaitable[list[int]]]) -> None:
        """Print the time of the best of three searches and its recall."""
        spent = []
        for _ in range(3):
            since = time.perf_counter()
            found = await search()
            spent.append(time.perf_counter() - since)
        recall = len(set(found) & self.nearest(scope)) / NEAREST
        print(f"{name}, {scope}: {min(spent) * 1000:.0f} ms, recall {recall:.2f}", flush=True)


async def timed(name: str, work: Awaitable[object]) -> None:
    """Print the seconds that something takes."""
    since = time.perf_counter()
    await work
    print(f"{name}: {time.perf_counter() - since:.1f} s", flush=True)


async def run(rows: int, *, index: bool) -> None:
    """Write, index and search."""
    with TemporaryDirectory() as folder:
        async with open_surreal(f"surrealkv://{folder}/surreal") as database:
            comparison = Comparison(database, rows)
            for table in ("array", "bytes"):
                await timed(f"write {rows:,} vectors as {table}", comparison.write(table))
            for scope, statement in BYTES.items():
                await comparison.show("bytes", scope, partial(comparison.compare_bytes, statement))
            if index:
                await timed("build the index", database.run(INDEX))
            for (name, scope), statement in {**SEARCHES, **(INDEXED_SEARCHES if index else {})}.items():
                await comparison.show(name, scope, partial(comparison.search, statement))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--index", action="store_true", help="build the HNSW index, too, which takes minutes")
    chosen = parser.parse_args()
    asyncio.run(run(chosen.rows, index=chosen.index))


if __name__ == "__main__":
    main()
