"""The stores of examples/surrealdb, opened for the contract tests of all stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from surrealdb_stores.database import open_surreal
from surrealdb_stores.graph import SurrealGraph
from surrealdb_stores.vectors import SurrealVectors


@asynccontextmanager
async def open_surreal_graph(folder: Path, cached_edges: int) -> AsyncIterator[SurrealGraph]:
    async with open_surreal(f"surrealkv://{folder / 'surreal'}") as database:
        yield await SurrealGraph.open(database, cached_edges)


@asynccontextmanager
async def open_surreal_vectors(folder: Path, dim: int, cache_bytes: int) -> AsyncIterator[SurrealVectors]:
    async with open_surreal(f"surrealkv://{folder / 'surreal'}") as database:
        yield await SurrealVectors.open(database, dim, cache_bytes)
