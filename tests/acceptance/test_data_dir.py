"""The data folder: what was damaged behind its back is found and mended, and it has one owner."""

from __future__ import annotations

import asyncio
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engine import Engine
from engine.errors import DataDirInUse, EmbedderMismatch
from engine.models import Question
from engine.options import EngineOptions
from engine.storage.ledger.cache import Cache
from tests.support.engine_fixture import HERE, doc, export_state, fetch_rows, is_clean, open_engine
from tests.support.fake_embedder import HashEmbedder
from tests.support.toy_language import ToyLanguage

DIARY = doc("diary", "Ada met Bob.", "Ada wrote to Carla.")
LETTERS = doc("letters", "Ada met Bob.", "Bob saw Dora.")


@pytest.mark.long
async def test_verify_finds_and_repairs_external_changes(engine: Engine) -> None:
    await engine.documents.add(DIARY)
    await engine.documents.add(LETTERS)
    before = await export_state(engine)
    graph, vectors = engine._runtime.graph, engine._runtime.vectors
    nodes, edges = await graph.list_all()
    edge = edges[0]
    lost, kept = [node for node in nodes if node.id not in (edge.source, edge.target)]
    await graph.delete([lost.id], [])
    await graph.upsert([replace(kept, space=77)], [replace(edge, weight=77.0)])
    chunks, entities = await vectors.list_rows("chunks"), await vectors.list_rows("entities")
    relations = await vectors.list_rows("relations")
    await vectors.delete("chunks", [chunks[0].id])
    await vectors.delete("relations", [relations[0].id])
    [stray] = (await vectors.fetch("entities", [entities[0].id])).values()
    await vectors.upsert("entities", [entities[0]._replace(id=999), entities[1]._replace(space=55)], stray.repeat(2, 0))
    words = "\n".join(str(difference) for difference in (await engine.maintenance.verify()).differences)
    for expected in (
        f"graph: entity {lost.id} is missing",
        f"graph: entity {kept.id} is in space 77",
        f"graph: relation {edge.id} has weight 77",
        f"vectors: chunks {chunks[0].id} is missing",
        f"vectors: relations {relations[0].id} is missing",
        "vectors: entities 999 is unexpected",
        f"vectors: entities {entities[1].id} is in (space, room)",
    ):
        assert expected in words
    assert not (await engine.maintenance.verify(repair=True)).is_clean
    assert await is_clean(engine)
    assert await export_state(engine) == before


@pytest.mark.long
async def test_embedder_change_is_refused_unless_requested(tmp_path: Path) -> None:
    async with open_engine(tmp_path) as engine:
        await engine.documents.add(DIARY)
        before = await export_state(engine)
    other = HashEmbedder(dim=64, name="other")
    with pytest.raises(EmbedderMismatch, match=r"made by hash \(128 dimensions\), not by other \(64 dimensions\)"):
        async with open_engine(tmp_path, embedder=other):
            raise AssertionError("it was opened")
    async with open_engine(tmp_path, embedder=other, options=EngineOptions(replace_embedder=True)) as engine:
        assert await export_state(engine) == before
        assert await is_clean(engine)
        assert (await engine.retrieve(Question("Whom did Ada meet?", HERE))).sources
    async with open_engine(tmp_path, embedder=other) as engine:
        assert await is_clean(engine)


@pytest.mark.long
async def test_vectors_of_a_former_embedder_leave_all_files(tmp_path: Path) -> None:
    async with open_engine(tmp_path) as engine:
        await engine.documents.add(DIARY)
        await engine.wait_until_indexed()
        former = await stored_vectors(engine)
        assert set(former) == {"hash (128 dimensions)"}
    [mark] = former.values()
    assert find_files_with_vector(tmp_path, mark)
    other = HashEmbedder(dim=64, name="other")
    async with open_engine(tmp_path, embedder=other, options=EngineOptions(replace_embedder=True)) as engine:
        await engine.wait_until_indexed()
        assert set(await stored_vectors(engine)) == {"other (64 dimensions)"}
        [[text_hash]] = await fetch_rows(engine._ledger, "SELECT text_hash FROM chunk")
        await engine._ledger.write(Cache.save_vectors, "stray", [(text_hash, 1, mark)])
        assert set(await stored_vectors(engine)) == {"other (64 dimensions)", "stray"}
        await engine.maintenance.compact()
        assert set(await stored_vectors(engine)) == {"other (64 dimensions)"}
    assert not find_files_with_vector(tmp_path, mark)


async def stored_vectors(engine: Engine) -> dict[str, bytes]:
    """What the ledger remembers of vectors, one of each embedder."""
    return {row[0]: row[1] for row in await fetch_rows(engine._ledger, "SELECT embedder, data FROM vector")}


def find_files_with_vector(folder: Path, vector: bytes) -> list[Path]:
    """The files that hold a vector."""
    return [file for file in folder.rglob("*") if file.is_file() and vector in file.read_bytes()]


SECOND = """
import asyncio, pathlib, sys
from engine.errors import DataDirInUse
from tests.support.engine_fixture import open_engine

async def main():
    try:
        async with open_engine(pathlib.Path(sys.argv[1])):
            print("opened")
    except DataDirInUse as error:
        print(error, error.hint)

asyncio.run(main())
"""


@pytest.mark.long
async def test_second_process_gets_data_dir_in_use(tmp_path: Path) -> None:
    async with open_engine(tmp_path) as engine:
        second = await asyncio.create_subprocess_exec(
            sys.executable, "-c", SECOND, str(tmp_path), stdout=asyncio.subprocess.PIPE
        )
        told_by_second, _ = await second.communicate()
        assert b"is in use by another process (process " in told_by_second
        assert b"Run the command again in a moment" in told_by_second
        with pytest.raises(DataDirInUse):
            async with open_engine(tmp_path):
                raise AssertionError("it was opened twice")
        await engine.documents.add(DIARY)
        assert await is_clean(engine)


@pytest.mark.long
async def test_damaged_and_lost_projections_are_rebuilt_without_a_model(tmp_path: Path) -> None:
    language = ToyLanguage()
    async with open_engine(tmp_path, language) as engine:
        await engine.documents.add(DIARY)
        await engine.documents.add(LETTERS)
        before = await export_state(engine)
    shutil.rmtree(tmp_path / "graph.kuzu")
    for file in (tmp_path / "vectors").rglob("*.*"):
        if file.is_file():
            file.write_bytes(b"damaged" * 1000)
    language.calls.clear()
    async with open_engine(tmp_path, language) as engine:
        assert await export_state(engine) == before
        assert await is_clean(engine)
        assert language.calls.total() == 0
