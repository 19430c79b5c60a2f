"""Stores that a caller gives: what they lack is filled from the ledger."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from psycopg_pool import AsyncConnectionPool

from engine.clock import SYSTEM_CLOCK
from engine.engine import Engine
from engine.options import EngineOptions, StoresPlace
from engine.projection.open_stores import Stores
from engine.scheduling.supervisor import Supervisor
from engine.storage.vectors.pgvector import PostgresVectors
from engine.storage.vectors.pgvector_tables import TABLES
from tests.support.engine_fixture import add_indexed
from tests.support.fake_embedder import HashEmbedder
from tests.support.memory_graph import MemoryGraph
from tests.support.memory_vectors import MemoryVectors
from tests.support.toy_language import ToyLanguage


def opened(home: Path, stores: Stores) -> AbstractAsyncContextManager[Engine]:
    return Engine.open(home, language=ToyLanguage(), embedder=HashEmbedder(), stores=stores)


def empty_stores() -> Stores:
    return Stores(MemoryGraph(), MemoryVectors(HashEmbedder().dim))


async def filled(home: Path, text: str) -> Stores:
    stores = empty_stores()
    async with opened(home, stores) as engine:
        await add_indexed(engine, text)
    return stores


@pytest.mark.share(2)
@pytest.mark.parametrize("lost", ["graph", "vectors", "both"])
@pytest.mark.parametrize("foreign", [False, True], ids=["empty", "foreign"])
async def test_stores_that_lack_content_are_filled_again(tmp_path: Path, lost: str, *, foreign: bool) -> None:
    own = await filled(tmp_path / "home", "Ada met Bob.")
    other = await filled(tmp_path / "other", "Zoe saw Kim.") if foreign else empty_stores()
    graph = own.graph if lost == "vectors" else MemoryGraph()
    stores = Stores(graph, own.vectors if lost == "graph" else other.vectors)
    async with opened(tmp_path / "home", stores) as engine:
        await engine.wait_until_indexed()
        assert (await engine.maintenance.verify()).is_clean


async def test_stores_that_have_everything_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stores = await filled(tmp_path / "home", "Ada met Bob.")
    monkeypatch.setattr(MemoryVectors, "clear", None)
    async with opened(tmp_path / "home", stores) as engine:
        await engine.wait_until_indexed()


async def test_an_opener_is_told_of_the_data_and_stays_open_as_long_as_the_engine(tmp_path: Path) -> None:
    places, states = list[StoresPlace](), list[str]()

    @asynccontextmanager
    async def open_memory_stores(place: StoresPlace) -> AsyncIterator[Stores]:
        places.append(place)
        states.append("open")
        yield empty_stores()
        states.append("closed")

    options = EngineOptions(open_stores=open_memory_stores)
    for _ in range(2):
        async with Engine.open(tmp_path, language=ToyLanguage(), embedder=HashEmbedder(), options=options) as engine:
            await add_indexed(engine, "Ada met Bob.")
            assert (await engine.maintenance.verify()).is_clean
            assert states[-1] == "open"
            assert not (tmp_path / "vectors").exists()
        (tmp_path / "vectors").mkdir()  # as stores of the data directory would leave it
    assert states == ["open", "closed"] * 2
    assert [place.last_chunk > 0 for place in places] == [False, True]
    assert {(place.folder, place.dim) for place in places} == {(tmp_path / "stores", HashEmbedder().dim)}


@pytest.mark.long
async def test_stores_of_the_data_directory_are_filled_again_after_a_run_with_given_ones(tmp_path: Path) -> None:
    async with Engine.open(tmp_path, language=ToyLanguage(), embedder=HashEmbedder()) as engine:
        await add_indexed(engine, "Ada met Bob.")
    async with opened(tmp_path, empty_stores()) as engine:
        await add_indexed(engine, "Zoe saw Kim.", "other")
        await engine.wait_until_indexed()
    async with Engine.open(tmp_path, language=ToyLanguage(), embedder=HashEmbedder()) as engine:
        await engine.wait_until_indexed()
        assert (await engine.maintenance.verify()).is_clean


async def test_an_engine_works_with_vectors_in_postgres_and_refills_lost_ones(
    tmp_path: Path, postgres_url: str
) -> None:
    async with AsyncConnectionPool(postgres_url, min_size=1, max_size=4) as pool:
        vectors = await PostgresVectors.open(
            pool, HashEmbedder().dim, Supervisor(SYSTEM_CLOCK), SYSTEM_CLOCK, partitions=2
        )
        stores = Stores(MemoryGraph(), vectors)
        async with opened(tmp_path, stores) as engine:
            await add_indexed(engine, "Ada met Bob.", "Zoe saw Kim.")
            await engine.documents.move_room("hall", "elsewhere")
            await engine.wait_until_indexed()
            assert (await engine.maintenance.verify()).is_clean
            await engine.documents.forget("d1")
            await engine.wait_until_indexed()
            assert (await engine.maintenance.verify()).is_clean
            before = {table: await vectors.list_rows(table) for table in TABLES}
        await vectors.clear()
        async with opened(tmp_path, stores) as engine:
            await engine.wait_until_indexed()
            assert (await engine.maintenance.verify()).is_clean
            assert before == {table: await vectors.list_rows(table) for table in TABLES}
            assert [row.space for row in before["chunks"]] == [row.space for row in before["relations"]] != [1]
