from __future__ import annotations

import json
from typing import TYPE_CHECKING

from engine.errors import ModelUnavailable
from engine.storage.ledger.content import documents
from engine.storage.ledger.queries import stats
from engine.storage.ledger.records import IndexStatus
from engine.storage.ledger.work import work_queue
from tests.engine.storage.ledger.ledger_fixture import reading
from tests.support.engine_fixture import doc

if TYPE_CHECKING:
    from tests.engine.storage.ledger.ledger_fixture import Desk

IDS = {"id", "generation", "name_id", "first_generation", "embedding_hash", "in_graph", "text_hash"}


async def test_the_canonical_export_is_sorted_and_free_of_ids_and_generations(desk: Desk) -> None:
    await desk.tell("b", reading("Ada", "Bob"))
    await desk.tell("a", reading("Ada", "Carla"))
    await desk.project()
    rows = await desk.canonical()
    kinds = [row["kind"] for row in rows]
    assert list(dict.fromkeys(kinds)) == ["document", "passage", "chunk", "mention", "link", "entity", "relation"]
    assert not IDS & {key for row in rows for key in row}
    for kind in set(kinds):
        lines = [json.dumps(row, ensure_ascii=False, sort_keys=True) for row in rows if row["kind"] == kind]
        assert lines == sorted(lines)


async def test_the_canonical_export_does_not_tell_in_which_order_things_came(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    await desk.tell("b", reading("Bob", "Ada"))
    await desk.project()
    first = await desk.canonical()
    for key in ("a", "b"):
        await desk.ledger.write(documents.delete_document, key)
    await desk.tell("b", reading("Bob", "Ada"))
    await desk.tell("a", reading("Ada", "Bob"))
    await desk.project()
    assert await desk.canonical() == first


async def test_the_canonical_export_of_a_space_holds_nothing_of_another(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    await desk.tell("b", reading("Ada", "Bob"), space="there")
    await desk.project()
    assert {row["space"] for row in await desk.canonical("here")} == {"here"}
    assert len(await desk.canonical()) == 2 * len(await desk.canonical("there"))


async def test_a_status_counts_what_lies_in_the_area_and_nothing_else(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    await desk.put(doc("b", "one", "two"))
    await desk.put(doc("c", "three", space="there", room="attic"))
    await desk.tell("d", reading("Ada", "Zoe", "Yan"), space="there")
    here = await desk.ledger.read(stats.load_index_status, await desk.area())
    assert (here.documents, here.passages, here.chunks) == ({"pending": 2}, 3, 3)
    assert (here.entities, here.relations, here.unextracted) == (0, 0, 2)
    assert here.stale == 3 + 2 + 1
    await desk.project()
    here = await desk.ledger.read(stats.load_index_status, await desk.area())
    assert (here.entities, here.relations, here.stale) == (2, 1, 3)
    attic = await desk.ledger.read(stats.load_index_status, await desk.area((), {"attic"}))
    assert (attic.chunks, attic.entities, attic.relations, attic.unextracted, attic.stale) == (1, 0, 0, 1, 1)
    nothing = await desk.ledger.read(stats.load_index_status, await desk.area(()))
    assert nothing == IndexStatus({}, 0, 0, 0, 0, 0, 0, 0)


async def test_a_status_says_why_a_chunk_of_the_area_waits(desk: Desk) -> None:
    await desk.put(doc("a", "one"))
    [chunk] = await desk.column("SELECT id FROM chunk")
    for retry_at, told in ((1e10, "The model is away."), (float("inf"), "")):
        await desk.ledger.write(
            work_queue.record_extraction_failure, chunk, ModelUnavailable("The model is away."), retry_at
        )
        assert (await desk.ledger.read(stats.load_index_status, await desk.area())).trouble == told
        assert (await desk.ledger.read(stats.load_index_status, await desk.area({"there"}))).trouble == ""


async def test_documents_are_listed_by_title_within_the_area(desk: Desk) -> None:
    await desk.put(doc("b", "one", "two"))
    await desk.put(doc("a", "three"))
    await desk.put(doc("c", "four", space="there", room="attic"))
    listed = await desk.ledger.read(stats.list_documents, await desk.area())
    assert [(each.title, each.room, each.chunks, each.passages) for each in listed] == [
        ("A", "hall", 1, 1),
        ("B", "hall", 2, 2),
    ]
    assert await desk.ledger.read(stats.list_documents, await desk.area(), "indexed") == []


async def test_nodes_and_edges_are_what_the_graph_should_hold(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob", "Carla"), reading("Ada", "Bob"))
    await desk.project()
    nodes, edges = await desk.ledger.read(stats.list_nodes), await desk.ledger.read(stats.list_edges)
    names = dict(await desk.pairs("SELECT id, canonical FROM name"))
    assert {names[node.id] for node in nodes} == {"ada", "bob", "carla"}
    assert {node.space for node in nodes} == set(await desk.column("SELECT space FROM entity"))
    assert {(names[edge.source], names[edge.target], edge.weight) for edge in edges} <= {
        (a, b, weight) for x, y, weight in (("ada", "bob", 2), ("bob", "carla", 1)) for a, b in ((x, y), (y, x))
    }
