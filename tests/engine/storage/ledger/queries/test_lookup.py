from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from engine.models import Filters, Passage
from engine.storage.ledger import Ledger, corrections
from engine.storage.ledger.queries import filters, lookup
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.records.query_results import ChunkFilter, ResolvedFilters
from tests.engine.storage.ledger.ledger_fixture import Desk, reading
from tests.support.engine_fixture import doc, thread

if TYPE_CHECKING:
    from pathlib import Path

    from engine.storage.ledger.records.query_results import ScopeIds

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def listed(*ids: int) -> ChunkFilter:
    return ChunkFilter(frozenset(ids))


async def found(desk: Desk, text: str, where: ScopeIds | None = None, only: ChunkFilter | None = None) -> list[str]:
    within = ResolvedFilters(only, only) if only else None
    ids = await desk.ledger.read(lookup.search_chunks, text, 9, where or await desk.area(), within)
    texts = await desk.ledger.read(lookup.load_chunk_texts, ids, await desk.area({"here", "there"}, {"hall", "attic"}))
    assert [each.id for each in texts] == ids
    return [each.text for each in texts]


async def test_chunks_are_found_by_words_best_first_whatever_their_form(desk: Desk) -> None:
    await desk.put(doc("a", "the ferry sails", "ferries, ferries!", "a harbour"))
    assert await found(desk, "ferry") == ["ferries, ferries!", "the ferry sails"]
    assert await found(desk, "sailing") == ["the ferry sails"]


@pytest.mark.parametrize(
    "odd",
    ['"', "AND", "ferry AND", "NEAR(", "ferry*", "text:ferry", "-ferry", "^ferry", "(((", "'; DROP TABLE chunk --"],
)
async def test_odd_queries_are_words_like_any_other(desk: Desk, odd: str) -> None:
    await desk.put(doc("a", "the ferry sails"))
    assert await found(desk, odd) == (["the ferry sails"] if "ferry" in odd else [])


async def test_questions_without_a_word_worth_looking_for_find_nothing(desk: Desk) -> None:
    await desk.put(doc("a", "the ferry sails"))
    assert [await found(desk, text) for text in ("", "   ", "what is the", "?!")] == [[], [], [], []]


async def test_a_chunk_is_in_scope_by_its_space_or_its_room(desk: Desk) -> None:
    await desk.put(doc("a", "ferry a", space="here", room="hall"))
    await desk.put(doc("b", "ferry b", space="there", room="attic"))
    await desk.put(doc("c", "ferry c", space="there", room="hall"))
    assert set(await found(desk, "ferry", await desk.area({"here"}))) == {"ferry a"}
    assert set(await found(desk, "ferry", await desk.area((), {"hall"}))) == {"ferry a", "ferry c"}
    assert set(await found(desk, "ferry", await desk.area({"here"}, {"attic"}))) == {"ferry a", "ferry b"}
    assert await found(desk, "ferry", await desk.area(())) == []
    assert await found(desk, "ferry", await desk.area({"unheard of"}, {"of"})) == []


async def test_texts_leave_only_through_the_scope(desk: Desk) -> None:
    await desk.put(doc("a", "ours"))
    await desk.put(doc("b", "theirs", space="there", room="attic"))
    every = await desk.column("SELECT id FROM chunk")
    assert [each.text for each in await desk.ledger.read(lookup.load_chunk_texts, every, await desk.area())] == ["ours"]


async def test_a_chunk_is_handed_out_with_its_pieces_their_places_and_times(desk: Desk) -> None:
    told = Passage("p0", "hello", "part 0", "https://example.org", "Ada", NOON)
    await desk.put(replace(doc("a", "x", time=NOON - timedelta(days=1)), passages=(told,)))
    [chunk] = await desk.ledger.read(
        lookup.load_chunk_texts, await desk.column("SELECT id FROM chunk"), await desk.area()
    )
    [piece] = chunk.pieces
    assert (piece.title, piece.label, piece.link, piece.author) == ("A", "part 0", "https://example.org", "Ada")
    assert (piece.time, piece.text, piece.space, piece.room) == (NOON, "hello", "here", "hall")


