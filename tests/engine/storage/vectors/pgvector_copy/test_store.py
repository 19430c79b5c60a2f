"""Copies in memory find what the database holds, whoever wrote it, and whatever happened to notifications."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import pytest
from psycopg_pool import AsyncConnectionPool

from engine.clock import SYSTEM_CLOCK
from engine.options import VECTOR_CACHE_BYTES
from engine.scheduling.processes import LocalProcesses
from engine.scheduling.supervisor import Supervisor
from engine.storage.vector_columns import RoundedColumns
from engine.storage.vectors.base import VectorFilter, VectorRow, VectorTable
from engine.storage.vectors.in_memory.row_types import row_bytes
from engine.storage.vectors.pgvector import PostgresVectors
from engine.storage.vectors.pgvector_copy import copies
from engine.storage.vectors.pgvector_copy.store import CopiedVectors
from tests.contracts.test_vectors_contract import DIM, ONE, fill_store, search_ids, unit_vector
from tests.engine.storage.vectors.test_cached_table import fill_rooms
from tests.support.patience import PATIENCE

EVERYWHERE = VectorFilter(frozenset({1, 2, 3}))


@asynccontextmanager
async def open_copied(
    url: str, max_bytes: int = VECTOR_CACHE_BYTES, dim: int = DIM, partitions: int = 3
) -> AsyncIterator[CopiedVectors]:
    """A store as another process has it: no notification of it reaches the others."""
    async with AsyncConnectionPool(url, kwargs={"autocommit": True}, min_size=1, max_size=4) as pool:
        supervisor = Supervisor(SYSTEM_CLOCK)
        stored = await PostgresVectors.open(pool, dim, supervisor, SYSTEM_CLOCK, partitions=partitions)
        vectors = CopiedVectors(stored, max_bytes, LocalProcesses(), supervisor)
        yield vectors
        await vectors.close()


async def load(store: CopiedVectors, table: VectorTable = "chunks") -> None:
    """Wait until the rows of a table are in memory."""
    async with asyncio.timeout(PATIENCE):
        while await store._copies.get(table) is None:
            await store._copies.catch_up()


async def test_what_another_process_changed_is_found_at_once_without_a_notification(postgres_url: str) -> None:
    async with open_copied(postgres_url) as one, open_copied(postgres_url) as other:
        await load(one)
        await fill_store(other)
        assert [id_ for id_, _ in await search_ids(one, EVERYWHERE)] == [1, 2, 3, 4]
        await other.delete("chunks", [1])
        assert [id_ for id_, _ in await search_ids(one, EVERYWHERE)] == [2, 3, 4]
        assert not await one.fetch("chunks", [1])
        await other.upsert("chunks", [VectorRow(2, 9, 7, 0)], unit_vector(1)[None])  # moved out of the scope
        assert [id_ for id_, _ in await search_ids(one, EVERYWHERE)] == [3, 4]
        assert not await search_ids(one, VectorFilter(frozenset(), frozenset({6, 5}), ids=frozenset({2})))
        await other.clear()
        assert not await search_ids(one, EVERYWHERE)
        assert not await one.fetch("chunks", [3])


async def test_copies_find_what_the_server_finds(postgres_url: str) -> None:
    async with open_copied(postgres_url, dim=32) as store, open_copied(postgres_url, 0, dim=32) as server:
        await load(store)
        vectors = await fill_rooms(server, 1_500)
        for area in (
            VectorFilter(frozenset({2, 5})),
            VectorFilter(frozenset({1}), frozenset({3, 4})),
            VectorFilter(frozenset({1, 3}), ids=frozenset(range(0, 600, 6))),
        ):
            hits, expected = [await each.search("chunks", vectors[8], 25, area) for each in (store, server)]
            assert [hit.similarity for hit in hits] == pytest.approx([hit.similarity for hit in expected], abs=1e-5)
            assert {hit.id for hit in hits} == {hit.id for hit in expected}
        found, stored = [await each.fetch("chunks", range(290, 420)) for each in (store, server)]
        assert {id_: parts.tolist() for id_, parts in found.items()} == {id_: p.tolist() for id_, p in stored.items()}
    async with open_copied(postgres_url, dim=32) as store:  # loads all at once
        await load(store)
        hits = await store.search("chunks", vectors[8], 25, area)
        assert [hit.similarity for hit in hits] == pytest.approx([hit.similarity for hit in expected], abs=1e-5)


async def test_a_transaction_that_ends_later_than_a_younger_one_is_found(postgres_url: str) -> None:
    async with open_copied(postgres_url) as store:
        await fill_store(store)
        await load(store)
        with psycopg.connect(postgres_url) as slow, psycopg.connect(postgres_url) as fast:
            slow.execute("DELETE FROM vector_chunks WHERE id = 1")
            fast.execute("DELETE FROM vector_chunks WHERE id = 4")
            fast.commit()
            assert [id_ for id_, _ in await search_ids(store, EVERYWHERE)] == [1, 2, 3]
            slow.commit()
            assert [id_ for id_, _ in await search_ids(store, EVERYWHERE)] == [2, 3]
            slow.execute("DELETE FROM vector_chunks WHERE id = 2")
            slow.rollback()
        assert [id_ for id_, _ in await search_ids(store, EVERYWHERE)] == [2, 3]


async def test_a_copy_whose_changes_are_no_longer_logged_is_loaded_again(postgres_url: str) -> None:
    async with open_copied(postgres_url) as store, open_copied(postgres_url) as other:
        await fill_store(store)
        await load(store)
        await store._copies.catch_up()
        seen = store._copies._seen
        assert seen is not None
        await other.delete("chunks", [1])
        with psycopg.connect(postgres_url) as connection:
            connection.execute("DELETE FROM vector_change")
            [early] = connection.execute("SELECT now() - interval '61 minutes'").fetchone() or ()
        store._copies._seen = seen._replace(at=early)
        await load(store)
        assert [id_ for id_, _ in await search_ids(store, EVERYWHERE)] == [2, 3, 4]


async def test_a_change_waits_for_a_search_beside_the_event_loop(postgres_url: str) -> None:
    async with open_copied(postgres_url) as store, open_copied(postgres_url) as other:
        await fill_store(store)
        await load(store)
        rows, began, go_on = store._copies._copies["chunks"].rows, threading.Event(), threading.Event()
        assert rows is not None

        def search() -> bool:
            with rows._gate.search():
                began.set()
                return go_on.wait(PATIENCE)

        searching = asyncio.create_task(rows._threads.run(search))
        await asyncio.to_thread(began.wait, PATIENCE)
        await other.delete("chunks", [1])
        change = asyncio.create_task(store._copies.catch_up())
        await asyncio.wait({change}, timeout=0.2)
        assert not change.done()
        go_on.set()
        assert await searching
        await change
        assert [id_ for id_, _ in await search_ids(store, EVERYWHERE)] == [2, 3, 4]


async def test_many_changes_at_once_load_the_table_again(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "MAX_READ", 3)
    async with open_copied(postgres_url) as store, open_copied(postgres_url) as other:
        await load(store)
        await fill_store(other)
        await load(store)
        assert [id_ for id_, _ in await search_ids(store, EVERYWHERE)] == [1, 2, 3, 4]


async def test_a_table_that_does_not_fit_is_searched_by_the_server(postgres_url: str) -> None:
    cache_bytes = int(1.8 * row_bytes(RoundedColumns(DIM)))  # 4.5 rows of the only table with any
    async with open_copied(postgres_url, cache_bytes) as store:
        await fill_store(store)
        assert len(await search_ids(store, EVERYWHERE)) == 4
        await store.upsert("chunks", [VectorRow(9, 1, 5, 0)], unit_vector(1)[None])
        assert len(await search_ids(store, EVERYWHERE)) == 5
        assert await store._copies.get("chunks") is None
        await store.delete("chunks", [1])
        await store._copies.catch_up()
        await load(store)
        assert len(await search_ids(store, EVERYWHERE)) == 4


@pytest.mark.long
async def test_search_sees_every_write_while_tables_are_loaded(postgres_url: str) -> None:
    """Two processes write and search at once, and load their tables again and again."""
    async with open_copied(postgres_url) as one, open_copied(postgres_url) as other:

        async def write(writer: CopiedVectors, reader: CopiedVectors, first: int) -> None:
            for number in range(first, first + 20):
                await writer.upsert("chunks", [VectorRow(number, 1, 0, 0)], unit_vector(1, number)[None])
                if number % 4 == 0:
                    reader._copies._copies["chunks"].drop()
                hits = await reader.search("chunks", unit_vector(1, number), 200, VectorFilter(ONE))
                assert number in {hit.id for hit in hits}
                await writer.delete("chunks", [number - 2])
                assert number - 2 not in await reader.fetch("chunks", [number - 2])

        await asyncio.gather(write(one, other, 0), write(other, one, 100), write(one, one, 200))
        assert len(await search_ids(one, VectorFilter(ONE), 200)) == 6
