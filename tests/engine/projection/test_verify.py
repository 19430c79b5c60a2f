from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.support.engine_fixture import HERE, doc, open_memory_engine

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from engine.storage.vectors.base import VectorRow, VectorTable


async def test_a_chunk_embedded_while_the_stores_are_compared_is_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.wait_until_indexed()
        vectors, happened = engine._runtime.vectors, asyncio.Event()
        everything = vectors.list_rows

        async def later(table: VectorTable) -> list[VectorRow]:
            if not happened.is_set():
                happened.set()
                await engine.add(doc("b", "Carla waits."))
                async with asyncio.timeout(20):
                    while "pending" in {each.status for each in await engine.list_documents(HERE)}:  # noqa: ASYNC110 - nobody tells
                        await asyncio.sleep(0.05)
            return await everything(table)

        monkeypatch.setattr(vectors, "list_rows", later)
        report = await engine.verify()
        assert happened.is_set()
        assert report.differences == ()


async def test_a_vector_that_is_really_missing_is_told(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.wait_until_indexed()
        [row] = await engine._runtime.vectors.list_rows("chunks")
        await engine._runtime.vectors.delete("chunks", {row.id})
        assert [each.message for each in (await engine.verify(repair=True)).differences] == [
            f"vectors: chunks {row.id} is missing"
        ]
        assert (await engine.verify()).is_clean
