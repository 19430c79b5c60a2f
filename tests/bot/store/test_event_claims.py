"""Events are claimed by one process at a time, in order, and fairly; those of an ended process are free again."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from bot.store import BotStore
from bot.store.event_queue import EventClaim, EventQueueTable, NewEvent

NUMBERS = count(1)


async def register(store: BotStore, place: Path | str) -> EventQueueTable:
    """The table as a process sees it that shares the database."""
    sql = "INSERT INTO threadlore_process.process (name) VALUES ('test') RETURNING id"
    [(id_,)] = await store._database.execute(sql) if isinstance(place, str) else [(next(NUMBERS),)]
    return EventQueueTable(store._database, id_)


async def enqueue(store: BotStore, *ordering_keys: str, workspace: str = "slack:T1") -> None:
    for key in ordering_keys:
        assert await store.event_queue.enqueue(NewEvent("Heard", "{}", workspace, key), [], 1000.0)


async def take(table: EventQueueTable, *held: int, limit: int = 10, now: float = 1000.0) -> list[int]:
    found = await table.claim(EventClaim(await table.list_workspaces(), held, limit, limit, now))
    return [each.id for each in found]


async def test_no_two_processes_have_the_same_event_or_events_of_the_same_key(
    store: BotStore, place: Path | str
) -> None:
    one, other = [await register(store, place) for _ in range(2)]
    await enqueue(store, "roof", "hall", "", "roof")
    assert await take(one, limit=1) == [1, 3]
    assert await take(other) == [2]
    assert await take(one, 1, 3) == [4]
    await one.finish(1)
    assert await take(other, 2) == []
    await one.finish(4)
    await enqueue(store, "roof")
    assert await take(other, 2) == [5]


async def test_what_a_process_claimed_but_does_not_hold_it_may_take_again(store: BotStore, place: Path | str) -> None:
    one, other = [await register(store, place) for _ in range(2)]
    await enqueue(store, "roof")
    assert await take(one) == [1]
    assert [await take(one), await take(one, 1), await take(other)] == [[1], [], []]


async def test_a_delayed_event_is_free_for_every_process_once_it_is_due(store: BotStore, place: Path | str) -> None:
    one, other = [await register(store, place) for _ in range(2)]
    await enqueue(store, "roof", "roof")
    assert await take(one) == [1, 2]
    await one.delay(1, 1060.0, "PlatformError", 1)
    assert await one.get_next_due(1000.0) == 1060.0
    await one.finish(2)
    assert [await take(other), await take(other, now=1060.0)] == [[], [1]]
    await other.delay(1, 1120.0, "PlatformError", 2)
    await one.make_due(1060.0)
    assert await take(one, now=1060.0) == [1]


async def test_workspaces_take_turns(store: BotStore, place: Path | str) -> None:
    table = await register(store, place)
    await enqueue(store, *["roof"] * 5)
    await enqueue(store, *["attic"] * 5, workspace="slack:T2")
    await enqueue(store, "", "", workspace="discord:G1")
    assert await table.list_workspaces() == ["discord:G1", "slack:T1", "slack:T2"]
    assert await take(table, limit=4) == [1, 2, 6, 7, 11, 12]
    assert await take(store.event_queue, *range(1, 13)) == []


async def test_what_an_ended_process_had_claimed_is_free(store: BotStore, place: Path | str) -> None:
    if not isinstance(place, str):
        pytest.skip("one process works on a file")
    one, other = [await register(store, place) for _ in range(2)]
    await enqueue(store, "roof", "")
    assert await take(one) == [1, 2]
    await store._database.execute("DELETE FROM threadlore_process.process WHERE id = ?", (one._process,))
    assert await take(other) == [1, 2]


async def test_the_oldest_unhandled_event_of_each_workspace_is_known(store: BotStore) -> None:
    for at, workspace in ((5.0, "slack:T1"), (2.0, "slack:T1"), (3.0, "slack:T2")):
        await store.event_queue.enqueue(NewEvent("Heard", "{}", workspace, ""), [], at)
    assert await store.event_queue.find_ages(10.0) == {"slack:T1": 8.0, "slack:T2": 7.0}
    await store.event_queue.finish(2)
    await store.event_queue.finish(3)
    assert await store.event_queue.find_ages(10.0) == {"slack:T1": 5.0}
