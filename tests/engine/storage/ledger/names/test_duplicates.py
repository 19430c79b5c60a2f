from __future__ import annotations

from engine.storage.ledger.names.duplicates import Duplicates
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, extraction


async def test_many_pairs_are_saved_at_once_and_each_name_is_compared_once(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada", "Adah", "Adele", "Bob"))
    await ledger.project()
    await ledger.clear_stale()
    compared = await ledger.read(Duplicates.list_uncompared, 10)
    ids = sorted(entity.id for entity in compared)
    assert len(ids) == 4
    pairs = [
        (ids[0], ids[1], 0.4, 0.2),
        (ids[1], ids[0], 0.5, 0.25),
        (ids[2], ids[3], 0.75, 0.5),
        (ids[0], 10**6, 1.0, 1.0),
    ]
    await ledger.write(Duplicates.save_candidates, compared, pairs)
    found = await ledger.rows("SELECT a, b, similarity, score FROM duplicate_candidate ORDER BY a")
    assert found == [(ids[0], ids[1], 0.5, 0.25), (ids[2], ids[3], 0.75, 0.5)]
    assert await ledger.read(Duplicates.list_uncompared, 10) == []
