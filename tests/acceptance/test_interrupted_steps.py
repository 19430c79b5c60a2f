"""The short windows between two stores, each cut off on purpose: what random kills meet once in many hundred runs."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from engine import Engine
from engine.data_dir import DataDir
from engine.errors import DiskError
from engine.options import EngineOptions
from engine.scheduling.foreground import NextStep
from engine.storage.graph.kuzu import KuzuGraph
from engine.storage.ledger.profiles import Profiles
from engine.storage.ledger.records import SpaceTurn
from engine.storage.ledger.work.claims import Claims, StaleKeys
from engine.storage.ledger.work.work_queue import WorkQueue
from engine.storage.vectors.lance import LanceVectors
from tests.support.engine_fixture import HERE, doc, fetch_rows, open_engine, open_memory_engine
from tests.support.fake_embedder import HashEmbedder
from tests.support.patience import PATIENCE

TEXTS = ("Ada met Bob.", "Bob met Carl in Delft.", "Dora knows Ada.")


class CutOffError(Exception):
    """The program ends here."""


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    """A folder in which everything is indexed."""
    home = tmp_path / "home"
    async with open_engine(home) as engine:
        await engine.documents.add(doc("town", *TEXTS))
        await engine.wait_until_indexed()
    return home


async def raise_cut_off(*_: Any, **__: Any) -> None:
    raise CutOffError


def raise_in_transaction(*_: Any, **__: Any) -> None:
    raise CutOffError


async def open_and_wait(home: Path, **kwargs: Any) -> None:
    """Open the folder, and close it once all is settled."""
    async with open_engine(home, **kwargs) as engine:
        await engine.wait_until_indexed()


async def is_consistent(home: Path, **kwargs: Any) -> bool:
    """Whether graph and vectors are what the ledger says, after one more start."""
    async with open_engine(home, **kwargs) as engine:
        report = await engine.maintenance.verify()
        return report.is_clean and report.compared > 10


@pytest.mark.long
@pytest.mark.files
async def test_another_embedder_takes_over_at_the_next_start_if_it_was_cut_off(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = HashEmbedder(dim=24, name="other")
    with monkeypatch.context() as patch:
        patch.setattr(LanceVectors, "erase", raise_cut_off)
        with pytest.raises(CutOffError):
            await open_and_wait(home, embedder=other, options=EngineOptions(replace_embedder=True))
    assert await is_consistent(home, embedder=other)


@pytest.mark.long
@pytest.mark.files
async def test_a_graph_whose_filling_was_cut_off_is_filled_at_the_next_start(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(DataDir(home).graph_path("kuzu"))
    with monkeypatch.context() as patch:
        patch.setattr(KuzuGraph, "replace_all", raise_cut_off)
        with pytest.raises(CutOffError):
            await open_and_wait(home)
    assert await is_consistent(home)


@pytest.mark.long
@pytest.mark.files
async def test_interrupted_removal_of_a_damaged_graph_resumes(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = DataDir(home).graph_path("kuzu") / "graph.kuzu"
    file.write_bytes(b"torn")
    with monkeypatch.context() as patch:
        patch.setattr(KuzuGraph, "erase", raise_cut_off)
        with pytest.raises(CutOffError):
            await open_and_wait(home)
    file.unlink()
    assert await is_consistent(home)


@pytest.mark.long
@pytest.mark.files
async def test_a_compaction_that_was_cut_off_is_due_again(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_engine(home) as engine:
        await engine.documents.forget("town")
        with monkeypatch.context() as patch:
            patch.setattr(LanceVectors, "compact", raise_cut_off)
            with pytest.raises(CutOffError):
                await engine.maintenance.compact()
        assert await engine._ledger.read(WorkQueue.needs_compaction)
        await engine.maintenance.compact()
        assert not await engine._ledger.read(WorkQueue.needs_compaction)


@pytest.mark.files
async def test_reindex_resumes_after_a_disk_error(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.maintenance.ERROR_WAIT_SECONDS", 0.01)
    async with open_engine(home) as engine:
        graph, fills = engine._runtime.graph, []
        load = graph.replace_all

        async def load_at_the_third_try(nodes: Any, edges: Any) -> None:
            fills.append(nodes)
            if len(fills) == 2:
                raise DiskError("The disk is full.")
            await load(nodes, edges)

        monkeypatch.setattr(graph, "replace_all", load_at_the_third_try)
        with suppress(DiskError):  # it is told only to those who wait longer than the trouble lasts
            await engine.maintenance.reindex()
        async with asyncio.timeout(PATIENCE):
            while not await is_settled(engine):
                pass
        assert (await engine.maintenance.verify()).is_clean
        assert len(fills) == 3


async def is_settled(engine: Engine) -> bool:
    """Whether all is settled; False while the disk gives trouble."""
    with suppress(DiskError):
        await engine.wait_until_indexed()
        return True
    return False


# In one run, with graph and vectors in memory.


@pytest.fixture
async def slow(tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine that projects one key a step, and only when it is told to."""
    async with open_memory_engine(tmp_path / "slow", options=EngineOptions(projection_batch_size=1)) as engine:
        yield engine


