"""Transactions of a ledger, the same in every database."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from engine.errors import StoreError
from engine.storage.ledger import LedgerView
from engine.storage.ledger.work.settings import Settings
from engine.storage.sql.connection import Connection
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture
from tests.support.engine_fixture import HERE, doc
from tests.support.patience import PATIENCE


async def put(ledger: LedgerFixture, key: str, value: Any) -> None:
    await ledger.write(Settings.set, key, value)


async def get(ledger: LedgerFixture, key: str) -> str:
    return str(await ledger.read(Settings.get, key))


def fail_after_writing(db: Connection) -> None:
    Settings(db).set("half", "written")
    raise ValueError("on purpose")


async def test_of_writes_that_are_committed_together_a_failing_one_fails_alone(ledger: LedgerFixture) -> None:
    outcomes = await asyncio.gather(
        put(ledger, "a", 1), ledger.write(fail_after_writing), put(ledger, "b", 2), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [type(None), ValueError, type(None)]
    assert [await get(ledger, key) for key in ("a", "b", "half")] == ["1", "2", ""]


async def test_a_reader_sees_one_snapshot_while_others_write(ledger: LedgerFixture) -> None:
    await put(ledger, "n", 1)
    async with ledger.ledger.stream_connection() as db:
        assert await db.run(lambda plain: Settings(plain).get("n")) == "1"
        await put(ledger, "n", 2)
        assert await db.run(lambda plain: Settings(plain).get("n")) == "1"
    assert await get(ledger, "n") == "2"


async def test_a_snapshot_cannot_be_written_to(ledger: LedgerFixture) -> None:
    with pytest.raises(StoreError):
        await ledger.ledger.snapshot(lambda view: view.settings.set("n", 1))
    with pytest.raises(StoreError):
        await ledger.ledger.read(Settings.set, "n", 1)
    assert await get(ledger, "n") == ""


async def test_several_reads_see_one_snapshot(ledger: LedgerFixture) -> None:
    await ledger.add(doc("a", "Ada met Bob."))
    loop = asyncio.get_running_loop()

    def count_twice(view: LedgerView) -> tuple[int, int]:
        before = len(view.stats.list_documents(HERE))
        asyncio.run_coroutine_threadsafe(ledger.add(doc("b", "Bob met Cyd.")), loop).result(PATIENCE)
        return before, len(view.stats.list_documents(HERE))

    assert await ledger.ledger.snapshot(count_twice) == (1, 1)
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
    ending = threading.Event()

    def hold(db: Connection) -> None:
        Settings(db).get("n")
        ending.wait()

    for _ in range(4):
        holding = [asyncio.create_task(ledger.ledger.read(hold)) for _ in range(5)]
        await asyncio.sleep(0.01)
        for task in holding:
            task.cancel()
        await asyncio.gather(*holding, return_exceptions=True)
    ending.set()
    assert await asyncio.wait_for(get(ledger, "n"), PATIENCE) == ""
