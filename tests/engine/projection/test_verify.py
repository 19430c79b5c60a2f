"""Verification compares the vectors, too; while they are rebuilt, answers and health say so."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from engine import Engine
from engine.maintenance import REBUILDING
from engine.models import Question
from engine.storage.vectors.base import VectorTable
from tests.support.engine_fixture import HERE, add_indexed, open_engine, open_memory_engine
from tests.support.memory_vectors import MemoryVectors

TEXTS = ("Ada met Bob.", "Carla met Dora.", "Eva met Finn.")
ZERO, NAN, OTHER = 0.0, float("nan"), -1.0


def damage(engine: Engine, table: VectorTable, factor: float) -> int:
    """Change the first vector of a table; its id."""
    vectors = engine._runtime.vectors
    assert isinstance(vectors, MemoryVectors)
    [place, *_] = sorted(vectors.tables[table])
    row, vector = vectors.tables[table][place]
    vectors.tables[table][place] = (row, (vector * factor).astype(np.float32))
    return row.id


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("table", "factor"),
    [("chunks", ZERO), ("chunks", OTHER), ("entities", ZERO), ("entities", NAN), ("relations", ZERO)],
)
async def test_a_vector_that_is_another_one_is_found_and_repaired(
    tmp_path: Path, table: VectorTable, factor: float
) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await add_indexed(engine, *TEXTS)
        assert (await engine.maintenance.verify()).is_clean
        number = damage(engine, table, factor)
        report = await engine.maintenance.verify(repair=True)
        assert [str(difference) for difference in report.differences] == [
            f"vectors: {table} {number} has another vector"
        ]
        assert (await engine.maintenance.verify()).is_clean


async def test_zeros_in_a_file_of_vectors_are_found(tmp_path: Path) -> None:
    async with open_engine(tmp_path) as engine:
        await add_indexed(engine, *TEXTS)
        if engine.database:
            pytest.skip("files have them")
        await engine.maintenance.compact()
        assert (await engine.maintenance.verify()).is_clean
        stored = (await engine._runtime.vectors.fetch_stored("chunks", [1]))[1].tobytes()

    def zero_vector() -> int:
        found = 0
        for file in (tmp_path / "vectors" / "chunks.lance" / "data").iterdir():
            content = file.read_bytes()
            found += content.count(stored)
            file.write_bytes(content.replace(stored, bytes(len(stored))))
        return found

    assert await asyncio.to_thread(zero_vector)
    async with open_engine(tmp_path) as engine:
        report = await engine.maintenance.verify(repair=True)
        assert [str(difference) for difference in report.differences] == ["vectors: chunks 1 has another vector"]
        assert (await engine.maintenance.verify()).is_clean


async def test_answers_and_health_say_that_stores_are_rebuilt(tmp_path: Path) -> None:
    question = Question("Whom did Ada meet?", HERE)
    async with open_memory_engine(tmp_path) as engine:
        await add_indexed(engine, *TEXTS)
        assert not (await engine.retrieve(question)).rebuilding
        async with engine._projector.graph_lock:
            await engine._store_maintenance.start_reindex()
            assert (await engine.retrieve(question)).rebuilding
            assert await engine.maintenance.list_problems() == [REBUILDING]
        await engine.wait_until_indexed()
        assert not (await engine.retrieve(question)).rebuilding
        assert await engine.maintenance.list_problems() == []