async def stop_worker(engine: Engine) -> None:
    """Stop the worker, so that a test may take its steps one by one."""
    await engine._worker.stop()


async def test_degree_is_right_when_an_entity_returns_early(slow: Engine) -> None:
    await slow.documents.add(doc("town", *TEXTS))
    await slow.wait_until_indexed()
    await stop_worker(slow)
    await slow.corrections.hide("here", "Ada")
    [[ada]] = await fetch_rows(slow._ledger, "SELECT id FROM name WHERE canonical = 'ada'")
    due = await slow._ledger.read(Claims.claim_profiles, 1, 0.0, SpaceTurn())
    assert [key.id for key in due.keys] == [ada]
    assert await slow._projector.step() is NextStep.CONTINUE
    await slow.corrections.unhide("here", "Ada")
    slow._worker.start()
    await slow.wait_until_indexed()
    [[degree]] = await fetch_rows(slow._ledger, "SELECT degree FROM entity WHERE name = 'Ada'")
    assert degree == 2
    assert (await slow.maintenance.verify()).is_clean


async def test_vector_written_before_a_crash_dies_with_its_text(slow: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    await slow.documents.add(doc("town", *TEXTS))
    await slow.wait_until_indexed()
    vectors = slow._runtime.vectors
    [[ada]] = await fetch_rows(slow._ledger, "SELECT id FROM entity WHERE name = 'Ada'")
    [before] = (await vectors.fetch("entities", {ada})).values()
    await stop_worker(slow)
    await slow.corrections.describe("here", "Ada", "Something else altogether.")
    with monkeypatch.context() as patch:
        patch.setattr(Profiles, "record_graphed", raise_in_transaction)
        while True:
            try:
                await slow._projector.step()
            except CutOffError:
                [[between]] = (await vectors.fetch("entities", {ada})).values()
                if not (between == before[0]).all():
                    break
    await slow.corrections.describe("here", "Ada", "")
    slow._worker.start()
    await slow.wait_until_indexed()
    [after] = (await vectors.fetch("entities", {ada})).values()
    assert (after == before).all()


async def test_document_without_names_is_indexed_when_idle(slow: Engine) -> None:
    for number in range(20):
        await slow.documents.add(doc(f"dull {number}", f"nothing is named in {number}."))
        await slow.wait_until_indexed()
        assert {each.status for each in await slow.documents.list(HERE)} == {"indexed"}


async def test_a_compaction_does_not_wait_for_the_end_of_a_quiet_period(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path / "quiet", options=EngineOptions(summary_cooldown=3600.0)) as engine:
        await engine.documents.add(doc("crowd", *(f"Ada met Bob in week {week}." for week in range(12))))
        await engine.wait_until_indexed()
        await engine.documents.add(doc("more", "Ada met Bob once more."))
        async with asyncio.timeout(PATIENCE):
            while await engine._ledger.read(StaleKeys.find_first, held=False) is not None or not await has_delayed_key(
                engine
            ):
                await engine._worker.wait_for_progress()
            await engine.maintenance.compact()
        assert not await has_delayed_key(engine)


async def has_delayed_key(engine: Engine) -> bool:
    """Whether a key waits for the end of its quiet period."""
    return await engine._ledger.read(StaleKeys.find_first) is not None
