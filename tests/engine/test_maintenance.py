from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from engine import Engine
from engine.errors import CorruptProjection, ModelUnavailable, StoreError
from engine.maintenance import RECREATE_INTERVAL_SECONDS
from engine.options import EngineOptions
from engine.storage.journal import RECORDS, UPLOADS
from engine.storage.ledger.work.work_queue import WorkQueue
from engine.storage.sql.connection import Connection
from tests.support.clock import ManualClock
from tests.support.engine_fixture import (
    HERE,
    Panic,
    add_indexed,
    doc,
    find_files_containing,
    open_engine,
    open_memory_engine,
    statuses,
    wait_until,
)
from tests.support.fake_embedder import HashEmbedder


async def needs_compaction(engine: Engine) -> bool:
    return await engine._ledger.read(WorkQueue.needs_compaction)


@pytest.mark.long
async def test_a_compaction_does_not_wait_for_the_embedder(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    async with open_memory_engine(tmp_path, embedder=embedder, options=EngineOptions(compaction_delay=0.2)) as engine:
        await add_indexed(engine, "Ada met Bob.")
        embedder.failing[""] = ModelUnavailable("the embedder is away")
        await engine.documents.add(doc("b", "Carla waits."))
        await engine.documents.forget("d0")

        async def is_compacted() -> bool:
            return not await needs_compaction(engine)

        await wait_until(is_compacted)
        assert await engine._runtime.vectors.list_rows("chunks") == []
        assert await engine._runtime.vectors.list_rows("entities") == []
        nodes, edges = await engine._runtime.graph.list_all()
        assert {node.id for node in nodes}.isdisjoint({1, 2})
        assert edges == []
        embedder.failing.clear()

        async def is_indexed() -> bool:
            with suppress(ModelUnavailable):
                await engine.wait_until_indexed()
                return True
            return False

        await wait_until(is_indexed)
        assert (await engine.maintenance.verify()).is_clean


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("broken", "error"),
    [
        ("_runtime.graph.delete", StoreError("The disk is away.")),
        ("_runtime.vectors.delete", Panic("index out of bounds")),
        ("_runtime.graph.compact", OSError("away")),
        ("_ledger.compact", StoreError("The disk is away.")),
    ],
)
async def test_a_store_that_fails_keeps_no_other_from_losing_forgotten_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str, error: BaseException
) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await add_indexed(engine, "Ada met Quibblewick.")
        compacted = list[str]()

        async def fail(*_: object) -> None:
            raise error

        async def compact() -> None:
            compacted.append("vectors")

        with monkeypatch.context() as patch:
            path, _, method = broken.rpartition(".")
            patch.setattr(engine._ledger if path == "_ledger" else getattr(engine._runtime, path[9:]), method, fail)
            patch.setattr(engine._runtime.vectors, "compact", compact)
            await engine.documents.forget("d0")
            with pytest.raises(type(error)):
                await engine.maintenance.compact()
            assert compacted == ["vectors"]
            assert await needs_compaction(engine)
            assert path == "_ledger" or find_files_containing(tmp_path, "Quibblewick") == []


async def fill(engine: Engine) -> None:
    await add_indexed(engine, *(f"Ada met Bob {number} times. Carl saw Dora {number} times." for number in range(6)))
    await engine.documents.forget("d1")


@pytest.mark.long
@pytest.mark.parametrize("what", ["compact", "reindex"])
async def test_cancelling_or_closing_in_the_middle_breaks_nothing(tmp_path: Path, what: str) -> None:
    async with open_engine(tmp_path) as engine:
        await fill(engine)
        for after in (0.0, 0.02):
            task = asyncio.ensure_future(getattr(engine.maintenance, what)())
            await asyncio.sleep(after)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await engine.documents.add(doc("more", f"Ada met Emil {after} times."))
        await engine.wait_until_indexed()
        await engine.maintenance.compact()
        assert (await engine.maintenance.verify()).is_clean
        assert engine.supervisor.list_problems() == []
    for after in (0.0, 0.05):
        async with open_engine(tmp_path) as engine:
            await engine.documents.add(doc("last", f"Ada met Zoe {after} times."))
            task = asyncio.ensure_future(getattr(engine.maintenance, what)())
            await asyncio.sleep(after)
        async with open_engine(tmp_path) as engine:
            outcome = (await asyncio.gather(task, return_exceptions=True))[0]
            assert outcome is None or isinstance(outcome, StoreError)
            await engine.wait_until_indexed()
            await engine.maintenance.compact()
            assert set((await statuses(engine)).values()) == {"indexed"}
            assert (await engine.maintenance.verify()).is_clean
            relations = (await engine.graph.get_neighborhood("Ada", HERE)).relations
            assert sorted(relation.weight for relation in relations) == [1, 1, 5]


async def test_full_text_of_an_earlier_version_is_updated_after_the_start(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await add_indexed(engine, "Ada met Bob.")

        def mark(db: Connection) -> None:
            db.execute("INSERT INTO unsegmented_fts SELECT 0, 0, id FROM chunk")

        await engine._ledger.write(mark)
    async with open_memory_engine(tmp_path) as engine:

        async def is_updated() -> bool:
            return not await engine._ledger.full_text.count_unsegmented()

        await wait_until(is_updated)


async def test_files_that_break_again_within_an_hour_are_not_rebuilt_once_more(tmp_path: Path) -> None:
    clock, damage = ManualClock(), CorruptProjection("The graph cannot be read.")
    async with open_memory_engine(tmp_path, clock=clock) as engine:
        await add_indexed(engine, "Ada met Bob.")
        await engine._store_maintenance.recreate_projections(damage)
        clock.advance(RECREATE_INTERVAL_SECONDS - 1)
        with pytest.raises(CorruptProjection):
            await engine._store_maintenance.recreate_projections(damage)
        clock.advance(1)
        await engine._store_maintenance.recreate_projections(damage)
        assert (await engine.maintenance.verify()).is_clean


async def test_a_compaction_removes_what_ended_processes_left(tmp_path: Path) -> None:
    uploads, copies = tmp_path / UPLOADS, tmp_path / ".threadlore-0123456789abcdef"
    async with open_memory_engine(tmp_path) as engine:
        for folder in (uploads, copies, tmp_path / RECORDS):
            folder.mkdir(exist_ok=True)
            (folder / "left").touch()
        (tmp_path / RECORDS / "0123456789abcdef").write_text(str(copies))
        await engine.maintenance.compact()
        assert not copies.exists()
        assert not list(uploads.iterdir())