async def test_a_narrowed_search_holds_the_chunks_that_fulfil_every_condition(desk: Desk) -> None:
    for n, author in enumerate(["Ada", "Bob", "Ada"]):
        passage = Passage("p", f"text {n}", author=author, time=NOON + timedelta(hours=n))
        await desk.put(replace(doc(f"d{n}", "x", room=["hall", "hall", "attic"][n]), passages=(passage,)))

    async def within(narrow: Filters) -> set[str]:
        area = await desk.area()
        ids = (await desk.ledger.read(filters.find_matching_chunks, narrow, area)).ids or ()
        return {each.text for each in await desk.ledger.read(lookup.load_chunk_texts, sorted(ids), area)}

    assert await within(Filters(authors=frozenset({"Ada"}))) == {"text 0", "text 2"}
    assert await within(Filters(rooms=frozenset({"hall"}))) == {"text 0", "text 1"}
    assert await within(Filters(documents=frozenset({"d1"}))) == {"text 1"}
    assert await within(Filters(since=NOON + timedelta(hours=1))) == {"text 1", "text 2"}
    assert await within(Filters(until=NOON)) == {"text 0"}
    assert await within(Filters(authors=frozenset({"Ada"}), rooms=frozenset({"attic"}), since=NOON)) == {"text 2"}
    assert await within(Filters(documents=frozenset({"elsewhere"}))) == set()


async def test_a_passage_without_a_time_has_that_of_its_document(desk: Desk) -> None:
    await desk.put(doc("dated", "x", time=NOON))
    await desk.put(doc("undated", "y"))
    ids = (await desk.ledger.read(filters.find_matching_chunks, Filters(since=NOON), await desk.area())).ids or ()
    assert [each.text for each in await desk.ledger.read(lookup.load_chunk_texts, sorted(ids), await desk.area())] == [
        "x"
    ]


async def test_only_the_given_chunks_are_searched(desk: Desk) -> None:
    await desk.put(doc("a", "ferry one", "ferry two"))
    one, _ = await desk.column("SELECT id FROM chunk ORDER BY ordinal")
    assert await found(desk, "ferry", only=listed(one)) == ["ferry one"]
    assert await found(desk, "ferry", only=listed()) == []


async def names_of(desk: Desk, ids: list[int]) -> list[str]:
    known = await desk.ledger.read(lookup.load_entities, ids, await desk.area())
    return [known[id_].canonical for id_ in ids]


async def test_names_are_found_exactly_by_alias_and_by_words_within_the_spaces(desk: Desk) -> None:
    await desk.tell("a", reading("Ada Lovelace", "Bob"))
    await desk.tell("b", reading("Ada Lovelace"), space="there")
    await desk.ledger.write(corrections.merge_names, "here", "Enchantress", "Ada Lovelace")
    await desk.project()
    here, nowhere = await desk.area(), await desk.area((), {"room of here"})
    exactly = await desk.ledger.read(lookup.find_entities_by_name, {"enchantress", "bob", "zoe"}, here)
    assert sorted(await names_of(desk, exactly)) == ["ada lovelace", "bob"]
    assert await names_of(desk, await desk.ledger.read(lookup.search_entities, "lovelace", 9, here)) == ["ada lovelace"]
    assert await desk.ledger.read(lookup.find_entities_by_name, {"bob"}, nowhere) == []
    assert await desk.ledger.read(lookup.search_entities, "bob", 9, nowhere) == []
    assert await desk.ledger.read(lookup.find_names_by_prefix, "", nowhere, 9) == []


async def test_names_that_begin_alike_come_with_the_most_mentioned_first(desk: Desk) -> None:
    await desk.tell("a", reading("Ada"), reading("Adam"), reading("Adam"), reading("Bob"))
    await desk.project()
    assert await desk.ledger.read(lookup.find_names_by_prefix, "ad", await desk.area(), 9) == ["Adam", "Ada"]
    assert await desk.ledger.read(lookup.find_names_by_prefix, "ad", await desk.area(), 1) == ["Adam"]


