"""Searches for words by a copy in memory find and score what the server finds, whoever changed it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest

from engine.clock import SYSTEM_CLOCK
from engine.options import WORD_CACHE_BYTES
from engine.storage.ledger.postgres.ledger import PostgresLedger
from engine.storage.ledger.postgres.word_copy import copies, source
from engine.storage.ledger.queries.search import Search
from engine.storage.ledger.records.projection import KeyKind
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction
from tests.support.engine_fixture import doc
from tests.support.patience import PATIENCE

QUESTIONS = ("ferry harbor", "sail", "is_open 港の船", "nothing", "ferry number3 sail harbor", "Häfen der Fischer")


@asynccontextmanager
async def open_ledger(url: str, word_cache_bytes: int = 0) -> AsyncIterator[LedgerFixture]:
    opened = await PostgresLedger.open(url, clock=SYSTEM_CLOCK, word_cache_bytes=word_cache_bytes)
    yield LedgerFixture(opened)
    await opened.close()


async def load(ledger: LedgerFixture) -> None:
    """Wait until both indexes are in memory."""
    opened = ledger.ledger
    assert isinstance(opened, PostgresLedger)
    assert opened._words is not None
    scope = await ledger.scope_ids()
    async with asyncio.timeout(PATIENCE):
        while any(opened._words[kind]._arrays is None for kind in copies.KINDS):
            await ledger.read(Search.search_chunks, "ferry", 1, scope)
            await ledger.read(Search.search_entities, "ferry", 1, scope)


async def assert_equal(copied: LedgerFixture, server: LedgerFixture) -> None:
    """Both find the same with the same scores, in several scopes."""
    for spaces, rooms in ((("here",), ()), (("here", "there"), ()), ((), ("attic",)), (("there",), ("attic",))):
        scope = await server.scope_ids(spaces, rooms)
        for question in QUESTIONS:
            searches = [
                [
                    await each.read(Search.search_chunks, question, 5, scope),
                    await each.read(Search.search_entities, question, 5, scope),
                    await each.read(Search.find_unknown_words, question, scope),
                ]
                for each in (copied, server)
            ]
            assert searches[0] == searches[1]


async def test_every_change_of_another_process_is_in_the_next_search(postgres_ledger_url: str) -> None:
    async with open_ledger(postgres_ledger_url, WORD_CACHE_BYTES) as copied, open_ledger(postgres_ledger_url) as other:
        await load(copied)
        for number in range(9):
            text = f"ferry {'harbor ' * (number % 4)} is_open number{number} {'sail ' * (number % 3)} 港の船"
            await other.add(doc(f"d{number}", text, space="there" if number % 3 else "here"))
        await other.add(doc("e", "a sail in the attic", room="attic"))
        await other.add(doc("g", "Der Hafen ist für die Boote des Fischers und der anderen Leute offen."))
        assert (await copied.read(Search.search_chunks, "Häfen", 5, await copied.scope_ids())).scores
        await other.add_facts("f", extraction("Ferry Harbor", "Sail Ferry"))
        await other.project()
        await assert_equal(copied, other)
        await other.forget("d3")
        await assert_equal(copied, other)
        await other.move_room("room of there", "here")
        await assert_equal(copied, other)
        await other.forget("f")
        await other.project()
        await assert_equal(copied, other)
        assert isinstance(copied.ledger, PostgresLedger)
        assert copied.ledger._words is not None
        assert all(copied.ledger._words[kind]._arrays is not None for kind in copies.KINDS)
    async with open_ledger(postgres_ledger_url, WORD_CACHE_BYTES) as copied, open_ledger(postgres_ledger_url) as other:
        await load(copied)
        await assert_equal(copied, other)


async def test_a_transaction_that_ends_later_than_a_younger_one_is_seen(postgres_ledger_url: str) -> None:
    async with open_ledger(postgres_ledger_url, WORD_CACHE_BYTES) as copied:
        for number in range(3):
            await copied.add(doc(f"d{number}", f"ferry {number}"))
        await load(copied)
        ids = dict(await copied.rows("SELECT d.key, c.id FROM chunk c JOIN document d ON d.id = c.document"))
        scope, delete = await copied.scope_ids(), "DELETE FROM threadlore_ledger.chunk WHERE id = %s"
        options = {"options": "-c search_path=threadlore_ledger,public"}
        with (
            psycopg.connect(postgres_ledger_url, **options) as slow,  # type: ignore[arg-type]
            psycopg.connect(postgres_ledger_url, **options) as fast,  # type: ignore[arg-type]
        ):
            # A deletion of this kind would hold locks that the other one waits for.
            slow.execute("INSERT INTO search_change VALUES (0, pg_current_xact_id(), ARRAY[%s])", (ids["d0"],))
            fast.execute(delete, (ids["d2"],))
            fast.commit()
            assert set((await copied.read(Search.search_chunks, "ferry", 5, scope)).scores) == {ids["d0"], ids["d1"]}
            slow.execute(delete, (ids["d0"],))
            slow.commit()
        assert set((await copied.read(Search.search_chunks, "ferry", 5, scope)).scores) == {ids["d1"]}


@pytest.mark.share(3)
@pytest.mark.parametrize("cause", ["too many", "no longer logged", "emptied"])
async def test_a_copy_that_cannot_follow_is_loaded_again(
    postgres_ledger_url: str, monkeypatch: pytest.MonkeyPatch, cause: str
) -> None:
    async with open_ledger(postgres_ledger_url, WORD_CACHE_BYTES) as copied, open_ledger(postgres_ledger_url) as other:
        await load(copied)
        for number in range(3):
            await other.add(doc(f"d{number}", f"ferry {number}"))
        if cause == "too many":
            monkeypatch.setattr(copies, "MAX_READ", 2)
        elif cause == "emptied":
            await other.execute("INSERT INTO search_change VALUES (0, pg_current_xact_id(), NULL)")
        else:
            await other.execute("DELETE FROM search_change")
            assert isinstance(copied.ledger, PostgresLedger)
            assert copied.ledger._words is not None
            copy = copied.ledger._words[KeyKind.CHUNK]
            [[early]] = await other.rows("SELECT now() - interval '61 minutes'")
            copy._seen = copy._seen._replace(at=early)
        await assert_equal(copied, other)
        await load(copied)
        await assert_equal(copied, other)


@pytest.mark.long
async def test_an_index_that_does_not_fit_is_searched_by_the_server(postgres_ledger_url: str) -> None:
    async with open_ledger(postgres_ledger_url, 1) as copied, open_ledger(postgres_ledger_url) as other:
        await other.add(doc("a", "ferry harbor"))
        async with asyncio.timeout(PATIENCE):
            assert isinstance(copied.ledger, PostgresLedger)
            assert copied.ledger._words is not None
            while not copied.ledger._words[KeyKind.CHUNK]._is_too_large:
                await assert_equal(copied, other)
        await assert_equal(copied, other)


async def test_rows_do_not_move_to_other_pages_while_they_are_loaded(
    postgres_ledger_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "BLOCK_PAGES", 1)
    async with open_ledger(postgres_ledger_url, WORD_CACHE_BYTES) as copied, open_ledger(postgres_ledger_url) as other:
        for number in range(60):
            await other.add(doc(f"d{number}", f"ferry {number} " + "harbor sail " * 40))
        await other.execute("DELETE FROM chunk WHERE id % 2 = 0")
        assert isinstance(copied.ledger, PostgresLedger)
        with psycopg.connect(postgres_ledger_url, autocommit=True) as rewriting:
            rewriting.execute("SET lock_timeout = '100ms'")
            read = source._read
            failures = list[str]()

            def rewrite_between(*arguments: Any) -> Any:
                try:
                    rewriting.execute("VACUUM (FULL) threadlore_ledger.chunk")
                except psycopg.errors.LockNotAvailable as error:
                    failures.append(str(error))
                return read(*arguments)

            monkeypatch.setattr(source, "_read", rewrite_between)
            await load(copied)
        assert failures
        await assert_equal(copied, other)
