from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from engine.errors import ModelUnavailable
from engine.models import Scope
from engine.storage.ledger.content.facts import Facts
from engine.storage.ledger.queries.stats import Stats
from engine.storage.ledger.records import IndexStatus
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction
from tests.support.engine_fixture import HERE, doc

IDS = {"id", "generation", "name_id", "since", "embedded", "graphed", "text_hash"}
KINDS = ["document", "passage", "chunk", "mention", "link", "entity", "relation"]


async def test_the_canonical_export_depends_on_the_content_alone(ledger: LedgerFixture) -> None:
    exports = []
    for order in ("ab", "ba"):
        for key in order:
            await ledger.add_facts(key, extraction("Ada", "Bob") if key == "a" else extraction("Bob", "Ada"))
        await ledger.project()
        exports.append(await ledger.export())
        for key in order:
            await ledger.forget(key)
    rows = exports[0]
    assert exports[1] == rows
    assert list(dict.fromkeys(row["kind"] for row in rows)) == KINDS
    assert not IDS & {key for row in rows for key in row}
    for kind in KINDS:
        lines = [json.dumps(row, ensure_ascii=False, sort_keys=True) for row in rows if row["kind"] == kind]
        assert lines == sorted(lines)


async def test_the_canonical_export_of_a_space_holds_nothing_of_another(ledger: LedgerFixture) -> None:
    for key, space in (("a", "here"), ("b", "there")):
        await ledger.add_facts(key, extraction("Ada", "Bob"), space=space)
    await ledger.project()
    assert {row["space"] for row in await ledger.export("here")} == {"here"}
    assert len(await ledger.export()) == 2 * len(await ledger.export("there"))


async def status(ledger: LedgerFixture, spaces: Iterable[str] = ("here",), rooms: Iterable[str] = ()) -> IndexStatus:
    return await ledger.ledger.stats.load_index_status(Scope(frozenset(spaces), frozenset(rooms)))


async def test_a_status_counts_what_is_in_the_scope_and_nothing_else(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada", "Bob"))
    await ledger.add(doc("b", "one", "two"))
    await ledger.add(doc("c", "three", space="there", room="attic"))
    await ledger.add_facts("d", extraction("Ada", "Zoe", "Yan"), space="there")
    here = await status(ledger)
    assert (here.documents, here.passages, here.chunks) == ({"pending": 2}, 3, 3)
    assert (here.entities, here.relations, here.unextracted, here.stale) == (0, 0, 2, 3 + 2 + 1)
    await ledger.project()
    here, attic = await status(ledger), await status(ledger, (), {"attic"})
    assert (here.entities, here.relations, here.stale) == (2, 1, 3)
    assert (attic.chunks, attic.entities, attic.relations, attic.unextracted, attic.stale) == (1, 0, 0, 1, 1)
    assert await status(ledger, ()) == IndexStatus({}, 0, 0, 0, 0, 0, 0, 0)


async def test_a_status_says_why_a_chunk_of_the_scope_waits(ledger: LedgerFixture) -> None:
    await ledger.add(doc("a", "one"))
    [chunk] = await ledger.column("SELECT id FROM chunk")
    error = ModelUnavailable("The model is away.")
    for retry_at, trouble in ((1e10, "The model is away."), (float("inf"), "")):
        await ledger.write(Facts.record_extraction_failure, chunk, error, retry_at)
        assert [(await status(ledger, {space})).trouble for space in ("here", "there")] == [trouble, ""]


async def test_documents_are_listed_by_title_within_the_scope(ledger: LedgerFixture) -> None:
    for key, texts, space, room in (("b", 2, "here", "hall"), ("a", 1, "here", "hall"), ("c", 1, "there", "attic")):
        await ledger.add(doc(key, *map(str, range(texts)), space=space, room=room))
    listed = await ledger.ledger.stats.list_documents(HERE)
    rows = [(document.title, document.room, document.chunks, document.passages) for document in listed]
    assert rows == [("A", "hall", 1, 1), ("B", "hall", 2, 2)]
    assert await ledger.ledger.stats.list_documents(HERE, "indexed") == []


async def test_kinds_are_those_of_documents_within_the_scope(ledger: LedgerFixture) -> None:
    for key, space in (("a", "here"), ("c", "there")):
        await ledger.add(doc(key, key, space=space))
    await ledger.add(replace(doc("b", "b"), kind="conversation"))
    kinds = ledger.ledger.stats.list_kinds
    assert await kinds({"a", "b", "c", "none"}, HERE) == {"a": "file", "b": "conversation"}
    assert await kinds(set(), HERE) == {}


async def test_nodes_and_edges_are_what_the_graph_should_hold(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada", "Bob", "Carla"), extraction("Ada", "Bob"))
    await ledger.project()
    nodes, edges = await ledger.read(Stats.list_nodes), await ledger.read(Stats.list_edges)
    names = dict(await ledger.rows("SELECT id, canonical FROM name"))
    assert {names[node.id] for node in nodes} == {"ada", "bob", "carla"}
    assert {node.space for node in nodes} == set(await ledger.column("SELECT space FROM entity"))
    weights = {frozenset((names[edge.source], names[edge.target])): edge.weight for edge in edges}
    assert weights == {frozenset(("ada", "bob")): 2, frozenset(("bob", "carla")): 1}


async def test_documents_are_counted_by_room_within_the_scope_and_of_a_kind(ledger: LedgerFixture) -> None:
    for key, space, room in (("a", "here", "hall"), ("c", "here", "attic"), ("d", "there", "attic")):
        await ledger.add(doc(key, key, space=space, room=room))
    for key, space, room in (("b", "here", "hall"), ("e", "there", "vault")):
        await ledger.add(replace(doc(key, key, space=space, room=room), kind="conversation"))
    count = ledger.ledger.stats.count_by_room
    assert await count(Scope.of("here")) == {"hall": 2, "attic": 1}
    assert await count(Scope.of("here"), "conversation") == {"hall": 1}
    assert await count(Scope(frozenset({"here"}), frozenset({"attic"}))) == {"hall": 2, "attic": 2}
    assert await count(Scope(frozenset(), frozenset())) == {}
