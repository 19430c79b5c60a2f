from __future__ import annotations

from typing import Any

import pytest

from engine.storage.ledger import cache
from engine.storage.ledger.cache import Cache
from engine.storage.ledger.content.rooms import Rooms
from engine.storage.ledger.records.projection import CachedAnswer
from engine.storage.ledger.work.settings import Settings
from engine.storage.sql.connection import Connection
from engine.usage import IndexingUsage, Usage
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction


async def save_answer(ledger: LedgerFixture, generation: int, **used: Any) -> None:
    await ledger.write(Cache.save_answer, CachedAnswer(b"k", "text", generation, **used), 1.0)


async def find_answer(ledger: LedgerFixture, key: bytes = b"k") -> str | None:
    return await ledger.ledger.read(Cache.find_answer, key)


@pytest.mark.parametrize(("used", "table"), [("chunks", "chunk"), ("names", "name")])
async def test_an_answer_goes_with_any_chunk_or_name_that_it_used(ledger: LedgerFixture, used: str, table: str) -> None:
    for key in ("a", "b"):
        await ledger.add_facts(key, extraction("Ada"))
    ids = frozenset(await ledger.column(f"SELECT id FROM {table}"))
    await save_answer(ledger, await ledger.read(Settings.current_generation), **{used: ids})
    assert (await find_answer(ledger), await find_answer(ledger, b"other")) == ("text", None)
    await ledger.forget("b")
    assert await find_answer(ledger) is None


async def test_an_answer_retrieved_before_something_was_removed_is_not_kept(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada"))
    before = await ledger.read(Settings.current_generation)
    await ledger.forget("a")
    await save_answer(ledger, before)
    assert await find_answer(ledger) is None


async def test_the_answers_longest_unused_make_room(ledger: LedgerFixture) -> None:
    def fill(db: Connection) -> None:
        rows = [(f"old {n}".encode(), "text", float(n)) for n in range(cache.MAX_CACHED_ANSWERS)]
        db.executemany("INSERT INTO answer_cache VALUES (?, ?, ?)", rows)

    await ledger.write(fill)
    await ledger.write(Cache.touch_answer, b"old 0", 1e6)
    await ledger.write(Cache.save_answer, CachedAnswer(b"new", "text", 0), 2e6)
    kept = [await find_answer(ledger, key) for key in (b"new", b"old 0", b"old 1", b"old 2")]
    assert kept == ["text", "text", None, "text"]


async def test_summaries_are_found_among_any_number_of_keys_and_unused_ones_go_at_compaction(
    ledger: LedgerFixture,
) -> None:
    keys = [number.to_bytes(4, "big") for number in range(40_000)]
    summaries = {key: key.hex() for key in keys[::2]}
    await ledger.write(Cache.save_summaries, summaries)
    assert await ledger.read(Cache.load_summaries, keys) == summaries
    await ledger.write(Cache.delete_unused)
    assert await ledger.read(Cache.load_summaries, keys) == {}


async def test_vectors_are_kept_by_embedder_and_text_while_a_chunk_has_it(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada"))
    [digest] = await ledger.column("SELECT text_hash FROM chunk")
    await ledger.write(Cache.save_vectors, "e", [(digest, 1, b"1234"), (b"no chunk has it", 1, b"1234")])
    assert await ledger.read(Cache.load_vectors, "e", {digest, b"no chunk has it"}) == {digest: (1, b"1234")}
    assert await ledger.read(Cache.load_vectors, "other", {digest}) == {}
    assert await ledger.read(Cache.load_vectors, "e", set()) == {}


async def test_usage_adds_up_by_day_purpose_and_model(ledger: LedgerFixture) -> None:
    calls = [Usage("answer", "m", 10, 5, 0.5), Usage("answer", "m", 1, 1, 0.25), Usage("embed", "m", 7)]
    await ledger.write(Cache.add_usage, "2026-11-20", calls)
    await ledger.write(Cache.add_usage, "2026-11-21", calls[:1])
    assert await ledger.rows("SELECT * FROM usage ORDER BY day, purpose") == [
        ("2026-11-20", "answer", "m", 2, 11, 6, 0.75),
        ("2026-11-20", "embed", "m", 1, 7, 0, 0.0),
        ("2026-11-21", "answer", "m", 1, 10, 5, 0.5),
    ]


async def test_what_indexing_took_is_that_of_the_spaces_whose_texts_it_was(ledger: LedgerFixture) -> None:
    names = ("slack:T1:hall", "slack:T1:roof", "slack:T10:hall", "shed")
    hall, roof, other, shed = [await ledger.write(Rooms.get_or_create_id, "space", name) for name in names]
    calls = [Usage("extract", "m", 8, 2, 0.75), Usage("summarize", "m", 10, 0, 0.5)]
    await ledger.write(Cache.add_indexing_usage, "2026-11-20", IndexingUsage(calls, {hall: 2, roof: 1}))
    await ledger.write(Cache.add_indexing_usage, "2026-11-20", IndexingUsage(calls[:1], {hall: 5, other: 0}))
    await ledger.write(Cache.add_indexing_usage, "2026-11-21", IndexingUsage(calls[:1], {other: 1, shed: 1}))
    days = {
        where: [tuple(day) for day in await ledger.ledger.stats.list_indexing_usage(*where, "2026-11-20")]
        for where in (("", "slack:T1:"), ("slack:T1:hall", ""), ("slack:T1:roof", ""), ("shed", ""))
    }
    assert days == {
        ("", "slack:T1:"): [("2026-11-20", 30, 2.0)],
        ("slack:T1:hall", ""): [("2026-11-20", 22, 0.5 + 1 / 3 + 0.75)],
        ("slack:T1:roof", ""): [("2026-11-20", 8, 0.25 + 0.5 / 3)],
        ("shed", ""): [("2026-11-21", 5, 0.375)],
    }
    assert await ledger.ledger.stats.list_indexing_usage("", "slack:T1:", "2026-11-21") == []
    assert await ledger.rows("SELECT SUM(input_tokens + output_tokens), SUM(cost) FROM usage") == [(40, 2.75)]
