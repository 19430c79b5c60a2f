from __future__ import annotations

import asyncio

import pytest

from engine.storage.ledger.work.settings import Embedders, Settings
from engine.storage.sql.connection import Connection
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture


async def test_a_transaction_reads_the_settings_that_it_wrote(ledger: LedgerFixture) -> None:
    await ledger.write(Settings.set, "kept", "before")

    def work(db: Connection) -> list[str]:
        settings = Settings(db)
        settings.set("new", 1)
        settings.set("kept", "after")
        found = [settings.get(key) for key in ("new", "kept", "none")]
        settings.delete(("new",))
        return [*found, settings.get("new")]

    assert await ledger.write(work) == ["1", "after", "", ""]
    assert [await ledger.read(Settings.get, key) for key in ("new", "kept")] == ["", "after"]


async def test_every_change_of_a_transaction_has_a_number_of_its_own(ledger: LedgerFixture) -> None:
    def work(db: Connection) -> list[int]:
        return [Settings(db).next_generation(), Settings(db).current_generation(), Settings(db).next_generation()]

    first, second = await asyncio.gather(ledger.write(work), ledger.write(work))  # they share a commit
    assert [first, second] == [[1, 1, 2], [3, 3, 4]]
    assert await ledger.read(Settings.current_generation) == 4


async def test_the_number_of_a_change_that_failed_is_given_again(ledger: LedgerFixture) -> None:
    def fail(db: Connection) -> None:
        Settings(db).next_generation()
        raise ValueError("on purpose")

    assert await ledger.write(Settings.next_generation) == 1
    with pytest.raises(ValueError, match="on purpose"):
        await ledger.write(fail)
    assert await ledger.write(Settings.next_generation) == 2


async def test_moves_of_chunks_are_counted(ledger: LedgerFixture) -> None:
    for number in (1, 2):
        await ledger.write(lambda db: Settings(db).count_chunk_move())
        assert await ledger.column("SELECT value FROM meta WHERE key = 'chunk_moves'") == [str(number)]


async def test_the_end_of_a_change_of_the_embedder_leaves_no_former_place(ledger: LedgerFixture) -> None:
    await ledger.write(Embedders.replace, "one", reindex=False)
    await ledger.write(Embedders.begin_change, "two")
    assert (await ledger.ledger.embedders.load_places()).former_embedder == "one"
    await ledger.write(Embedders.finish_change)
    places = await ledger.ledger.embedders.load_places()
    assert (places.present, places.former, places.former_embedder, places.changed_at) == (1, None, "", 0)
