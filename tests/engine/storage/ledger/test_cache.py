from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger import cache
from engine.storage.ledger.content import documents
from engine.storage.ledger.records.projection import CachedAnswer
from engine.storage.ledger.work.work_queue import current_generation
from engine.usage import Usage
from tests.engine.storage.ledger.ledger_fixture import reading

if TYPE_CHECKING:
    from engine.storage.sqlite.connection import Connection
    from tests.engine.storage.ledger.ledger_fixture import Desk


async def test_an_answer_is_kept_by_its_key(desk: Desk) -> None:
    await desk.ledger.write(cache.save_cached_answer, CachedAnswer(b"k", "text", 0), 1.0)
    assert await desk.ledger.read(cache.find_cached_answer, b"k") == "text"
    assert await desk.ledger.read(cache.find_cached_answer, b"other") is None


async def test_an_answer_goes_with_any_chunk_that_it_drew_on(desk: Desk) -> None:
    [chunk] = await desk.tell("a", reading("Ada"))
    now = await desk.ledger.read(current_generation)
    await desk.ledger.write(cache.save_cached_answer, CachedAnswer(b"k", "text", now, frozenset({chunk})), 1.0)
    await desk.ledger.write(documents.delete_document, "a")
    assert await desk.ledger.read(cache.find_cached_answer, b"k") is None
    assert await desk.rows("SELECT * FROM answer_cache_source") == []


async def test_an_answer_goes_when_anything_of_a_name_that_it_drew_on_is_forgotten(desk: Desk) -> None:
    await desk.tell("a", reading("Ada"))
    await desk.tell("b", reading("Ada"))
    [name] = await desk.column("SELECT id FROM name")
    now = await desk.ledger.read(current_generation)
    await desk.ledger.write(cache.save_cached_answer, CachedAnswer(b"k", "text", now, names=frozenset({name})), 1.0)
    await desk.ledger.write(documents.delete_document, "b")
    assert await desk.ledger.read(cache.find_cached_answer, b"k") is None


async def test_an_answer_recalled_before_something_was_removed_is_not_kept(desk: Desk) -> None:
    await desk.tell("a", reading("Ada"))
    before = await desk.ledger.read(current_generation)
    await desk.ledger.write(documents.delete_document, "a")
    await desk.ledger.write(cache.save_cached_answer, CachedAnswer(b"k", "text", before), 1.0)
    assert await desk.ledger.read(cache.find_cached_answer, b"k") is None


async def test_the_answers_longest_unused_make_room(desk: Desk) -> None:
    async def fill(db: Connection) -> None:
        rows = [(f"old {n}".encode(), "text", float(n)) for n in range(cache.MAX_CACHED_ANSWERS)]
        await db.executemany("INSERT INTO answer_cache VALUES (?, ?, ?)", rows)

    await desk.ledger.write(fill)
    await desk.ledger.write(cache.touch_cached_answer, b"old 0", 1e6)
    await desk.ledger.write(cache.save_cached_answer, CachedAnswer(b"new", "text", 0), 2e6)
    kept = [await desk.ledger.read(cache.find_cached_answer, key) for key in (b"new", b"old 0", b"old 1", b"old 2")]
    assert kept == ["text", "text", None, "text"]


async def test_a_summary_that_no_profile_uses_goes_at_compaction(desk: Desk) -> None:
    await desk.ledger.write(cache.save_summaries, {b"k": "text"})
    assert await desk.ledger.read(cache.load_summaries, [b"k", b"other"]) == {b"k": "text"}
    await desk.ledger.write(cache.delete_unused)
    assert await desk.ledger.read(cache.load_summaries, [b"k"]) == {}


async def test_vectors_are_kept_by_embedder_and_text_as_long_as_a_chunk_has_it(desk: Desk) -> None:
    await desk.tell("a", reading("Ada"))
    [digest] = await desk.column("SELECT text_hash FROM chunk")
    await desk.ledger.write(cache.save_vectors, "e", [(digest, 1, b"1234"), (b"no chunk has it", 1, b"1234")])
    assert await desk.ledger.read(cache.load_vectors, "e", {digest, b"no chunk has it"}) == {digest: (1, b"1234")}
    assert await desk.ledger.read(cache.load_vectors, "other", {digest}) == {}
    assert await desk.ledger.read(cache.load_vectors, "e", set()) == {}


async def test_usage_adds_up_by_day_purpose_and_model(desk: Desk) -> None:
    calls = [Usage("answer", "m", 10, 5, 0.5), Usage("answer", "m", 1, 1, 0.25), Usage("embed", "m", 7)]
    await desk.ledger.write(cache.add_usage, "2026-11-20", calls)
    await desk.ledger.write(cache.add_usage, "2026-11-21", calls[:1])
    assert await desk.rows("SELECT * FROM usage ORDER BY day, purpose") == [
        ("2026-11-20", "answer", "m", 2, 11, 6, 0.75),
        ("2026-11-20", "embed", "m", 1, 7, 0, 0.0),
        ("2026-11-21", "answer", "m", 1, 10, 5, 0.5),
    ]


async def test_however_many_summaries_are_asked_for_those_that_are_known_come(desk: Desk) -> None:
    keys = [number.to_bytes(4, "big") for number in range(40_000)]
    await desk.ledger.write(cache.save_summaries, {key: key.hex() for key in keys[::2]})
    assert await desk.ledger.read(cache.load_summaries, keys) == {key: key.hex() for key in keys[::2]}
