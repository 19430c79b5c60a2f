"""What every graph must do. K10 numbers: cases of a graph store that still have a meaning for ids and weights alone.

The two graph libraries cannot be loaded into one process: the whole file runs once more, in a child, for Ladybug.
"""

from __future__ import annotations

import asyncio
import errno
import importlib.util
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Literal, NoReturn

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import CorruptProjection, DataDirInUse, DiskError, StoreError
from engine.storage.graph import kuzu, kuzu_connection, kuzu_writer
from engine.storage.graph.base import GraphEdge, GraphNode, GraphStore
from engine.storage.graph.kuzu import CACHED_EDGES, REOPEN_AFTER_ROWS, KuzuGraph
from engine.storage.graph.kuzu_connection import KuzuConnection
from engine.storage.graph.kuzu_writer import KuzuWriter
from tests.examples.surrealdb import IS_INSTALLED
from tests.support.ledger_rows import open_ledger_graph
from tests.support.memory_graph import MemoryGraph

MODULE: Literal["kuzu", "ladybug"] = "ladybug" if os.environ.get("GRAPH_UNDER_TEST") == "ladybug" else "kuzu"
BUFFER_POOL_BYTES = 64 << 20
ROOT = Path(__file__).parents[2]


def open_graph(path: Path, cached_edges: int = CACHED_EDGES) -> asyncio.Future[KuzuGraph]:
    return asyncio.ensure_future(KuzuGraph.open(path, MODULE, BUFFER_POOL_BYTES, cached_edges))


STORES = ["kuzu", "on disk", "memory", "postgres", *(["surreal", "surreal on disk"] if IS_INSTALLED else [])]


