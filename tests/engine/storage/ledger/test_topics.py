"""Topics: on a database their methods are transactions, on a connection parts of one."""

from __future__ import annotations

import pytest

from engine.storage.ledger.work.settings import Settings
from engine.storage.sql.connection import Connection
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, only_sqlite


@only_sqlite
async def test_a_method_on_a_database_is_a_transaction_of_its_own(ledger: LedgerFixture) -> None:
    settings = ledger.ledger.settings
    await settings.set("a", 1)
    assert await settings.get("a") == "1"


@only_sqlite
async def test_methods_on_a_connection_are_written_together_or_not_at_all(ledger: LedgerFixture) -> None:
    def write(db: Connection, *, fails: bool) -> int:
        settings = Settings(db)
        settings.set("a", 1)
        if fails:
            raise ValueError("on purpose")
        settings.set("b", settings.get("a"))
        return settings.next_generation()

    with pytest.raises(ValueError, match="purpose"):
        await ledger.ledger.write(write, fails=True)
    assert await ledger.ledger.settings.get("a") == ""
    assert await ledger.ledger.write(write, fails=False) == 1
    assert [await ledger.ledger.settings.get(key) for key in "ab"] == ["1", "1"]


@only_sqlite
async def test_a_method_of_a_class_is_a_function_of_a_connection(ledger: LedgerFixture) -> None:
    await ledger.ledger.write(Settings.set, "a", 1)
    assert await ledger.ledger.read(Settings.get, "a") == "1"


@only_sqlite
async def test_a_view_has_every_topic_without_awaiting(ledger: LedgerFixture) -> None:
    await ledger.ledger.settings.set("a", 1)
    assert await ledger.ledger.snapshot(lambda view: (view.settings.get("a"), view.stats.list_nodes())) == ("1", [])
