from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from engine.storage.ledger import cache, profiles
from engine.storage.ledger.content import documents
from engine.storage.ledger.records.projection import KeyKind, Profile
from engine.storage.ledger.records.query_results import ChunkFilter
from tests.engine.storage.ledger.ledger_fixture import reading

if TYPE_CHECKING:
    from engine.knowledge.merge import FactCounts
    from tests.engine.storage.ledger.ledger_fixture import Desk


@pytest.mark.parametrize("kind", [KeyKind.NAME, KeyKind.PAIR])
async def test_a_hot_key_is_counted_in_sql_as_it_is_counted_row_by_row(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, kind: Literal[KeyKind.NAME, KeyKind.PAIR]
) -> None:
    for n in range(6):
        await desk.tell(f"d{n}", reading("Ada" if n % 2 else "ADA", "Bob", said=f"met {n % 4}"))

    async def tallies() -> dict[int, FactCounts | None]:
        read = profiles.load_names if kind == KeyKind.NAME else profiles.load_pairs
        table = "name" if kind == KeyKind.NAME else "pair"
        ids = await desk.column(f"SELECT id FROM {table}")
        return {key.id: key.counts for key in await desk.ledger.read(read, ids, 100)}

    whole = await tallies()
    monkeypatch.setattr(profiles, "HOT_KEY_ROWS", 1)
    assert await tallies() == whole
    assert any(whole.values())


async def test_of_a_hot_key_only_the_newest_fragments_are_read(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiles, "HOT_KEY_ROWS", 1)
    for n in range(4):
        await desk.tell(f"d{n}", reading("Ada", said=f"met {n}"))
    [ada] = await desk.ledger.read(profiles.load_names, await desk.column("SELECT id FROM name"), 2)
    assert ada.counts is not None
    assert (ada.counts.chunks, len(ada.counts.fragments)) == (4, 2)


async def test_a_relation_is_not_written_without_the_profiles_of_its_ends(desk: Desk) -> None:
    """Its names may have been forgotten between reading the facts and writing the profile."""
    await desk.tell("a", reading("Ada", "Bob"))
    [(pair, a, b)] = await desk.rows("SELECT id, a, b FROM pair")
    await desk.ledger.write(documents.delete_document, "a")
    await desk.ledger.write(profiles.upsert_entities, [Profile(id_, 1, "x", "", 1) for id_ in (a, b)])
    await desk.ledger.write(profiles.upsert_relations, [Profile(pair, 1, "near", "met", 1, "", (a, b))])
    assert await desk.rows("SELECT id FROM entity UNION ALL SELECT id FROM relation") == []


async def test_the_degree_of_an_entity_is_kept_as_relations_come_and_go(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    await desk.tell("b", reading("Ada", "Carla"))
    await desk.project()
    degrees = "SELECT n.canonical, e.degree FROM entity e JOIN name n ON n.id = e.id ORDER BY 1"
    assert await desk.rows(degrees) == [("ada", 2), ("bob", 1), ("carla", 1)]
    await desk.ledger.write(documents.delete_document, "b")
    await desk.project()
    assert await desk.rows(degrees) == [("ada", 1), ("bob", 1)]


async def test_a_summary_goes_with_the_last_profile_that_rests_on_it(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    ids = await desk.column("SELECT id FROM name ORDER BY canonical")
    for key in (b"shared", b"own"):
        await desk.ledger.write(cache.save_summaries, {key: key.decode()})
    rows = [
        Profile(ids[0], 1, "Ada", "", 1, summary_keys=frozenset({b"shared", b"own"})),
        Profile(ids[1], 1, "Bob", "", 1, summary_keys=frozenset({b"shared"})),
    ]
    await desk.ledger.write(profiles.upsert_entities, rows)
    await desk.ledger.write(profiles.delete_profiles, KeyKind.NAME, ids[:1])
    assert await desk.column("SELECT text FROM summary") == ["shared"]
    await desk.ledger.write(profiles.upsert_entities, [Profile(ids[1], 1, "Bob", "", 1)])
    assert await desk.column("SELECT text FROM summary") == []


async def test_recent_rows_are_the_newest_of_the_given_chunks(desk: Desk) -> None:
    [first] = await desk.tell("a", reading("Ada", said="one"))
    await desk.tell("b", reading("Ada", said="two"))
    [ada] = await desk.column("SELECT id FROM name")
    told = await desk.ledger.read(profiles.load_recent_facts, KeyKind.NAME, [ada], 9, None)
    assert {row.description for row in told[ada]} == {"one", "two"}
    assert len((await desk.ledger.read(profiles.load_recent_facts, KeyKind.NAME, [ada], 1, None))[ada]) == 1
    only = await desk.ledger.read(profiles.load_recent_facts, KeyKind.NAME, [ada], 9, ChunkFilter(frozenset({first})))
    assert [row.description for row in only[ada]] == ["one"]
