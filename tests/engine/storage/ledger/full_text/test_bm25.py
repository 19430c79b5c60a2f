from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.storage.ledger.full_text import index
from engine.storage.ledger.full_text.bm25 import K1, B, Postings, score_rows
from engine.storage.ledger.full_text.index import ScopeSize
from engine.storage.ledger.queries.search import Search
from engine.storage.sql.connection import Connection
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction
from tests.support.engine_fixture import doc

Names = tuple[str, ...]


async def search(ledger: LedgerFixture, text: str, spaces: Names = ("here",), rooms: Names = ()) -> list[str]:
    scope = await ledger.scope_ids(spaces, rooms)
    ids = list((await ledger.read(Search.search_chunks, text, 9, scope)).scores)
    return [chunk_text.text for chunk_text in await ledger.read(Search.load_chunk_texts, ids, scope)]


@pytest.mark.parametrize(("spaces", "rooms"), [(("here",), ()), ((), ("hall",)), (("here",), ("attic",))])
async def test_words_out_of_scope_change_no_order(ledger: LedgerFixture, spaces: Names, rooms: Names) -> None:
    quiet = [f"quiet day {n}" for n in range(12)]
    await ledger.add(doc("a", "the merger is near", "the layoff is near", *quiet, room="hall"))
    await ledger.add(doc("b", "merger, one says, and what a long letter", space="there", room="attic"))
    before = await search(ledger, "merger layoff", spaces, rooms)
    assert len(before) > 1
    for word in ("layoff", "merger", "near"):
        texts = [f"{word} {n}" + " and on and on" * n for n in range(6)]
        await ledger.add(doc(f"secret {word}", *texts, space="private", room="vault"))
        assert await search(ledger, "merger layoff", spaces, rooms) == before


async def test_names_out_of_scope_change_no_order_of_names(ledger: LedgerFixture) -> None:
    orders = []
    for number, name in enumerate(("", "Layoff", "Merger")):
        facts = [extraction(f"{name} {n}ab") for n in range(4)] if name else [extraction("Zoe Merger", "Ada Layoff")]
        await ledger.add_facts(f"d{number}", *facts, space="private" if name else "here")
        await ledger.project()
        orders.append(await ledger.read(Search.search_entities, "merger layoff", 9, await ledger.scope_ids()))
    assert orders[0] == orders[1] == orders[2]
    assert len(orders[0]) == 2


async def test_equal_scores_are_ordered_by_what_the_chunks_are(ledger: LedgerFixture) -> None:
    orders = []
    for keys in ("xyz", "zyx"):
        for key in keys:
            await ledger.add(doc(key, f"ferry {key}"))
        orders.append(await search(ledger, "ferry"))
        for key in keys:
            await ledger.forget(key)
    assert orders[0] == orders[1]


async def test_the_size_of_a_scope_follows_every_change(ledger: LedgerFixture) -> None:
    document = doc("a", "one two three", "four", "five six")
    for change in (
        lambda: ledger.add(document),
        lambda: ledger.add_facts("b", extraction("Ada", "Bob"), space="there"),
        ledger.project,
        lambda: ledger.add(replace(document, room="attic")),
        lambda: ledger.add(replace(document, passages=document.passages[1:])),
        lambda: ledger.move_room("room of there", "here"),
        ledger.project,
        lambda: ledger.forget("b"),
        ledger.project,
        lambda: ledger.forget("a"),
    ):
        await change()
        counted = [
            *await ledger.rows("SELECT 0, space, room, COUNT(*), SUM(tokens) FROM chunk GROUP BY space, room"),
            *await ledger.rows("SELECT 1, space, 0, COUNT(*), SUM(LENGTH(name)) FROM entity GROUP BY space"),
            *await ledger.rows("SELECT 2, space, 0, COUNT(*), 0 FROM relation GROUP BY space"),
        ]
        columns = "kind, space, room, row_count, total_length"
        kept = await ledger.rows(f"SELECT {columns} FROM corpus_stats WHERE row_count > 0")
        assert sorted(kept) == sorted(counted)
        sizes = await ledger.rows("SELECT id, space, length FROM entity_length")
        assert sizes == await ledger.rows("SELECT id, space, LENGTH(name) FROM entity")


async def test_words_are_tokenized_as_the_index_does_it(ledger: LedgerFixture) -> None:
    def tokenize(db: Connection, words: list[str]) -> list[tuple[str, ...]]:
        reader = index.TERM_TABLES[db.dialect]
        return reader.tokenize_words(db, reader.find_tokenizer(db), words)

    tokens = await ledger.read(tokenize, ["sailing", "re_open", "Über", "_", "'", "港", "relational", "B-52s"])
    assert tokens == [("sail",), ("re", "open"), ("uber",), (), (), ("港",), ("relat",), ("b", "52")]


async def test_a_rare_word_outweighs_several_common_ones(ledger: LedgerFixture) -> None:
    common = ("river", "island", "territory", "district")
    texts = [f"the {word} of town {number}" for word in common for number in range(5)]
    await ledger.add(doc("a", *texts, "bansaan is calm", "river, island, territory, district"))
    assert (await search(ledger, "territory district island river bansaan"))[0] == "bansaan is calm"


async def test_a_word_of_several_terms_is_found_as_they_follow_each_other(ledger: LedgerFixture) -> None:
    await ledger.add(doc("a", "set is_open here", "open it is", "is open"))
    assert set(await search(ledger, "is_open")) == {"set is_open here", "is open"}


@given(
    st.lists(st.dictionaries(st.integers(1, 5), st.integers(1, 9)), max_size=3),
    st.lists(st.integers(1, 50), min_size=5, max_size=5),
    st.sampled_from([1, 10**4]),
)
def test_scores_are_those_of_bm25_over_the_scope_alone(
    terms: list[dict[int, int]], lengths: list[int], spread: int
) -> None:
    expected = dict[int, float]()
    for counts in terms:
        rarity = math.log(1 + (5 - len(counts) + 0.5) / (len(counts) + 0.5)) ** 2
        for row, count in counts.items():
            norm = K1 * (1 - B + B * lengths[row - 1] / (sum(lengths) / 5))
            expected[row * spread] = expected.get(row * spread, 0.0) + rarity * count * (K1 + 1) / (count + norm)
    postings = [
        Postings.build([(row * spread, lengths[row - 1], count) for row, count in sorted(counts.items())])
        for counts in terms
    ]
    assert score_rows(postings, ScopeSize(5, sum(lengths))).list_best(5) == pytest.approx(expected)


async def test_an_empty_scope_has_no_size(ledger: LedgerFixture) -> None:
    await ledger.add(doc("a", "one"))
    for each in (index.CHUNK_INDEX, index.NAME_INDEX):
        assert await ledger.read(index.measure_scope, each, await ledger.scope_ids(())) == ScopeSize(0, 0)
