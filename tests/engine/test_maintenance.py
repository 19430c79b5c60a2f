from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from engine.errors import ModelUnavailable, StoreError
from engine.options import EngineOptions
from engine.storage.ledger.work import work_queue
from tests.support.engine_fixture import (
    HERE,
    doc,
    find_files_containing,
    open_engine,
    open_memory_engine,
    sqlite_ledger,
)
from tests.support.fake_embedder import HashEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    from engine import Engine


async def compacted(engine: Engine) -> None:
    """Return once nothing that was removed is left in the files."""
    async with asyncio.timeout(20):
        while await sqlite_ledger(engine._ledger).read(work_queue.needs_compaction):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.02)


async def mended(engine: Engine) -> None:
    """Return once all is indexed, whatever hindered it at first."""
    async with asyncio.timeout(20):
        while True:
            with suppress(ModelUnavailable):
                return await engine.wait_until_indexed()
            await asyncio.sleep(0.02)


async def test_a_compaction_does_not_wait_for_the_embedder(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    async with open_memory_engine(tmp_path, embedder=embedder, options=EngineOptions(compaction_delay=0.2)) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.wait_until_indexed()
        embedder.failing[""] = ModelUnavailable("the embedder is away")
        await engine.add(doc("b", "Carla waits."))
        await engine.forget("a")
        await compacted(engine)
        assert await engine._runtime.vectors.list_rows("chunks") == []
        assert await engine._runtime.vectors.list_rows("entities") == []
        nodes, edges = await engine._runtime.graph.list_all()
        assert {node.id for node in nodes}.isdisjoint({1, 2})
        assert edges == []
        embedder.failing.clear()
        await mended(engine)
        assert (await engine.verify()).is_clean


async def test_one_file_that_cannot_be_compacted_keeps_no_other_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Bob."))
        await engine.wait_until_indexed()
        await engine.forget("a")
        done = list[str]()

        async def broken() -> None:
            raise StoreError("The log is read.")

        async def noted() -> None:
            done.append("vectors")

        monkeypatch.setattr(engine._ledger, "compact", broken)
        monkeypatch.setattr(engine._runtime.vectors, "compact", noted)
        with pytest.raises(StoreError, match="log is read"):
            await engine.compact()
        assert done == ["vectors"]
        assert await sqlite_ledger(engine._ledger).read(work_queue.needs_compaction)


class Panic(BaseException):
    """As the runtime of a native library raises it."""


@pytest.mark.parametrize("error", [StoreError("The disk is away."), OSError("away"), Panic("index out of bounds")])
@pytest.mark.parametrize("broken", ["_runtime.graph.delete", "_runtime.vectors.delete", "_runtime.graph.compact"])
async def test_forgotten_bytes_leave_the_ledger_whatever_graph_and_vectors_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str, error: BaseException
) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(doc("a", "Ada met Quibblewick."))
        await engine.wait_until_indexed()
        done = list[str]()

        async def fails(*_: object) -> None:
            raise error

        async def noted() -> None:
            done.append("vectors")

        runtime = engine._runtime
        with monkeypatch.context() as patch:
            part, method = broken.split(".")[1:]
            patch.setattr(getattr(runtime, part), method, fails)
            patch.setattr(runtime.vectors, "compact", noted)
            await engine.forget("a")
            with pytest.raises(type(error)):
                await engine.compact()
            assert find_files_containing(tmp_path, "Quibblewick") == []
            assert done == ["vectors"]
            assert await sqlite_ledger(engine._ledger).read(work_queue.needs_compaction)


async def filled(engine: Engine) -> None:
    for number in range(12):
        await engine.add(doc(f"d{number}", f"Ada met Bob {number} times.", f"Carl saw Dora {number} times."))
    await engine.wait_until_indexed()


@pytest.mark.parametrize("after", [0.0, 0.01, 0.1])
@pytest.mark.parametrize("what", ["compact", "rebuild"])
async def test_an_engine_closed_in_the_middle_leaves_the_reopened_one_alone(
    tmp_path: Path, what: str, after: float
) -> None:
    async with open_engine(tmp_path) as engine:
        await filled(engine)
        await engine.forget("d1")
        task: asyncio.Future[None] = asyncio.ensure_future(getattr(engine, what)())
        await asyncio.sleep(after)
    async with open_engine(tmp_path) as engine:
        outcome = (await asyncio.gather(task, return_exceptions=True))[0]
        assert outcome is None or isinstance(outcome, StoreError)
        await engine.wait_until_indexed()
        await engine.compact()
        assert {each.status for each in await engine.list_documents(HERE)} == {"indexed"}
        assert (await engine.verify()).is_clean
        found = await engine.get_neighbourhood("Ada", HERE)
        assert [each.weight for each in found.relations] == [11]


@pytest.mark.parametrize("what", ["compact", "rebuild"])
async def test_who_stops_waiting_breaks_nothing_off(tmp_path: Path, what: str) -> None:
    async with open_engine(tmp_path) as engine:
        await filled(engine)
        await engine.forget("d1")
        for after in (0.0, 0.01, 0.05):
            task = asyncio.ensure_future(getattr(engine, what)())
            await asyncio.sleep(after)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await engine.add(doc("more", f"Ada met Emil {after} times."))
        await engine.wait_until_indexed()
        await engine.compact()
        assert (await engine.verify()).is_clean
        assert engine.supervisor.list_problems() == []
