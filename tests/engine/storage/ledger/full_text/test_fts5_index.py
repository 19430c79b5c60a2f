"""Words are found the same way by the places of chunks in memory as by joining tables."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from engine.models import Scope
from engine.storage.ledger.full_text import fts5_index
from engine.storage.ledger.full_text.fts5_index import FTS5_INDEX
from engine.storage.ledger.full_text.index import CHUNK_INDEX, SearchWord, find_term_index
from engine.storage.ledger.queries.search import Search
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.records.query_results import ScopeIds
from engine.storage.sql.connection import Connection
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, held_snapshot, only_sqlite
from tests.support.engine_fixture import doc

WORDS = ("ferry", "harbor", "sail", "is_open", "港")
ASKED = [SearchWord("ferry", ("ferri",)), SearchWord("sail", ("sail",)), SearchWord("is_open", ("is", "open"))]
SPACES, ROOMS = ("here", "there", "away"), ("hall", "attic", "yard")

pytestmark = only_sqlite


def look(db: Connection, scope: ScopeIds) -> list[tuple[object, ...]]:
    """What both ways find, and count, of the words within a scope."""
    found = list[tuple[object, ...]]()
    for reader in (find_term_index(db), FTS5_INDEX):
        clause = CHUNK_INDEX.scope_clause(scope, "x")
        loaded = reader.load_postings(db, KeyKind.CHUNK, ASKED, clause)
        rows = [[column.tolist() for column in each] for each in loaded]
        counts = [reader.count_matches(db, KeyKind.CHUNK, ASKED, clause, limit) for limit in (1, 3, 100)]
        found.append((rows, counts, reader.find_common(db, KeyKind.CHUNK, ASKED, clause, 3)))
    return found


async def assert_equal(ledger: LedgerFixture) -> None:
    for spaces, rooms in ((("here",), ()), (("here", "there"), ()), ((), ("attic",)), (("away",), ("hall", "attic"))):
        joined, located = await ledger.read(look, await ledger.scope_ids(spaces, rooms))
        assert located == joined


async def test_every_change_is_in_the_next_search(ledger: LedgerFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fts5_index, "MIN_COUNTED_ROWS", 2)
    monkeypatch.setattr(fts5_index, "READ_CHUNKS", 3)
    chance = random.Random(20)
    for _ in range(60):
        key, room = f"d{chance.randrange(12)}", chance.choice(ROOMS)
        match chance.randrange(6):
            case 0:
                await ledger.forget(key)
            case 1:
                await ledger.move_room(room, chance.choice(SPACES))
            case _:
                texts = [" ".join(chance.choices(WORDS, k=chance.randrange(1, 9))) for _ in range(chance.randrange(4))]
                await ledger.add(replace(doc(key, "one", *texts, room=room), space=chance.choice(SPACES)))
        await assert_equal(ledger)


async def test_a_reader_of_an_earlier_moment_finds_what_was_there(ledger: LedgerFixture) -> None:
    await ledger.add(doc("a", "ferry one", room="hall"))
    await ledger.add(doc("b", "ferry two", room="attic"))
    scope = await ledger.scope_ids()
    reading, changed = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def read(db: Connection) -> list[tuple[object, ...]]:
        Search(db).search_chunks("quiet", 1, scope)  # the snapshot begins
        loop.call_soon_threadsafe(reading.set)
        asyncio.run_coroutine_threadsafe(changed.wait(), loop).result()
        return look(db, scope)

    earlier = asyncio.create_task(ledger.ledger.read(read))
    await reading.wait()
    await ledger.add(doc("c", "ferry three", room="hall"))
    await ledger.forget("a")
    await assert_equal(ledger)
    changed.set()
    joined, located = await earlier
    assert located == joined


async def test_chunks_are_read_once_until_one_moves(ledger: LedgerFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    await ledger.add(doc("a", "ferry one", room="hall"))
    scope, read = await ledger.scope_ids(), []
    former = fts5_index._read_chunks

    def record(db: Connection, first: int) -> object:
        read.append(first)
        return former(db, first)

    monkeypatch.setattr(fts5_index, "_read_chunks", record)
    for change in (
        ledger.add(doc("b", "ferry two", room="hall")),
        ledger.forget("a"),
        ledger.move_room("hall", "there"),
    ):
        await ledger.read(Search.search_chunks, "ferry", 1, scope)
        await change
    await ledger.read(Search.search_chunks, "ferry", 1, scope)
    assert read == [1, 2, 3, 1]


async def test_a_chunk_that_moved_out_of_the_scope_is_not_found(ledger: LedgerFixture) -> None:
    await ledger.add(doc("a", "ferry one", room="hall"))
    scope = await ledger.scope_ids()
    assert (await ledger.read(Search.search_chunks, "ferry", 1, scope)).scores
    async with held_snapshot(ledger.ledger):
        await ledger.move_room("hall", "there")
        assert not (await ledger.read(Search.search_chunks, "ferry", 1, scope)).scores


async def test_a_read_that_fails_leaves_no_former_space_behind(
    ledger: LedgerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fts5_index, "READ_CHUNKS", 1)
    for key in "abc":
        await ledger.add(doc(key, f"ferry {key}", room="hall"))
    scope = await ledger.scope_ids()
    reading, failed = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def read(db: Connection) -> dict[int, float]:
        Search(db).resolve_scope(Scope.of("here"))  # the snapshot begins
        loop.call_soon_threadsafe(reading.set)
        asyncio.run_coroutine_threadsafe(failed.wait(), loop).result()
        return Search(db).search_chunks("ferry", 3, scope).scores

    earlier = asyncio.create_task(ledger.ledger.read(read))
    await reading.wait()
    await ledger.move_room("hall", "there")
    former = fts5_index._read_chunks

    def fail(db: Connection, first: int) -> Iterator[tuple[np.ndarray, fts5_index.ChunkColumns]]:
        yield next(former(db, first))
        raise MemoryError

    monkeypatch.setattr(fts5_index, "_read_chunks", fail)
    with pytest.raises(MemoryError):
        await ledger.read(Search.search_chunks, "ferry", 3, scope)
    monkeypatch.setattr(fts5_index, "_read_chunks", former)
    failed.set()
    assert len(await earlier) == 3
    assert not (await ledger.read(Search.search_chunks, "ferry", 3, scope)).scores
    assert len((await ledger.read(Search.search_chunks, "ferry", 3, await ledger.scope_ids(("there",)))).scores) == 3
