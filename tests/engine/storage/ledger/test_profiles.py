from __future__ import annotations

from typing import Literal

import pytest

from engine.knowledge.merge import FactCounts
from engine.storage.ledger import profiles
from engine.storage.ledger.cache import Cache
from engine.storage.ledger.profiles import Profiles
from engine.storage.ledger.records.projection import KeyKind, Profile
from engine.storage.ledger.records.query_results import ChunkFilter
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction


@pytest.mark.parametrize("kind", [KeyKind.NAME, KeyKind.PAIR])
async def test_a_hot_key_is_counted_in_sql_as_row_by_row(
    ledger: LedgerFixture, monkeypatch: pytest.MonkeyPatch, kind: Literal[KeyKind.NAME, KeyKind.PAIR]
) -> None:
    for n in range(6):
        await ledger.add_facts(f"d{n}", extraction("Ada" if n % 2 else "ADA", "Bob", text=f"met {n % 4}"))

    async def counts(fragments: int) -> dict[int, FactCounts]:
        load = Profiles.load_names if kind == KeyKind.NAME else Profiles.load_pairs
        ids = await ledger.column(f"SELECT id FROM {'name' if kind == KeyKind.NAME else 'pair'}")
        return {key.id: key.counts for key in await ledger.read(load, ids, fragments)}

    whole = await counts(100)
    monkeypatch.setattr(profiles, "HOT_KEY_ROWS", 1)
    assert await counts(100) == whole
    assert {(count.chunks, len(count.fragments)) for count in whole.values()} == {(6, 4)}
    assert {(count.chunks, len(count.fragments)) for count in (await counts(2)).values()} == {(6, 2)}


async def test_a_relation_is_not_written_without_the_profiles_of_its_ends(ledger: LedgerFixture) -> None:
    """Its names may have been forgotten between loading the facts and writing the profile."""
    await ledger.add_facts("a", extraction("Ada", "Bob"))
    [(pair, a, b)] = await ledger.rows("SELECT id, a, b FROM pair")
    await ledger.forget("a")
    await ledger.write(Profiles.upsert_entities, [Profile(id_, 1, "x", "", 1) for id_ in (a, b)])
    await ledger.write(Profiles.upsert_relations, [Profile(pair, 1, "near", "met", 1, "", (a, b))])
    assert await ledger.rows("SELECT id FROM entity UNION ALL SELECT id FROM relation") == []


async def test_the_degree_of_an_entity_is_kept_as_relations_come_and_go(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada", "Bob"))
    await ledger.add_facts("b", extraction("Ada", "Carla"))
    await ledger.project()
    degrees = "SELECT n.canonical, e.degree FROM entity e JOIN name n ON n.id = e.id ORDER BY 1"
    assert await ledger.rows(degrees) == [("ada", 2), ("bob", 1), ("carla", 1)]
    await ledger.forget("b")
    await ledger.project()
    assert await ledger.rows(degrees) == [("ada", 1), ("bob", 1)]


async def test_a_summary_goes_with_the_last_profile_that_uses_it(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada", "Bob"))
    ada, bob = await ledger.column("SELECT id FROM name ORDER BY canonical")
    await ledger.write(Cache.save_summaries, {b"shared": "shared", b"own": "own"})
    rows = [Profile(ada, 1, "Ada", "", 1, summary_keys=frozenset({b"shared", b"own"}))]
    rows.append(Profile(bob, 1, "Bob", "", 1, summary_keys=frozenset({b"shared"})))
    await ledger.write(Profiles.upsert_entities, rows)
    await ledger.write(Profiles.delete_profiles, KeyKind.NAME, [ada])
    assert await ledger.column("SELECT text FROM summary") == ["shared"]
    await ledger.write(Profiles.upsert_entities, [Profile(bob, 1, "Bob", "", 1)])
    assert await ledger.column("SELECT text FROM summary") == []


async def test_recent_facts_are_the_newest_of_the_given_chunks(ledger: LedgerFixture) -> None:
    [first] = await ledger.add_facts("a", extraction("Ada", text="one"))
    await ledger.add_facts("b", extraction("Ada", text="two"))
    [ada] = await ledger.column("SELECT id FROM name")

    async def recent(limit: int, within: ChunkFilter | None = None) -> list[str]:
        found = await ledger.read(Profiles.load_recent_facts, KeyKind.NAME, [ada], limit, within)
        return sorted(row.description for row in found[ada])

    assert await recent(9) == ["one", "two"]
    assert len(await recent(1)) == 1
    assert await recent(9, ChunkFilter(frozenset({first}))) == ["one"]
