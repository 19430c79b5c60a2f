"""Several reads as of one moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.storage.ledger import Ledger
from engine.storage.ledger.repositories import SqliteCache
from engine.storage.sqlite.repository import SnapshotDatabase
from tests.engine.storage.ledger.ledger_fixture import Desk
from tests.support.engine_fixture import HERE, doc

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_snapshot_does_not_see_later_writes(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "ledger.db")
    desk = Desk(ledger)
    await desk.put(doc("a", "Ada met Bob."))
    async with ledger.snapshot() as view:
        assert len(await view.stats.list_documents(HERE)) == 1
        await desk.put(doc("b", "Bob met Cyd."))
        assert len(await view.stats.list_documents(HERE)) == 1
    assert len(await ledger.stats.list_documents(HERE)) == 2
    await ledger.close()


async def test_a_snapshot_cannot_be_written_to(tmp_path: Path) -> None:
    ledger = await Ledger.open(tmp_path / "ledger.db")
    async with ledger.read_connection() as connection:
        with pytest.raises(TypeError, match="snapshot"):
            await SqliteCache(SnapshotDatabase(connection)).touch_answer(b"key", 0.0)
    await ledger.close()
