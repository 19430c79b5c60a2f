"""Any sequence of calls on the stores gives what a dict gives."""

from __future__ import annotations

import asyncio
import tempfile

import pytest
from hypothesis import HealthCheck, given, settings

from engine.options import VECTOR_CACHE_BYTES
from engine.storage.graph.kuzu import CACHED_EDGES
from engine.storage.vector_columns import ExactColumns
from engine.storage.vectors.in_memory.row_types import row_bytes
from surrealdb_stores.database import open_surreal
from surrealdb_stores.graph import SurrealGraph
from surrealdb_stores.vectors import SurrealVectors
from tests.contracts import test_graph_contract as graphs
from tests.contracts import test_vectors_contract as vectors


@pytest.mark.share(3)
@pytest.mark.parametrize("cached_edges", [CACHED_EDGES, 4, 0])
@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow])
@given(steps=graphs.STEPS)
def test_a_graph_equals_a_dict(cached_edges: int, steps: list[graphs.Step]) -> None:
    async def run(folder: str) -> None:
        async with open_surreal(f"surrealkv://{folder}/surreal") as database:
            await graphs.compare_with_dict(lambda: SurrealGraph.open(database, cached_edges), steps)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(folder))


@pytest.mark.long
@pytest.mark.parametrize("cache_bytes", [VECTOR_CACHE_BYTES, 32 * row_bytes(ExactColumns(vectors.DIM)), 0])
@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(steps=vectors.STEPS)
def test_vectors_equal_a_dict(cache_bytes: int, steps: list[tuple[str, list[tuple[int, int, int]]]]) -> None:
    async def run(folder: str) -> None:
        async with open_surreal(f"surrealkv://{folder}/surreal") as database:
            await vectors.compare_with_dict(lambda: SurrealVectors.open(database, vectors.DIM, cache_bytes), steps)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(folder))
