"""Transactions of a ledger, the same in every database."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engine.errors import StoreError
from engine.storage.ledger.repositories import SqlCache
from engine.storage.ledger.work import work_queue
from engine.storage.sql.connection import Connection
from engine.storage.sql.repository import SnapshotDatabase
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture
from tests.support.engine_fixture import HERE, doc
from tests.support.patience import PATIENCE


async def put(ledger: LedgerFixture, key: str, value: Any) -> None:
    await ledger.write(work_queue.set_setting, key, value)


async def get(ledger: LedgerFixture, key: str) -> str:
    return str(await ledger.read(work_queue.get_setting, key))


async def fail_after_writing(db: Connection) -> None:
    await work_queue.set_setting(db, "half", "written")
    raise ValueError("on purpose")


async def test_of_writes_that_are_committed_together_a_failing_one_fails_alone(ledger: LedgerFixture) -> None:
    outcomes = await asyncio.gather(
        put(ledger, "a", 1), ledger.write(fail_after_writing), put(ledger, "b", 2), return_exceptions=True
    )
    assert [type(each) for each in outcomes] == [type(None), ValueError, type(None)]
    assert [await get(ledger, key) for key in ("a", "b", "half")] == ["1", "2", ""]


async def test_a_reader_sees_one_snapshot_while_others_write(ledger: LedgerFixture) -> None:
    await put(ledger, "n", 1)
    async with ledger.ledger.read_connection() as db:
        assert await work_queue.get_setting(db, "n") == "1"
        await put(ledger, "n", 2)
        assert await work_queue.get_setting(db, "n") == "1"
        with pytest.raises(TypeError, match="snapshot"):
            await SqlCache(SnapshotDatabase(db)).touch_answer(b"key", 0.0)
    assert await get(ledger, "n") == "2"
    await ledger.add(doc("a", "Ada met Bob."))
    async with ledger.ledger.snapshot() as view:
        assert len(await view.stats.list_documents(HERE)) == 1
        await ledger.add(doc("b", "Bob met Cyd."))
        assert len(await view.stats.list_documents(HERE)) == 1
    assert len(await ledger.ledger.stats.list_documents(HERE)) == 2


async def test_a_cancelled_write_harms_no_other(ledger: LedgerFixture) -> None:
    first, second = asyncio.create_task(put(ledger, "a", 1)), asyncio.create_task(put(ledger, "b", 2))
    await asyncio.sleep(0)
    first.cancel()
    await second
    assert await get(ledger, "b") == "2"


async def test_closing_finishes_the_writes_that_wait_and_refuses_later_ones(ledger: LedgerFixture) -> None:
    writing = [asyncio.create_task(put(ledger, f"k{n}", n)) for n in range(5)]
    await asyncio.sleep(0)
    await ledger.ledger.close()
    await asyncio.gather(*writing)
    with pytest.raises(StoreError, match="closed"):
        await asyncio.wait_for(put(ledger, "late", 1), PATIENCE)


async def test_cancelled_readers_give_their_connections_back(ledger: LedgerFixture) -> None:
    async def hold() -> None:
        async with ledger.ledger.read_connection() as db:
            await work_queue.get_setting(db, "n")
            await asyncio.Event().wait()

    for _ in range(4):
        holding = [asyncio.create_task(hold()) for _ in range(5)]
        await asyncio.sleep(0.01)
        for task in holding:
            task.cancel()
        await asyncio.gather(*holding, return_exceptions=True)
    assert await asyncio.wait_for(get(ledger, "n"), PATIENCE) == ""