async def test_profiles_of_other_spaces_are_not_handed_out(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    await desk.tell("b", reading("Ada", "Bob"), space="there")
    await desk.project()
    names, pairs = await desk.column("SELECT id FROM entity"), await desk.column("SELECT id FROM relation")
    area = await desk.area()
    assert (len(names), len(await desk.ledger.read(lookup.load_entities, names, area))) == (4, 2)
    assert (len(pairs), len(await desk.ledger.read(lookup.load_relations, pairs, area))) == (2, 1)


async def test_a_profile_says_whether_it_is_stale(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    await desk.project()
    await desk.tell("b", reading("Ada"))
    known = await desk.ledger.read(lookup.load_entities, await desk.column("SELECT id FROM entity"), await desk.area())
    assert {each.canonical: each.is_stale for each in known.values()} == {"ada": True, "bob": False}


async def test_evidence_is_the_newest_chunks_first_also_through_an_alias(desk: Desk) -> None:
    chunks = [
        (await desk.tell(f"d{n}", reading(name), time=NOON + timedelta(hours=n)))[0]
        for n, name in enumerate(["Ada", "Lovelace", "Ada"])
    ]
    await desk.ledger.write(corrections.merge_names, "here", "Lovelace", "Ada")
    [ada] = await desk.column("SELECT id FROM name WHERE canonical = 'ada'")
    assert await desk.ledger.read(lookup.find_evidence_chunks, KeyKind.NAME, [ada], 9, None) == {ada: chunks[::-1]}
    only = listed(chunks[0])
    assert await desk.ledger.read(lookup.find_evidence_chunks, KeyKind.NAME, [ada, 999], 9, only) == {
        ada: chunks[:1],
        999: [],
    }


async def test_narrowed_evidence_is_not_crowded_out_by_newer_chunks(desk: Desk) -> None:
    chunks = [(await desk.tell(f"d{n}", reading("Ada"), time=NOON + timedelta(hours=n)))[0] for n in range(3)]
    [ada] = await desk.column("SELECT id FROM name WHERE canonical = 'ada'")
    found = await desk.ledger.read(lookup.find_evidence_chunks, KeyKind.NAME, [ada], 1, listed(chunks[0]))
    assert found == {ada: chunks[:1]}


async def test_a_narrowed_question_looks_for_the_names_that_its_chunks_tell(desk: Desk) -> None:
    [one] = await desk.tell("a", reading("Ada Lovelace", "Bob"))
    await desk.tell("b", reading("Ada Byron", "Bob"))
    await desk.project()
    told = await desk.ledger.read(filters.find_stated_keys, KeyKind.NAME, listed(one), 9)
    assert sorted(await names_of(desk, list(told))) == ["ada lovelace", "bob"]
    assert len(await desk.ledger.read(filters.find_stated_keys, KeyKind.PAIR, listed(one), 9)) == 1
    found = await desk.ledger.read(
        lookup.search_entities, "ada", 1, await desk.area(), ResolvedFilters(listed(one), listed(one), told)
    )
    assert await names_of(desk, found) == ["ada lovelace"]


async def test_trigrams_find_part_of_a_run_without_spaces(tmp_path: Path) -> None:
    desk = Desk(await Ledger.open(tmp_path / "trigrams.db", fts_tokenizer="trigram"))
    try:
        await desk.put(doc("a", "昨日は東京都庁で会議", "the ferry sails"))
        assert await found(desk, "東京都庁の場所は") == ["昨日は東京都庁で会議"]
        assert await found(desk, "ferry") == ["the ferry sails"]
        assert await found(desk, "東京") == []
    finally:
        await desk.ledger.close()


async def test_the_population_of_a_space_follows_what_comes_and_goes(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    await desk.put(thread("t", "x", space="there"))
    await desk.project()
    spaces = dict(await desk.pairs("SELECT id, name FROM space"))
    counts = {kind: await desk.ledger.read(lookup.count_by_space, kind) for kind in KeyKind}
    shown = {kind: {spaces[id_]: rows for id_, rows in by.items()} for kind, by in counts.items()}
    assert shown == {KeyKind.CHUNK: {"here": 1, "there": 1}, KeyKind.NAME: {"here": 2}, KeyKind.PAIR: {"here": 1}}
