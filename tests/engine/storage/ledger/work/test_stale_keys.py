from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger.records.projection import KeyKind, StaleKey
from engine.storage.ledger.work import stale_keys

if TYPE_CHECKING:
    from tests.engine.storage.ledger.ledger_fixture import Desk


async def set_marks(desk: Desk, *ids: int, kind: KeyKind = KeyKind.NAME) -> int:
    generation = await desk.ledger.write(stale_keys.next_generation)
    await desk.ledger.write(stale_keys.add_stale_keys, kind, ids, generation)
    return generation


async def test_generations_only_grow(desk: Desk) -> None:
    made = [await desk.ledger.write(stale_keys.next_generation) for _ in range(3)]
    assert made == sorted(set(made))


async def test_a_mark_that_was_worked_on_goes(desk: Desk) -> None:
    await set_marks(desk, 1, 2)
    found = await desk.ledger.read(stale_keys.list_due_keys, KeyKind.NAME, 1)
    await desk.ledger.write(stale_keys.remove_stale_keys, found)
    assert [each.id for each in await desk.ledger.read(stale_keys.list_due_keys, KeyKind.NAME, 9)] == [2]


async def test_a_mark_set_again_meanwhile_survives(desk: Desk) -> None:
    await set_marks(desk, 1)
    found = await desk.ledger.read(stale_keys.list_due_keys, KeyKind.NAME, 9)
    newer = await set_marks(desk, 1)
    await desk.ledger.write(stale_keys.remove_stale_keys, found)
    assert await desk.ledger.read(stale_keys.list_due_keys, KeyKind.NAME, 9) == [StaleKey(KeyKind.NAME, 1, newer)]


async def test_since_is_the_first_change_and_moves_on_when_that_was_worked_on(desk: Desk) -> None:
    first = await set_marks(desk, 1)
    await set_marks(desk, 1)
    assert await desk.ledger.read(stale_keys.find_first_stale) == first
    found = await desk.ledger.read(stale_keys.list_due_keys, KeyKind.NAME, 9)
    newest = await set_marks(desk, 1)
    await desk.ledger.write(stale_keys.remove_stale_keys, found)
    assert first < (await desk.ledger.read(stale_keys.find_first_stale) or 0) <= newest


async def test_the_oldest_marks_come_first_and_kinds_are_apart(desk: Desk) -> None:
    await set_marks(desk, 5)
    await set_marks(desk, 3)
    await set_marks(desk, 4, kind=KeyKind.PAIR)
    assert [each.id for each in await desk.ledger.read(stale_keys.list_due_keys, KeyKind.NAME, 9)] == [5, 3]
    assert set(await desk.ledger.read(stale_keys.list_all_stale)) == {
        (KeyKind.NAME, 5),
        (KeyKind.NAME, 3),
        (KeyKind.PAIR, 4),
    }


async def test_a_held_mark_waits_until_it_is_released_but_still_counts_as_stale(desk: Desk) -> None:
    generation = await set_marks(desk, 1)
    await desk.ledger.write(stale_keys.hold_keys, [StaleKey(KeyKind.NAME, 1, generation)])
    assert await desk.ledger.read(stale_keys.list_due_keys, KeyKind.NAME, 9) == []
    assert await desk.ledger.read(stale_keys.find_first_stale) == generation
    await desk.ledger.write(stale_keys.release_held_keys)
    assert [each.id for each in await desk.ledger.read(stale_keys.list_due_keys, KeyKind.NAME, 9)] == [1]


async def test_marks_of_keys_that_have_none_are_absent(desk: Desk) -> None:
    generation = await set_marks(desk, 1)
    assert await desk.ledger.read(stale_keys.find_stale_keys, KeyKind.NAME, [1, 2]) == [
        StaleKey(KeyKind.NAME, 1, generation)
    ]
    assert await desk.ledger.read(stale_keys.find_first_stale) is not None
