"""What a process takes of the event queue, and when it looks again."""

from __future__ import annotations

from bot.dispatch.claims import EventClaims
from bot.store import BotStore
from bot.store.event_queue import NewEvent
from engine.scheduling.processes import LocalProcesses
from tests.support.clock import ManualClock


async def test_an_event_that_becomes_due_while_the_queue_is_read_does_not_wait(store: BotStore) -> None:
    clock = ManualClock()
    now = clock.time()
    claims = EventClaims(store.event_queue, LocalProcesses(), lambda _: True, clock, lambda: None)
    assert await store.event_queue.enqueue(NewEvent("Heard", "{}", "slack:T1", "roof"), [], now)
    await store.event_queue.delay(1, now + 0.01, "StoreError", 1)
    assert list(await claims.take()) == []
    clock.advance(0.02)
    assert await claims.seconds_until_due() == 0.0
    assert [each.id for each in await claims.take()] == [1]