# "on disk" keeps no edges in memory: every call reaches the library.
@pytest.fixture(params=STORES if MODULE == "kuzu" else ["on disk"])
async def graph(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[GraphStore]:
    if request.param == "postgres":
        async with open_ledger_graph(request.getfixturevalue("postgres_url")) as ledger_graph:
            yield ledger_graph
        return
    if request.param.startswith("surreal"):
        from tests.examples.surrealdb.contract_stores import open_surreal_graph  # noqa: PLC0415 - may be missing

        async with open_surreal_graph(tmp_path, CACHED_EDGES if request.param == "surreal" else 0) as surreal_graph:
            yield surreal_graph
        return
    graph: GraphStore = MemoryGraph()
    if request.param != "memory":
        graph = await open_graph(tmp_path / "graph", CACHED_EDGES if request.param == MODULE else 0)
    yield graph
    await graph.close()


def build_node(number: int, space: int = 1, *, known: bool | None = None) -> GraphNode:
    return GraphNode(number, space, known)


def build_edge(number: int, source: int, target: int, weight: float = 1.0, *, known: bool | None = None) -> GraphEdge:
    return GraphEdge(number, source, target, weight, known)


@pytest.fixture
def small_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty rows at once are written with one statement, as 200 usually are."""
    monkeypatch.setattr(kuzu_writer, "BULK_THRESHOLD", 20)


def build_star(leaves: int, weight: float, *, known: bool | None) -> tuple[list[GraphNode], list[GraphEdge]]:
    """A hub and as many leaves: so many rows that the graph writes them with one statement."""
    nodes = [build_node(number, known=known) for number in range(leaves + 1)]
    return nodes, [build_edge(number, 0, number, weight, known=known) for number in range(1, leaves + 1)]


async def insert_chain(graph: GraphStore) -> None:
    """1 - 2 - 3, and 4 alone."""
    await graph.upsert(
        [build_node(number) for number in (1, 2, 3, 4)], [build_edge(10, 1, 2), build_edge(11, 2, 3, 2.0)]
    )


def edge_pairs(edges: list[GraphEdge]) -> list[tuple[int, int, int]]:
    return [(one.id, one.source, one.target) for one in edges]


async def test_k10_an_edge_has_no_direction(graph: GraphStore) -> None:
    await insert_chain(graph)
    await graph.upsert([], [build_edge(10, 2, 1, 3.0)])
    assert (await graph.list_all())[1] == [build_edge(10, 1, 2, 3.0, known=True), build_edge(11, 2, 3, 2.0, known=True)]


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("asked", "spaces", "limit", "found"),
    [
        pytest.param([99], [1], 5, [], id="of a missing node"),
        pytest.param([4], [1], 5, [], id="of an isolated node"),
        pytest.param([1], [1], 5, [(10, 1, 2)], id="from one end"),
        pytest.param([3], [1], 5, [(11, 2, 3)], id="from the other end"),
        pytest.param([1, 1], [1], 5, [(10, 1, 2)], id="of a node twice"),
        pytest.param([2], [1], 5, [(11, 2, 3), (10, 1, 2)], id="the heaviest first"),
        pytest.param([1, 2, 3], [1], 5, [(11, 2, 3), (10, 1, 2)], id="each once"),
        pytest.param([], [1], 5, [], id="of nothing"),
        pytest.param([1], [], 5, [], id="in no space"),
        pytest.param([1], [1], 0, [], id="none at all"),
    ],
)
async def test_k10_edges_are_found(
    graph: GraphStore, asked: list[int], spaces: list[int], limit: int, found: list[tuple[int, int, int]]
) -> None:
    await insert_chain(graph)
    assert edge_pairs(await graph.neighbors(asked, spaces, limit)) == found


async def test_k10_repeated_rows_and_the_removal_of_missing_ones_change_nothing(graph: GraphStore) -> None:
    await insert_chain(graph)
    before = await graph.list_all()
    await insert_chain(graph)
    assert await graph.list_all() == before
    await graph.delete([77], [build_edge(78, 1, 3), build_edge(79, 77, 99)])
    await graph.delete([], [])
    assert await graph.list_all() == before


async def test_k10_edges_to_unknown_nodes_are_refused_atomically(graph: GraphStore) -> None:
    await insert_chain(graph)
    before = await graph.list_all()
    with pytest.raises(StoreError):
        await graph.upsert([build_node(5)], [build_edge(12, 4, 5), build_edge(13, 4, 99)])
    assert await graph.list_all() == before


async def test_k10_removing_a_node_removes_its_edges(graph: GraphStore) -> None:
    await insert_chain(graph)
    await graph.delete([2], [])
    nodes, edges = await graph.list_all()
    assert ([one.id for one in nodes], edges) == ([1, 3, 4], [])


async def test_k10_removing_an_edge_removes_it_for_both_ends(graph: GraphStore) -> None:
    await insert_chain(graph)
    await graph.delete([], [build_edge(10, 2, 1)])
    assert await graph.neighbors([1], [1], 5) == []
    assert edge_pairs(await graph.neighbors([2], [1], 5)) == [(11, 2, 3)]


async def test_k10_a_load_of_nothing_empties_the_graph(graph: GraphStore) -> None:
    await insert_chain(graph)
    await graph.replace_all([], [])
    assert await graph.list_all() == ([], [])


async def test_a_load_replaces_everything_and_the_graph_goes_on(graph: GraphStore) -> None:
    await insert_chain(graph)
    await graph.replace_all((build_node(number) for number in (1, 7, 8)), (one for one in [build_edge(5, 8, 7, 2.0)]))
    await graph.upsert([build_node(9, known=False)], [build_edge(6, 1, 9, known=False)])
    nodes, edges = await graph.list_all()
    assert ([one.id for one in nodes], edge_pairs(edges)) == ([1, 7, 8, 9], [(5, 7, 8), (6, 1, 9)])


async def test_nodes_and_edges_keep_what_they_are_set_to(graph: GraphStore) -> None:
    await insert_chain(graph)
    await graph.upsert([GraphNode(1, 3, exists_in_graph=True)], [build_edge(10, 1, 2, 4.0, known=True)])
    nodes, edges = await graph.list_all()
    assert nodes[0] == GraphNode(1, 3, exists_in_graph=True)
    assert edges[0] == build_edge(10, 1, 2, 4.0, known=True)


async def test_only_edges_within_the_spaces_are_returned(graph: GraphStore) -> None:
    await graph.upsert(
        [build_node(1, 1), build_node(2, 1), build_node(3, 2), build_node(4, 2)],
        [build_edge(10, 1, 2), build_edge(11, 3, 4)],
    )
    assert edge_pairs(await graph.neighbors([1, 3], [2], 5)) == [(11, 3, 4)]
    assert edge_pairs(await graph.neighbors([1, 3], [1, 2], 5)) == [(10, 1, 2), (11, 3, 4)]


async def test_of_a_hub_the_heaviest_edges_come_and_ties_by_id(graph: GraphStore) -> None:
    leaves = range(1, 401)
    await graph.replace_all(
        [build_node(0), *(build_node(number) for number in leaves)],
        [build_edge(9000 - number, 0, number, float(number % 7 == 0) + 1.0) for number in leaves],
    )
    heavy = sorted(9000 - number for number in leaves if number % 7 == 0)
    light = sorted(9000 - number for number in leaves if number % 7)
    assert [one.id for one in await graph.neighbors([0], [1], 5)] == heavy[:5]
    assert [one.id for one in await graph.neighbors([0], [1], 300)] == [*heavy, *light][:300]
    assert [one.id for one in await graph.neighbors([0, 7, 14], [1], 9000)] == [*heavy, *light]


async def test_a_repeated_call_that_says_new_makes_no_second_edge(graph: GraphStore) -> None:
    for _ in range(2):
        await graph.upsert([build_node(1, known=False), build_node(2, known=False)], [build_edge(3, 1, 2, known=False)])
    nodes, edges = await graph.list_all()
    assert ([one.id for one in nodes], edge_pairs(edges)) == ([1, 2], [(3, 1, 2)])


async def test_a_repeated_call_after_a_restart_makes_no_second_edge(tmp_path: Path) -> None:
    for _ in range(2):
        graph = await open_graph(tmp_path)
        await graph.upsert([build_node(1, known=False), build_node(2, known=False)], [build_edge(3, 1, 2, known=False)])
        nodes, edges = await graph.list_all()
        await graph.close()
    assert ([one.id for one in nodes], edge_pairs(edges)) == ([1, 2], [(3, 1, 2)])


async def test_missing_row_wrongly_flagged_as_existing_is_created(graph: GraphStore) -> None:
    await graph.upsert([build_node(1, known=True), build_node(2, known=True)], [build_edge(3, 1, 2, known=True)])
    assert edge_pairs((await graph.list_all())[1]) == [(3, 1, 2)]


async def test_integers_of_every_width_stay_what_they_are(graph: GraphStore) -> None:
    ids = [0, 127, 128, 255, 256, 32_767, 32_768, 65_536, 2**31, 2**32, 2**62]
    await graph.upsert([build_node(number) for number in ids], [])
    for number in reversed(ids[1:]):
        await graph.upsert([], [build_edge(number, 0, number, float(number))])
    nodes, edges = await graph.list_all()
    assert [one.id for one in nodes] == ids
    assert edge_pairs(edges) == [(number, 0, number) for number in ids[1:]]
    assert edge_pairs(await graph.neighbors([2**31, 128], [1], 5)) == [(2**31, 0, 2**31), (128, 0, 128)]


@pytest.mark.long
@pytest.mark.usefixtures("small_statements")
async def test_reads_go_on_while_few_and_many_rows_are_written(graph: GraphStore) -> None:
    await graph.upsert(*build_star(60, 1.0, known=False))

    async def write() -> None:
        for number in range(1000, 1010):
            await graph.upsert([build_node(number)], [build_edge(number, 0, number, 1.0)])
        for source in (1, 2, 3):
            new = [build_edge(source * 10_000 + number, source, number, known=False) for number in range(4, 34)]
            await graph.upsert([], new)
            await graph.compact()

    async def read() -> None:
        for _ in range(6):
            assert edge_pairs(await graph.neighbors([0], [1], 1)) == [(1, 0, 1)]
            assert len(await graph.neighbors(range(40), [1], 3000)) >= 60
            await asyncio.sleep(0)  # a read in memory does not wait

    await asyncio.gather(write(), read(), read())
    assert len((await graph.list_all())[1]) == 70 + 90


@pytest.mark.share(4)
async def test_reads_wait_while_the_graph_is_reloaded(graph: GraphStore) -> None:
    nodes, edges = [build_node(1), build_node(2)], [build_edge(10, 1, 2)]
    await graph.replace_all(nodes, edges)
    loaded = asyncio.Event()

    async def load() -> None:
        for _ in range(4):
            await graph.replace_all(nodes, edges)
        loaded.set()

    async def read() -> None:
        while not loaded.is_set():
            assert edge_pairs(await graph.neighbors([1], [1], 5)) == [(10, 1, 2)]
            await asyncio.sleep(0)

    await asyncio.gather(load(), *(read() for _ in range(4)))


@pytest.mark.share(3)
@pytest.mark.usefixtures("small_statements")
@pytest.mark.parametrize("known", [False, None, True], ids=["new", "unknown", "known"])
async def test_many_rows_at_once_are_made_set_dropped_and_made_again(graph: GraphStore, *, known: bool | None) -> None:
    model = MemoryGraph()
    for each in (graph, model):
        await each.upsert(*build_star(30, 1.0, known=known))
        await each.upsert(*build_star(70, 2.0, known=None))
        await each.delete(range(60, 71), build_star(45, 2.0, known=True)[1])
        await each.upsert(*build_star(65, 3.0, known=True))
        await each.upsert([], build_star(40, 4.0, known=True)[1])
        await each.compact()
    assert await graph.list_all() == await model.list_all()
    assert await graph.neighbors([0], [1], 50) == await model.neighbors([0], [1], 50)


@pytest.mark.usefixtures("small_statements")
async def test_many_edges_of_which_one_has_no_end_are_refused_and_the_others_stay(graph: GraphStore) -> None:
    await graph.upsert(*build_star(40, 1.0, known=False))
    _, before = await graph.list_all()
    with pytest.raises(StoreError):
        await graph.upsert([], [build_edge(100 + number, 1, number, known=False) for number in range(2, 42)])
    assert (await graph.list_all())[1] == before


async def test_database_reopened_after_many_writes_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kuzu, "REOPEN_AFTER_ROWS", 1_250)
    leaves = 250
    graph = await open_graph(tmp_path / "graph")
    await graph.upsert(*build_star(leaves, 1.0, known=False))
    for turn in range(6):
        await graph.upsert([], build_star(leaves, float(turn + 2), known=True)[1])
    assert graph._rows_written < kuzu.REOPEN_AFTER_ROWS
    assert await graph.neighbors([0], [1], 3) == [
        build_edge(number, 0, number, 7.0, known=True) for number in (1, 2, 3)
    ]
    assert len((await graph.list_all())[1]) == leaves
    await graph.close()


async def test_failed_reopen_is_retried_by_the_next_upsert(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    graph = await open_graph(tmp_path / "graph")
    await insert_chain(graph)
    monkeypatch.setattr(kuzu, "REOPEN_AFTER_ROWS", 1)
    with monkeypatch.context() as patch:
        patch.setattr(kuzu, "open_database", full)
        with pytest.raises(DiskError):
            await graph.upsert([], [build_edge(10, 1, 2, 5.0)])
        with pytest.raises(StoreError):
            await graph.neighbors([1], [1], 5)
    await graph.upsert([], [build_edge(10, 1, 2, 5.0)])
    assert await graph.neighbors([1], [1], 5) == [build_edge(10, 1, 2, 5.0, known=True)]
    assert len((await graph.list_all())[1]) == 2
    await graph.close()


@pytest.mark.long
async def test_reads_continue_while_the_database_reopens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, over = await open_graph(tmp_path / "graph", cached_edges=0), asyncio.Event()
    await insert_chain(graph)
    monkeypatch.setattr(kuzu, "REOPEN_AFTER_ROWS", 1)

    async def read() -> None:
        while not over.is_set():
            assert edge_pairs(await graph.neighbors([1], [1], 5)) == [(10, 1, 2)]

    readers = [asyncio.create_task(read()) for _ in range(4)]
    for weight in range(1, 8):
        await graph.upsert([], [build_edge(10, 1, 2, float(weight))])
    over.set()
    await asyncio.gather(*readers)
    await graph.close()


async def test_graph_closed_while_reopening_releases_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, begun, go_on = await open_graph(tmp_path / "graph"), threading.Event(), threading.Event()
    await insert_chain(graph)
    real = kuzu_connection.open_database

    def slow(*given: Any) -> Any:
        begun.set()
        go_on.wait()
        return real(*given)

    monkeypatch.setattr(kuzu, "REOPEN_AFTER_ROWS", 1)
    monkeypatch.setattr(kuzu, "open_database", slow)
    putting = asyncio.create_task(graph.upsert([], [build_edge(10, 1, 2, 5.0)]))
    await asyncio.to_thread(begun.wait)
    closing = asyncio.create_task(graph.close())
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(putting, closing)
    monkeypatch.undo()
    again = await open_graph(tmp_path / "graph")
    assert await again.neighbors([1], [1], 5) == [build_edge(10, 1, 2, 5.0, known=True)]
    await again.close()


async def test_missing_database_is_not_treated_as_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = await open_graph(tmp_path / "graph")
    await insert_chain(graph)
    await graph.compact()
    (tmp_path / "graph" / f"graph.{MODULE}").unlink()
    monkeypatch.setattr(kuzu, "REOPEN_AFTER_ROWS", 1)
    with pytest.raises(CorruptProjection, match="gone"):
        await graph.upsert([build_node(9)], [])
    await graph.close()


async def test_file_with_other_columns_is_refused(tmp_path: Path) -> None:
    database = kuzu_connection.open_database(MODULE, tmp_path / f"graph.{MODULE}", BUFFER_POOL_BYTES)
    session = KuzuConnection(MODULE, database)
    session.run(kuzu_connection.SCHEMA[0])
    session.run("CREATE REL TABLE RELATES(FROM Entity TO Entity, id INT64, weight DOUBLE)")
    session.close()
    database.close()
    with pytest.raises(CorruptProjection, match="source"):
        await open_graph(tmp_path)


async def test_cancelled_write_is_found_once_it_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, begun, go_on = await open_graph(tmp_path), threading.Event(), threading.Event()
    await insert_chain(graph)
    upsert = KuzuWriter.upsert

    def slow(*given: Any) -> Any:
        begun.set()
        go_on.wait()
        return upsert(*given)

    monkeypatch.setattr(KuzuWriter, "upsert", slow)
    writing = asyncio.create_task(graph.upsert([], [build_edge(10, 1, 2, 5.0)]))
    await asyncio.to_thread(begun.wait)
    writing.cancel()
    assert (await graph.neighbors([1], [1], 5))[0].weight == 1.0
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert (await graph.neighbors([1], [1], 5))[0].weight == 5.0
    await graph.close()


Step = tuple[str, list[GraphNode], list[GraphEdge]]
IDS = st.integers(0, 6)
NODES = st.lists(st.builds(GraphNode, IDS, st.just(1)), max_size=4)
EDGES = st.lists(
    st.tuples(IDS, IDS, st.integers(1, 3)).filter(lambda ends: ends[0] != ends[1]).map(lambda e: build_pair_edge(*e)),
    max_size=4,
)
STEPS = st.lists(st.tuples(st.sampled_from(["put", "drop", "reopen", "compact", "load"]), NODES, EDGES), max_size=8)


def build_pair_edge(one: int, other: int, weight: int) -> GraphEdge:
    """A pair always has the same id, as in the ledger."""
    return GraphEdge(100 + 10 * min(one, other) + max(one, other), one, other, float(weight))


async def apply_step(graph: GraphStore, step: Step) -> bool:
    """Whether it was accepted."""
    kind, nodes, edges = step
    try:
        if kind == "put":
            await graph.upsert(nodes, edges)
        elif kind == "drop":
            await graph.delete([one.id for one in nodes], edges)
        elif kind == "load":
            ids = {one.id: one for one in nodes}
            inside = [one for one in edges if one.source in ids and one.target in ids]
            await graph.replace_all(ids.values(), {(one.id): one for one in inside}.values())
    except StoreError:
        return False
    return True


@pytest.mark.long
@pytest.mark.parametrize(
    ("renew_after", "cached_edges"), [(REOPEN_AFTER_ROWS, CACHED_EDGES), (3, CACHED_EDGES), (3, 0), (3, 4)]
)
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
def test_any_sequence_of_calls_and_restarts_equals_a_dict(
    renew_after: int, cached_edges: int, steps: list[Step]
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(kuzu, "REOPEN_AFTER_ROWS", renew_after)
        asyncio.run(compare_with_dict(lambda: open_graph(Path(folder) / "graph", cached_edges), steps))


async def compare_with_dict(open_store: Callable[[], Awaitable[GraphStore]], steps: list[Step]) -> None:
    model, graph = MemoryGraph(), await open_store()
    for step in steps:
        if step[0] == "reopen":
            await graph.close()
            graph = await open_store()
        if step[0] == "compact":
            await graph.compact()
        assert await apply_step(graph, step) == await apply_step(model, step)
        assert await graph.list_all() == await model.list_all()
        assert await graph.neighbors([0, 1, 2], [1], 3) == await model.neighbors([0, 1, 2], [1], 3)
    await graph.close()


async def test_a_closed_graph_says_so(tmp_path: Path) -> None:
    graph = await open_graph(tmp_path)
    await graph.close()
    await graph.close()
    with pytest.raises(StoreError, match="closed"):
        await graph.neighbors([1], [1], 1)
    with pytest.raises(StoreError, match="closed"):
        await graph.upsert([build_node(1)], [])


def start_child(program: str, path: Path) -> subprocess.Popen[str]:
    """Another process that opens the graph; `program` is the body of an async function."""
    body = "\n    ".join(program.strip().splitlines())
    source = f"""
import asyncio, sys
from pathlib import Path
from engine.storage.graph import kuzu as kuzu_graph
from engine.errors import EngineError
from engine.storage.graph.base import GraphEdge, GraphNode
from engine.storage.graph.kuzu import KuzuGraph
async def main():
    {body}
asyncio.run(main())
"""
    arguments = [sys.executable, "-c", source, str(path), MODULE]
    return subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, text=True)


async def test_second_process_gets_folder_in_use(tmp_path: Path) -> None:
    graph = await open_graph(tmp_path)
    other = start_child(
        """
try:
    await KuzuGraph.open(Path(sys.argv[1]), sys.argv[2], 64 << 20)
except EngineError as error:
    print(type(error).__name__, error.hint)
""",
        tmp_path,
    )
    told, _ = await asyncio.to_thread(other.communicate)
    await graph.close()
    assert told.startswith(DataDirInUse.__name__)
    assert DataDirInUse.hint in told


@pytest.mark.long
async def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    other = start_child(
        """
kuzu_graph.REOPEN_AFTER_ROWS = 5
graph = await KuzuGraph.open(Path(sys.argv[1]), sys.argv[2], 64 << 20)
for number in range(10**6):
    ends = [GraphNode(2 * number, 1), GraphNode(2 * number + 1, 1)]
    await graph.upsert(ends, [GraphEdge(number, 2 * number, 2 * number + 1, 1.0)])
    print(number, flush=True)
""",
        tmp_path,
    )
    assert other.stdout is not None
    for _ in range(20):
        acknowledged = int(await asyncio.to_thread(other.stdout.readline))
    other.kill()
    rest = await asyncio.to_thread(other.communicate)
    complete = [int(line) for line in rest[0].splitlines(keepends=True) if line.endswith("\n")]
    graph = await open_graph(tmp_path)
    nodes, edges = await graph.list_all()
    await graph.close()
    assert len(edges) > max([acknowledged, *complete])
    assert len(nodes) == 2 * len(edges)


@pytest.mark.long
async def test_many_rows_flagged_as_existing_survive_a_kill(tmp_path: Path) -> None:
    other = start_child(
        """
import os
graph = await KuzuGraph.open(Path(sys.argv[1]), sys.argv[2], 64 << 20)
for weight in (1.0, 2.0):
    for first in (0, 1000):
        ends = [GraphNode(first + number, 1, exists_in_graph=False) for number in range(300)]
        await graph.upsert(ends, [GraphEdge(first + number, first, first + number, weight) for number in range(1, 300)])
await graph.delete(range(1200, 1300), [GraphEdge(number, 0, number, 2.0) for number in range(1, 250)])
os._exit(1)
""",
        tmp_path,
    )
    await asyncio.to_thread(other.communicate)
    graph = await open_graph(tmp_path)
    nodes, edges = await graph.list_all()
    await graph.close()
    assert len(nodes) == 500
    assert [(one.id, one.weight) for one in edges] == [
        (number, 2.0) for number in [*range(250, 300), *range(1001, 1200)]
    ]


async def killed(path: Path) -> Path:
    """The log of a graph whose process died before it could fold it into the graph's file."""
    other = start_child(
        """
import os
graph = await KuzuGraph.open(Path(sys.argv[1]), sys.argv[2], 64 << 20)
for number in range(50):
    await graph.upsert([GraphNode(number, 1)], [])
os._exit(1)
""",
        path,
    )
    await asyncio.to_thread(other.communicate)
    return path / f"graph.{MODULE}.wal"


@pytest.mark.long
async def test_a_last_record_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    log = await killed(tmp_path)
    os.truncate(log, log.stat().st_size - 3)
    graph = await open_graph(tmp_path)
    nodes, _ = await graph.list_all()
    await graph.close()
    assert [one.id for one in nodes] == list(range(49))


@pytest.mark.parametrize("content", [b"no graph at all" * 1000, b"KUZU" + bytes(8000)], ids=["foreign", "torn"])
async def test_broken_files_raise_an_error_with_a_fix(tmp_path: Path, content: bytes) -> None:
    tmp_path.joinpath(f"graph.{MODULE}").write_bytes(content)
    with pytest.raises(CorruptProjection, match="cannot be read") as caught:
        await open_graph(tmp_path)
    assert "threadlore reindex" in caught.value.hint
    await KuzuGraph.erase(tmp_path)
    graph = await open_graph(tmp_path)
    assert await graph.list_all() == ([], [])
    await graph.close()


async def test_graph_of_the_other_library_is_not_treated_as_empty(tmp_path: Path) -> None:
    other = "kuzu" if MODULE == "ladybug" else "ladybug"
    tmp_path.joinpath(f"graph.{other}").write_bytes(b"theirs")
    with pytest.raises(CorruptProjection, match=other):
        await open_graph(tmp_path)


async def test_the_other_library_cannot_be_loaded_beside_it(tmp_path: Path) -> None:
    graph = await open_graph(tmp_path / "one")
    other: Literal["kuzu", "ladybug"] = "kuzu" if MODULE == "ladybug" else "ladybug"
    with pytest.raises(StoreError, match="process"):
        await KuzuGraph.open(tmp_path / "other", other, BUFFER_POOL_BYTES)
    await graph.close()


@pytest.mark.skipif(
    MODULE == "ladybug" or not importlib.util.find_spec("ladybug"), reason="needs ladybug, and kuzu first"
)
@pytest.mark.long
def test_all_of_this_holds_for_ladybug_in_a_process_of_its_own() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__],
        cwd=ROOT,
        env={**os.environ, "GRAPH_UNDER_TEST": "ladybug"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3000:]
