from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.storage.ledger.queries import bm25, lookup
from engine.storage.ledger.queries.bm25 import K1, B, ScopeSize, score_rows, tokenize_words
from tests.engine.storage.ledger.ledger_fixture import extraction
from tests.support.engine_fixture import doc

if TYPE_CHECKING:
    from tests.engine.storage.ledger.ledger_fixture import LedgerFixture

AREAS = ((("here",), ()), ((), ("hall",)), (("here",), ("attic",)))


async def found(ledger: LedgerFixture, text: str, spaces: tuple[str, ...], rooms: tuple[str, ...]) -> list[str]:
    area = await ledger.scope_ids(spaces, rooms)
    ids = await ledger.read(lookup.search_chunks, text, 9, area)
    return [each.text for each in await ledger.read(lookup.load_chunk_texts, ids, area)]


@pytest.mark.parametrize(("spaces", "rooms"), AREAS)
async def test_words_out_of_scope_change_no_order(
    ledger: LedgerFixture, spaces: tuple[str, ...], rooms: tuple[str, ...]
) -> None:
    quiet = [f"quiet day {n}" for n in range(12)]
    await ledger.add(doc("a", "the merger is near", "the layoff is near", *quiet, room="hall"))
    await ledger.add(doc("b", "merger, one says, and what a long letter", space="there", room="attic"))
    before = await found(ledger, "merger layoff", spaces, rooms)
    assert len(before) > 1
    for word in ("layoff", "merger", "near"):
        texts = [f"{word} {n}" + " and on and on" * n for n in range(6)]
        await ledger.add(doc(f"secret {word}", *texts, space="private", room="vault"))
        assert await found(ledger, "merger layoff", spaces, rooms) == before


async def test_names_outside_of_the_scope_do_not_change_the_order_of_names(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Zoe Merger", "Ada Layoff"))
    await ledger.project()
    area = await ledger.scope_ids()
    before = await ledger.read(lookup.search_entities, "merger layoff", 9, area)
    for name in ("Layoff", "Merger"):
        await ledger.add_facts(f"secret {name}", *[extraction(f"{name} {n}ab") for n in range(4)], space="private")
        await ledger.project()
        assert await ledger.read(lookup.search_entities, "merger layoff", 9, area) == before


async def test_equal_scores_are_ordered_by_what_the_chunks_are(ledger: LedgerFixture) -> None:
    async def order(*keys: str) -> list[str]:
        for key in keys:
            await ledger.add(doc(key, f"ferry {key}"))
        texts = await found(ledger, "ferry", ("here",), ())
        for key in keys:
            await ledger.forget(key)
        return texts

    assert await order("x", "y", "z") == await order("z", "x", "y")


async def test_the_extent_of_a_scope_follows_every_change(ledger: LedgerFixture) -> None:
    async def counted() -> list[tuple[object, ...]]:
        return sorted(
            await ledger.rows("SELECT 0, space, room, COUNT(*), SUM(tokens) FROM chunk GROUP BY space, room")
            + await ledger.rows("SELECT 1, space, 0, COUNT(*), SUM(LENGTH(name)) FROM entity GROUP BY space")
            + await ledger.rows("SELECT 2, space, 0, COUNT(*), 0 FROM relation GROUP BY space")
        )

    async def kept() -> list[tuple[object, ...]]:
        return sorted(
            await ledger.rows("SELECT kind, space, room, row_count, total_length FROM corpus_stats WHERE row_count > 0")
        )

    told = doc("a", "one two three", "four", "five six")
    for change in (
        lambda: ledger.add(told),
        lambda: ledger.add_facts("b", extraction("Ada", "Bob"), space="there"),
        ledger.project,
        lambda: ledger.add(replace(told, room="attic")),
        lambda: ledger.add(replace(told, passages=told.passages[1:])),
        lambda: ledger.move_room("room of there", "here"),
        ledger.project,
        lambda: ledger.forget("b"),
        ledger.project,
        lambda: ledger.forget("a"),
    ):
        await change()
        assert await kept() == await counted()
        assert await ledger.rows("SELECT id, space, length FROM entity_length") == await ledger.rows(
            "SELECT id, space, LENGTH(name) FROM entity"
        )


@pytest.mark.parametrize("tokenizer", ["porter unicode61", "trigram", "unicode61"])
def test_words_are_tokenized_as_the_index_does_it(tokenizer: str) -> None:
    made = tokenize_words(tokenizer, ["sailing", "is_open", "Über", "_", "'", "港"])
    assert len(made) == 6
    assert made[3] == made[4] == ()
    if tokenizer == "porter unicode61":
        assert made[:3] == [("sail",), ("is", "open"), ("uber",)]


async def test_a_word_of_several_terms_is_found_as_they_follow_each_other(ledger: LedgerFixture) -> None:
    await ledger.add(doc("a", "set is_open here", "open it is", "is open"))
    assert set(await found(ledger, "is_open", ("here",), ())) == {"set is_open here", "is open"}


@given(
    st.lists(st.dictionaries(st.tuples(st.integers(1, 5), st.just(0)), st.integers(1, 9)), max_size=3),
    st.lists(st.integers(1, 50), min_size=5, max_size=5),
)
def test_scores_are_those_of_bm25_over_the_scope_alone(
    held: list[dict[tuple[int, int], int]], lengths: list[int]
) -> None:
    postings = [{(row, lengths[row - 1]): times for (row, _), times in each.items()} for each in held]
    whole, wanted = ScopeSize(5, sum(lengths)), dict[int, float]()
    for each in postings:
        for (row, length), times in each.items():
            rarity = math.log(1 + (5 - len(each) + 0.5) / (len(each) + 0.5))
            part = rarity * times * (K1 + 1) / (times + K1 * (1 - B + B * length / (sum(lengths) / 5)))
            wanted[row] = wanted.get(row, 0.0) + part
    assert score_rows(postings, whole) == pytest.approx(wanted)


async def test_an_empty_scope_has_no_extent(ledger: LedgerFixture) -> None:
    await ledger.add(doc("a", "one"))
    assert await ledger.read(bm25.measure_scope, bm25.CHUNK_INDEX, await ledger.scope_ids(())) == ScopeSize(0, 0)
    assert await ledger.read(bm25.measure_scope, bm25.NAME_INDEX, await ledger.scope_ids(())) == ScopeSize(0, 0)
