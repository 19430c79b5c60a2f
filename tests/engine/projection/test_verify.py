from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.support.engines import HERE, doc, light_engine

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from engine.storage.vectors.base import Row, Table


async def test_a_chunk_embedded_while_the_stores_are_compared_is_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with light_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.settled()
        vectors, happened = engine._runtime.vectors, asyncio.Event()
        everything = vectors.everything

        async def later(table: Table) -> list[Row]:
            if not happened.is_set():
                happened.set()
                await engine.add(doc("b", "Carla waits."))
                async with asyncio.timeout(20):
                    while "pending" in {each.status for each in await engine.documents(HERE)}:  # noqa: ASYNC110 - nobody tells
                        await asyncio.sleep(0.05)
            return await everything(table)

        monkeypatch.setattr(vectors, "everything", later)
        report = await engine.verify()
        assert happened.is_set()
        assert report.differences == ()


async def test_a_vector_that_is_really_missing_is_told(tmp_path: Path) -> None:
    async with light_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.settled()
        [row] = await engine._runtime.vectors.everything("chunks")
        await engine._runtime.vectors.drop("chunks", {row.id})
        assert [each.words for each in (await engine.verify(repair=True)).differences] == [
            f"vectors: chunks {row.id} is missing"
        ]
        assert (await engine.verify()).clean
