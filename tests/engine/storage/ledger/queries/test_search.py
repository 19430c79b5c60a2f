from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.clock import SYSTEM_CLOCK
from engine.models import Passage
from engine.storage.ledger import Ledger
from engine.storage.ledger.names.corrections import Corrections
from engine.storage.ledger.queries import filters
from engine.storage.ledger.queries.search import Search
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.records.query_results import ChunkFilter, ResolvedFilters, ScopeIds
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction
from tests.support.engine_fixture import doc, thread

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def listed(*ids: int) -> ChunkFilter:
    return ChunkFilter(frozenset(ids))


async def search(
    ledger: LedgerFixture, text: str, scope: ScopeIds | None = None, only: ChunkFilter | None = None
) -> list[str]:
    within = ResolvedFilters(only, only) if only else None
    ids = list((await ledger.read(Search.search_chunks, text, 9, scope or await ledger.scope_ids(), within)).scores)
    everything = await ledger.scope_ids({"here", "there"}, {"hall", "attic"})
    found = await ledger.read(Search.load_chunk_texts, ids, everything)
    assert [chunk_text.id for chunk_text in found] == ids
    return [chunk_text.text for chunk_text in found]


ODD = ('"', "AND", "ferry AND", "NEAR(", "ferry*", "text:ferry", "-ferry", "^ferry", "(((", "'; DROP TABLE chunk --")


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("sailing", ["the ferry sails"]),
        ("harbors", ["a harbor"]),
        *((odd, ["ferry, ferries!", "the ferry sails"] if "ferry" in odd else []) for odd in ODD),
        *((empty, []) for empty in ("", "   ", "what is the", "?!")),
    ],
)
async def test_chunks_are_found_by_words_in_any_form_best_first(
    ledger: LedgerFixture, question: str, found: list[str]
) -> None:
    await ledger.add(doc("a", "the ferry sails", "ferry, ferries!", "a harbor"))
    assert await search(ledger, question) == found


@pytest.mark.parametrize(
    ("spaces", "rooms", "found"),
    [
        (["here"], [], {"ferry a"}),
        ([], ["hall"], {"ferry a", "ferry c"}),
        (["here"], ["attic"], {"ferry a", "ferry b"}),
        ([], [], set()),
        (["unheard of"], ["of"], set()),
    ],
)
async def test_a_chunk_is_in_scope_by_its_space_or_its_room(
    ledger: LedgerFixture, spaces: list[str], rooms: list[str], found: set[str]
) -> None:
    for key, space, room in (("a", "here", "hall"), ("b", "there", "attic"), ("c", "there", "hall")):
        await ledger.add(doc(key, f"ferry {key}", space=space, room=room))
    scope = await ledger.scope_ids(spaces, rooms)
    assert set(await search(ledger, "ferry", scope)) == found
    texts = await ledger.read(Search.load_chunk_texts, await ledger.column("SELECT id FROM chunk"), scope)
    assert {text.text for text in texts} == found


async def test_a_chunk_comes_with_its_pieces_their_places_and_times(ledger: LedgerFixture) -> None:
    passage = Passage("p0", "hello", "part 0", "https://example.org", "Ada", NOON)
    await ledger.add(replace(doc("a", "x", time=NOON - timedelta(days=1)), passages=(passage,)))
    ids = await ledger.column("SELECT id FROM chunk")
    [chunk] = await ledger.read(Search.load_chunk_texts, ids, await ledger.scope_ids())
    [piece] = chunk.pieces
    assert (piece.title, piece.label, piece.link, piece.author) == ("A", "part 0", "https://example.org", "Ada")
    assert (piece.time, piece.text, piece.space, piece.room) == (NOON, "hello", "here", "hall")


async def test_only_the_given_chunks_are_searched(ledger: LedgerFixture) -> None:
    await ledger.add(doc("a", "ferry one", "ferry two"))
    one, _ = await ledger.column("SELECT id FROM chunk ORDER BY ordinal")
    assert await search(ledger, "ferry", only=listed(one)) == ["ferry one"]
    assert await search(ledger, "ferry", only=listed()) == []


async def names_of(ledger: LedgerFixture, ids: Iterable[int]) -> list[str]:
    known = await ledger.read(Search.load_entities, list(ids), await ledger.scope_ids())
    return [known[id_].canonical for id_ in ids]


