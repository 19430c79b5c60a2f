"""The short windows between two stores, each cut off on purpose: what random kills meet once in many hundred runs."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from engine.data_dir import Folder
from engine.errors import DiskTrouble
from engine.options import Options
from engine.scheduling.batch_gate import Then
from engine.storage.graph.kuzu import KuzuGraph
from engine.storage.ledger.work import stale_keys, work_queue
from engine.storage.vectors.lance import LanceVectors
from tests.support.embedder import HashEmbedder
from tests.support.engines import HERE, doc, light_engine, open_engine

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from engine import Engine

TEXTS = ("Ada met Bob.", "Bob met Carl in Delft.", "Dora knows Ada.")


class CutOffError(Exception):
    """The program ends here."""


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    """A folder in which everything is indexed."""
    home = tmp_path / "home"
    async with open_engine(home) as engine:
        await engine.add(doc("town", *TEXTS))
        await engine.settled()
    return home


async def cut_off(*_: Any, **__: Any) -> None:
    raise CutOffError


async def start(home: Path, **kwargs: Any) -> None:
    """Open the folder, and close it once all is settled."""
    async with open_engine(home, **kwargs) as engine:
        await engine.settled()


async def stands(home: Path, **kwargs: Any) -> bool:
    """Whether graph and vectors are what the ledger says, after one more start."""
    async with open_engine(home, **kwargs) as engine:
        report = await engine.verify()
        return report.clean and report.compared > 10


async def test_another_embedder_takes_over_at_the_next_start_if_it_was_cut_off(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = HashEmbedder(dim=24, name="other")
    with monkeypatch.context() as patch:
        patch.setattr(LanceVectors, "erase", cut_off)
        with pytest.raises(CutOffError):
            await start(home, embedder=other, options=Options(replace_embedder=True))
    assert await stands(home, embedder=other)


async def test_a_graph_whose_filling_was_cut_off_is_filled_at_the_next_start(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(Folder(home).graph("kuzu"))
    with monkeypatch.context() as patch:
        patch.setattr(KuzuGraph, "load", cut_off)
        with pytest.raises(CutOffError):
            await start(home)
    assert await stands(home)


async def test_a_damaged_graph_whose_removal_was_cut_off_is_filled_at_the_next_start(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Folder(home).graph("kuzu") / "graph.kuzu"
    file.write_bytes(b"torn")
    with monkeypatch.context() as patch:
        patch.setattr(KuzuGraph, "erase", cut_off)
        with pytest.raises(CutOffError):
            await start(home)
    file.unlink()
    assert await stands(home)


async def test_vectors_that_are_lost_are_made_anew(home: Path) -> None:
    shutil.rmtree(Folder(home).vectors)
    assert await stands(home)


async def test_vectors_that_cannot_be_read_are_made_anew(home: Path) -> None:
    for manifest in (Folder(home).vectors / "entities.lance" / "_versions").iterdir():
        manifest.write_bytes(b"torn")
    assert await stands(home)


async def test_a_compaction_that_was_cut_off_is_due_again(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_engine(home) as engine:
        await engine.forget("town")
        with monkeypatch.context() as patch:
            patch.setattr(LanceVectors, "compact", cut_off)
            with pytest.raises(CutOffError):
                await engine.compact()
        assert await engine._ledger.read(work_queue.removed_since_compaction)
        await engine.compact()
        assert not await engine._ledger.read(work_queue.removed_since_compaction)


async def test_a_rebuild_that_met_trouble_goes_on_when_the_trouble_is_over(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.maintenance.TROUBLE_WAIT", 0.01)
    async with open_engine(home) as engine:
        graph, fills = engine._runtime.graph, []
        load = graph.load

        async def load_at_the_third_try(nodes: Any, edges: Any) -> None:
            fills.append(nodes)
            if len(fills) == 2:
                raise DiskTrouble("The disk is full.")
            await load(nodes, edges)

        monkeypatch.setattr(graph, "load", load_at_the_third_try)
        with suppress(DiskTrouble):  # it is told only to those who wait longer than the trouble lasts
            await engine.rebuild()
        async with asyncio.timeout(20):
            while not await at_rest(engine):
                pass
        assert (await engine.verify()).clean
        assert len(fills) == 3


async def at_rest(engine: Engine) -> bool:
    """Whether all is settled; False while the disk gives trouble."""
    with suppress(DiskTrouble):
        await engine.settled()
        return True
    return False


# In one run, with graph and vectors in memory.


@pytest.fixture
async def slow(tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine that projects one key a step, and only when it is told to."""
    async with light_engine(tmp_path / "slow", options=Options(project_batch=1)) as engine:
        yield engine


