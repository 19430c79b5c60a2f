from __future__ import annotations

from engine.storage.ledger.records.projection import KeyKind, SpaceTurn, StaleKey
from engine.storage.ledger.work.claims import Claims, StaleKeys
from engine.storage.ledger.work.settings import Settings
from tests.engine.storage.ledger.ledger_fixture import NOW, LedgerFixture


async def mark(ledger: LedgerFixture, *ids: int, kind: KeyKind = KeyKind.NAME) -> int:
    generation = await ledger.ledger.write(Settings.next_generation)
    await ledger.write(StaleKeys.add, kind, ids, generation)
    return generation


async def due(ledger: LedgerFixture, limit: int = 9) -> list[StaleKey]:
    found = await ledger.ledger.read(Claims.claim_profiles, limit, NOW, SpaceTurn())
    return [key for key in found.keys if key.kind == KeyKind.NAME]


async def due_ids(ledger: LedgerFixture) -> list[int]:
    return [key.id for key in await due(ledger)]


async def remove(ledger: LedgerFixture, keys: list[StaleKey]) -> None:
    await ledger.write(StaleKeys.remove, keys)


async def test_the_oldest_marks_come_first_and_kinds_are_apart(ledger: LedgerFixture) -> None:
    generations = [await mark(ledger, 5), await mark(ledger, 3), await mark(ledger, 4, kind=KeyKind.PAIR)]
    assert generations == sorted(set(generations))
    assert await due_ids(ledger) == [5, 3]
    marked = {(KeyKind.NAME, 5), (KeyKind.NAME, 3), (KeyKind.PAIR, 4)}
    assert set(await ledger.read(StaleKeys.list_all)) == marked
    assert await ledger.read(StaleKeys.find, KeyKind.NAME, [5, 2]) == [StaleKey(KeyKind.NAME, 5, generations[0])]
    await remove(ledger, await due(ledger, 1))
    assert await due_ids(ledger) == [3]


async def test_a_mark_that_was_set_again_survives_its_removal(ledger: LedgerFixture) -> None:
    first = await mark(ledger, 1)
    await mark(ledger, 1)
    assert await ledger.read(StaleKeys.find_first) == first
    found = await due(ledger)
    newest = await mark(ledger, 1)
    await remove(ledger, found)
    assert await due(ledger) == [StaleKey(KeyKind.NAME, 1, newest)]
    assert first < (await ledger.read(StaleKeys.find_first) or 0) <= newest


async def test_a_held_mark_waits_until_it_is_released_but_still_counts_as_stale(ledger: LedgerFixture) -> None:
    generation = await mark(ledger, 1)
    await ledger.write(StaleKeys.hold, [StaleKey(KeyKind.NAME, 1, generation)])
    assert await due_ids(ledger) == []
    assert await ledger.read(StaleKeys.find_first) == generation
    await ledger.write(StaleKeys.release_held)
    assert await due_ids(ledger) == [1]
