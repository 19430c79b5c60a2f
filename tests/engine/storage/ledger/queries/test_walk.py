from __future__ import annotations

from engine.storage.ledger.names.corrections import Corrections
from engine.storage.ledger.queries.walk import Walks
from engine.storage.ledger.records.query_results import ChunkFilter
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction, only_sqlite
from tests.support.engine_fixture import doc


async def test_named_entities_are_found_by_name_and_alias_within_the_spaces(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada Lovelace", "Bob"))
    await ledger.add_facts("b", extraction("Ada Lovelace"), space="there")
    await ledger.write(Corrections.merge_names, "here", "Enchantress", "Ada Lovelace")
    await ledger.project()
    found = await ledger.read(Walks.find_named_entities, {"enchantress", "bob", "zoe"}, await ledger.scope_ids())
    assert {(entity.alias, entity.canonical) for entity in found} == {("enchantress", "ada lovelace"), ("bob", "bob")}
    nowhere = await ledger.scope_ids((), {"room of here"})
    assert await ledger.read(Walks.find_named_entities, {"bob"}, nowhere) == []


async def test_files_are_found_by_title_within_the_scope(ledger: LedgerFixture) -> None:
    await ledger.add(doc("harbor", "one", "two", "three"))
    await ledger.add(doc("harbor ", "elsewhere", space="there"))
    ids = await ledger.column("SELECT id FROM chunk WHERE text <> 'elsewhere' ORDER BY ordinal")
    here = await ledger.scope_ids()
    assert await ledger.read(Walks.find_titled_chunks, {"harbor", "sea"}, here, 9, None) == {"harbor": ids}
    assert await ledger.read(Walks.find_titled_chunks, {"harbor"}, here, 2, None) == {"harbor": ids[:2]}
    only = ChunkFilter(frozenset(ids[1:]))
    assert await ledger.read(Walks.find_titled_chunks, {"harbor"}, here, 9, only) == {"harbor": ids[1:]}
    assert await ledger.read(Walks.find_titled_chunks, {"harbor"}, await ledger.scope_ids(()), 9, None) == {}


async def test_edges_connect_names_with_names_and_chunks(ledger: LedgerFixture) -> None:
    [one] = await ledger.add_facts("a", extraction("Ada", "Bob"))
    [two] = await ledger.add_facts("b", extraction("Bob"))
    await ledger.project()
    here = await ledger.scope_ids()
    loaded = await ledger.read(Walks.load_walk_edges, {"bob"}, [one], here, 9, None)
    assert set(loaded.edges) == {("bob", one), ("bob", two), ("ada", one), ("ada", "bob")}
    assert loaded.degrees == {"ada": 2, "bob": 3}
    assert not (await ledger.read(Walks.load_walk_edges, {"bob"}, [], here, 2, None)).edges  # a hub
    assert not (await ledger.read(Walks.load_walk_edges, {"bob"}, [one], await ledger.scope_ids(()), 9, None)).edges
    only = ChunkFilter(frozenset({two}))
    assert set((await ledger.read(Walks.load_walk_edges, {"bob"}, [], here, 9, only)).edges) == {("bob", two)}


@only_sqlite
async def test_titles_are_looked_up_in_an_index(ledger: LedgerFixture) -> None:
    plan = await ledger.explain(Walks.find_titled_chunks, {"harbor"}, await ledger.scope_ids(), 9, None)
    assert any("INDEX document_title" in step for step in plan)


async def test_filters_hide_the_names_of_other_chunks(ledger: LedgerFixture) -> None:
    [one] = await ledger.add_facts("a", extraction("Ada", "Bob"))
    [two] = await ledger.add_facts("b", extraction("Bob"))
    await ledger.project()
    only = ChunkFilter(frozenset({two}))
    loaded = await ledger.read(Walks.load_walk_edges, (), [one, two], await ledger.scope_ids(), 9, only)
    assert set(loaded.edges) == {("bob", two)}


async def test_counts_of_several_spaces_are_added(ledger: LedgerFixture) -> None:
    chunks = await ledger.add_facts("a", extraction("Ada", "Bob"))
    for number in range(3):
        chunks += await ledger.add_facts(f"b{number}", extraction("Ada", "Bob"), space="there")
    await ledger.project()
    both = await ledger.scope_ids({"here", "there"})
    found = await ledger.read(Walks.find_named_entities, {"ada"}, both)
    assert {(entity.mentions, entity.degree) for entity in found} == {(4, 2)}
    loaded = await ledger.read(Walks.load_walk_edges, {"ada"}, chunks, both, 9, None)
    assert loaded.degrees == {"ada": 6, "bob": 6}
    assert loaded.edges["ada", "bob"] == 4
    assert not (await ledger.read(Walks.load_walk_edges, {"ada"}, (), both, 5, None)).edges
