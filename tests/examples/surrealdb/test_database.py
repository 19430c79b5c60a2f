"""SurrealDB as a store: content survives a restart, and failures are the engine's errors."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from engine.errors import DatabaseUnreachable, EmbedderMismatch, StoreError
from engine.storage.graph.base import GraphEdge, GraphNode
from engine.storage.vectors.base import VectorFilter, VectorRow
from surrealdb_stores.address import parse_surreal_address
from surrealdb_stores.database import SurrealDatabase, open_surreal
from surrealdb_stores.graph import SurrealGraph
from surrealdb_stores.vectors import SurrealVectors
from tests.examples.surrealdb.server import run_surreal_server


@pytest.fixture
def address(tmp_path: Path) -> str:
    return f"surrealkv://{tmp_path / 'surreal'}"


async def test_graph_and_vectors_of_one_database_survive_a_restart(address: str) -> None:
    vector = np.array([[0.6, 0.8]], np.float32)
    async with open_surreal(address) as database:
        vectors, graph = await SurrealVectors.open(database, 2), await SurrealGraph.open(database)
        await vectors.upsert("entities", [VectorRow(2**40, 1, 0, 0)], vector)
        await graph.upsert([GraphNode(1, 7), GraphNode(2, 7)], [GraphEdge(5, 2, 1, 3.0)])
    async with open_surreal(address) as database:
        vectors, graph = await SurrealVectors.open(database, 2), await SurrealGraph.open(database)
        [hit] = await vectors.search("entities", vector[0], 3, VectorFilter(frozenset({1})))
        assert hit.id == 2**40
        assert hit.similarity == pytest.approx(1.0)
        assert [(edge.id, edge.source, edge.target) for edge in await graph.neighbors([2], [7], 5)] == [(5, 1, 2)]


async def test_vectors_of_another_length_are_refused(address: str) -> None:
    async with open_surreal(address) as database:
        await SurrealVectors.open(database, 2)
        with pytest.raises(EmbedderMismatch, match="2 dimensions"):
            await SurrealVectors.open(database, 3)


async def test_a_closed_database_and_a_refused_statement_are_errors() -> None:
    async with open_surreal("mem://") as database:
        with pytest.raises(StoreError, match="already exists"):
            await database.run("BEGIN; CREATE thing:1; CREATE thing:1; COMMIT;")
        assert await database.run("SELECT * FROM thing") == []
        await database.close()
        with pytest.raises(StoreError, match="closed"):
            await database.run("RETURN 1")


async def test_a_server_that_does_not_answer_is_an_error() -> None:
    with pytest.raises(StoreError):
        await SurrealDatabase.open("ws://127.0.0.1:9")


async def test_a_password_is_sent_and_not_shown() -> None:
    async with run_surreal_server() as server:
        async with open_surreal(server.address) as database:
            assert await database.run("RETURN 2") == 2
        with pytest.raises(StoreError, match="refused") as refused:
            await SurrealDatabase.open(server.address.replace("%3A", "-"))
        assert "c%2Fd" not in str(refused.value)
    with pytest.raises(DatabaseUnreachable) as gone:
        await SurrealDatabase.open(server.address)
    assert f"ws://127.0.0.1:{server.port}/town/hall" in str(gone.value)
    assert "c%2Fd" not in str(gone.value)


@pytest.mark.long
async def test_a_statement_is_repeated_on_a_new_connection_if_the_first_is_lost() -> None:
    async with run_surreal_server() as server, open_surreal(server.address) as database:
        slow = asyncio.create_task(database.run("RETURN [sleep(500ms), 400000][1]"))
        await asyncio.sleep(0.02)
        assert server.drop_connections() == 1
        assert not slow.done()
        assert await slow == 400_000
        assert server.drop_connections() == 1
        assert await database.run("RETURN 2") == 2


def test_user_and_names_are_taken_out_of_an_address() -> None:
    full = parse_surreal_address("wss://a%40b:c%2Fd@host:1/north/south")
    assert (full.url, full.namespace, full.database) == ("wss://host:1", "north", "south")
    assert (full.user, full.password) == ("a@b", "c/d")
    assert "c/d" not in repr(full)
    short = parse_surreal_address("ws://host/north")
    assert (short.url, short.namespace, short.database, short.user) == ("ws://host", "north", "threadlore", "")


def read_logs(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*.clog"))


async def test_compaction_erases_deleted_bytes_and_keeps_the_rest(tmp_path: Path) -> None:
    gone, kept = np.eye(300, 8, dtype=np.float32), np.array([[0.6, 0.8, 0, 0, 0, 0, 0, 0]], np.float32)
    gone[:, 7] = np.arange(300) + 1
    async with open_surreal(f"surrealkv://{tmp_path / 'surreal'}") as database:
        vectors, graph = await SurrealVectors.open(database, 8), await SurrealGraph.open(database)
        await graph.upsert([GraphNode(1, 7), GraphNode(2, 7)], [GraphEdge(5, 2, 1, 3.0)])
        rows = [VectorRow(number, 1, 0, 0) for number in range(1, 301)]
        await vectors.upsert("chunks", [*rows, VectorRow(301, 1, 0, 0)], np.concatenate((gone, kept)))
        deleted = (gone[299] / np.linalg.norm(gone[299])).tobytes()
        assert deleted in read_logs(tmp_path)
        await vectors.delete("chunks", range(2, 301))
        await vectors.compact()
        assert deleted not in read_logs(tmp_path)
        assert await vectors.list_rows("chunks") == [rows[0], VectorRow(301, 1, 0, 0)]
        [edge] = await graph.neighbors([2], [7], 5)
        assert edge.id == 5
        await vectors.upsert("chunks", rows[:9], gone[:9])
    assert not (tmp_path / "surreal.new").exists()
    async with open_surreal(f"surrealkv://{tmp_path / 'surreal'}") as database:
        assert len(await (await SurrealVectors.open(database, 8)).list_rows("chunks")) == 10