async def test_names_are_found_exactly_by_alias_and_by_words_within_the_spaces(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada Lovelace", "Bob"))
    await ledger.add_facts("b", extraction("Ada Lovelace"), space="there")
    await ledger.write(Corrections.merge_names, "here", "Enchantress", "Ada Lovelace")
    await ledger.project()
    here, nowhere = await ledger.scope_ids(), await ledger.scope_ids((), {"room of here"})
    exact = await ledger.read(Search.find_entities_by_name, {"enchantress", "bob", "zoe"}, here)
    assert sorted(await names_of(ledger, exact)) == ["ada lovelace", "bob"]
    assert await names_of(ledger, await ledger.read(Search.search_entities, "lovelace", 9, here)) == ["ada lovelace"]
    assert await ledger.read(Search.find_entities_by_name, {"bob"}, nowhere) == []
    assert await ledger.read(Search.search_entities, "bob", 9, nowhere) == []


async def test_profiles_come_from_the_scope_only_and_say_whether_they_are_stale(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada", "Bob"))
    await ledger.add_facts("b", extraction("Ada", "Bob"), space="there")
    await ledger.project()
    await ledger.add_facts("c", extraction("Ada"))
    names, pairs = await ledger.column("SELECT id FROM entity"), await ledger.column("SELECT id FROM relation")
    assert (len(names), len(pairs)) == (4, 2)
    known = await ledger.read(Search.load_entities, names, await ledger.scope_ids())
    assert {entity.canonical: entity.is_stale for entity in known.values()} == {"ada": True, "bob": False}
    assert len(await ledger.read(Search.load_relations, pairs, await ledger.scope_ids())) == 1


async def test_evidence_is_the_newest_chunks_first_also_through_an_alias(ledger: LedgerFixture) -> None:
    chunks = [
        (await ledger.add_facts(f"d{n}", extraction(name), time=NOON + timedelta(hours=n)))[0]
        for n, name in enumerate(["Ada", "Lovelace", "Ada"])
    ]
    await ledger.write(Corrections.merge_names, "here", "Lovelace", "Ada")
    [ada] = await ledger.column("SELECT id FROM name WHERE canonical = 'ada'")

    async def evidence(limit: int, only: ChunkFilter | None, *names: int) -> dict[int, list[int]]:
        return await ledger.ledger.read(Search.find_evidence_chunks, KeyKind.NAME, [ada, *names], limit, only)

    assert await evidence(9, None) == {ada: chunks[::-1]}
    assert await evidence(9, listed(chunks[0]), 999) == {ada: chunks[:1], 999: []}
    assert await evidence(1, listed(chunks[0])) == {ada: chunks[:1]}


async def test_a_filtered_question_searches_the_names_that_its_chunks_state(ledger: LedgerFixture) -> None:
    [one] = await ledger.add_facts("a", extraction("Ada Lovelace", "Bob"))
    await ledger.add_facts("b", extraction("Ada Byron", "Bob"))
    await ledger.project()
    stated = await ledger.read(filters.find_stated_keys, KeyKind.NAME, listed(one), 9)
    assert sorted(await names_of(ledger, stated)) == ["ada lovelace", "bob"]
    assert len(await ledger.read(filters.find_stated_keys, KeyKind.PAIR, listed(one), 9)) == 1
    within = ResolvedFilters(listed(one), listed(one), stated)
    found = await ledger.read(Search.search_entities, "ada", 1, await ledger.scope_ids(), within)
    assert await names_of(ledger, found) == ["ada lovelace"]


async def test_trigrams_find_part_of_a_run_without_spaces(tmp_path: Path) -> None:
    ledger = LedgerFixture(await Ledger.open(tmp_path / "trigrams.db", fts_tokenizer="trigram", clock=SYSTEM_CLOCK))
    await ledger.add(doc("a", "昨日は東京都庁で会議", "the ferry sails"))
    found = [await search(ledger, question) for question in ("東京都庁の場所は", "ferry", "東京")]
    assert found == [["昨日は東京都庁で会議"], ["the ferry sails"], []]
    await ledger.ledger.close()


async def test_the_rows_of_each_space_are_counted(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada", "Bob"))
    await ledger.add(thread("t", "x", space="there"))
    await ledger.project()
    spaces = dict(await ledger.rows("SELECT id, name FROM space"))
    counts = await ledger.read(Search.count_by_space, spaces)
    shown = {kind: {spaces[id_]: rows for id_, rows in by_space.items()} for kind, by_space in counts.items()}
    assert shown == {KeyKind.CHUNK: {"here": 1, "there": 1}, KeyKind.NAME: {"here": 2}, KeyKind.PAIR: {"here": 1}}


async def test_one_of_the_other_spaces_shows_that_there_are_more(ledger: LedgerFixture) -> None:
    for number in range(4):
        await ledger.add(doc(f"d{number}", "x", "y", space=f"s{number}", room=f"r{number}"))
    [one, *others] = await ledger.column("SELECT id FROM space ORDER BY id")
    counts = (await ledger.read(Search.count_by_space, {one}))[KeyKind.CHUNK]
    assert counts.pop(one) == 2
    [(other, rows)] = counts.items()
    assert (other in others, rows > 0) == (True, True)
    assert await ledger.read(Search.count_by_space, set()) != {}