async def unrest(engine: Engine) -> None:
    """Stop the worker, so that a test may take its steps one by one."""
    await engine._worker.stop()


async def test_the_degree_is_right_if_an_entity_comes_back_before_its_relations_were_gone(slow: Engine) -> None:
    await slow.add(doc("town", *TEXTS))
    await slow.settled()
    await unrest(slow)
    await slow.hide("here", "Ada")
    async with slow._ledger.reader() as db:
        [[ada]] = await db.execute_fetchall("SELECT id FROM name WHERE canonical = 'ada'")
        assert [mark.id for mark in await stale_keys.stale_marks(db, stale_keys.Stale.NAME, 1)] == [ada]
    assert await slow._projector.step() is Then.GO_ON
    await slow.unhide("here", "Ada")
    slow._worker.start()
    await slow.settled()
    async with slow._ledger.reader() as db:
        [[degree]] = await db.execute_fetchall("SELECT degree FROM entity WHERE name = 'Ada'")
    assert degree == 2
    assert (await slow.verify()).clean


async def test_a_vector_put_before_the_end_came_does_not_outlive_the_text_that_it_was_made_of(
    slow: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    await slow.add(doc("town", *TEXTS))
    await slow.settled()
    vectors = slow._runtime.vectors
    async with slow._ledger.reader() as db:
        [[ada]] = await db.execute_fetchall("SELECT id FROM entity WHERE name = 'Ada'")
    [before] = (await vectors.fetch("entities", {ada})).values()
    await unrest(slow)
    await slow.pin("here", "Ada", "Something else altogether.")
    with monkeypatch.context() as patch:
        patch.setattr("engine.projection.projector.work_queue.graphed", cut_off)
        while True:
            try:
                await slow._projector.step()
            except CutOffError:
                [[between]] = (await vectors.fetch("entities", {ada})).values()
                if not (between == before[0]).all():
                    break
    await slow.pin("here", "Ada", "")
    slow._worker.start()
    await slow.settled()
    [after] = (await vectors.fetch("entities", {ada})).values()
    assert (after == before).all()


async def test_a_document_without_names_is_indexed_once_all_is_settled(slow: Engine) -> None:
    for number in range(20):
        await slow.add(doc(f"dull {number}", f"nothing is named in {number}."))
        await slow.settled()
        assert {each.status for each in await slow.documents(HERE)} == {"indexed"}


async def test_a_compaction_does_not_wait_for_the_end_of_a_quiet_period(tmp_path: Path) -> None:
    async with light_engine(tmp_path / "quiet", options=Options(quiet=3600.0)) as engine:
        await engine.add(doc("crowd", *(f"Ada met Bob in week {week}." for week in range(12))))
        await engine.settled()
        await engine.add(doc("more", "Ada met Bob once more."))
        async with asyncio.timeout(20):
            while await engine._ledger.read(stale_keys.first_stale, held=False) is not None or not await held(engine):
                await engine._worker.progress()
            await engine.compact()
        assert not await held(engine)


async def held(engine: Engine) -> bool:
    """Whether a key waits for the end of its quiet period."""
    return await engine._ledger.read(stale_keys.first_stale) is not None
