"""What is embedded again after corrections, and what a comparison of the stores with the ledger finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.models import Document, Passage
from engine.storage.vectors.base import VectorRow, VectorTable
from engine.usage import UsageMeter
from tests.support.engine_fixture import add_indexed, doc, open_memory_engine, statuses, wait_until
from tests.support.fake_embedder import HashEmbedder


async def test_each_merge_embeds_only_what_it_changes(tmp_path: Path) -> None:
    embedder, letters = HashEmbedder(), "abcdefghij"
    async with open_memory_engine(tmp_path, embedder=embedder) as engine:
        lines = (Passage(letter, f"A{letter}a met B{letter}b.", position=at) for at, letter in enumerate(letters))
        await engine.documents.add(Document("d", "here", "hall", "D", tuple(lines)))
        await engine.wait_until_indexed()
        await engine._runtime.embedder.measure_scale(UsageMeter())
        for letter in letters:
            embedder.texts.clear()
            await engine.corrections.merge("here", f"A{letter}a", f"B{letter}b")
            await engine.wait_until_indexed()
            assert len(embedder.texts) <= 2
        embedder.texts.clear()
        await engine.corrections.unmerge("here", "Ada")
        await engine.wait_until_indexed()
        assert len(embedder.texts) <= 4


async def test_a_chunk_embedded_during_a_comparison_is_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await add_indexed(engine, "Ada met Bob.")
        list_rows = engine._runtime.vectors.list_rows

        async def is_embedded() -> bool:
            return "pending" not in (await statuses(engine)).values()

        async def list_later(table: VectorTable) -> list[VectorRow]:
            if len(await statuses(engine)) == 1:
                await engine.documents.add(doc("b", "Carla waits."))
                await wait_until(is_embedded)
            return await list_rows(table)

        monkeypatch.setattr(engine._runtime.vectors, "list_rows", list_later)
        assert (await engine.maintenance.verify()).differences == ()
        assert len(await statuses(engine)) == 2


async def test_a_missing_vector_is_reported_and_repaired(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await add_indexed(engine, "Ada met Bob.")
        [row] = await engine._runtime.vectors.list_rows("chunks")
        await engine._runtime.vectors.delete("chunks", {row.id})
        report = await engine.maintenance.verify(repair=True)
        assert [difference.message for difference in report.differences] == [f"vectors: chunks {row.id} is missing"]
        assert (await engine.maintenance.verify()).is_clean
