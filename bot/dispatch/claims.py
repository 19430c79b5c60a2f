"""Which stored events this process takes: those that it can handle and no other process has, in a bounded number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.store.event_queue import TOPIC, EventClaim

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bot.store.event_queue import EventQueueTable, QueuedEvent
    from engine import Clock
    from engine.scheduling.processes import Processes

MAX_HELD = 128  # events that wait or are handled: with an ordering key, and without one
POLL_INTERVAL = 60 * 60.0  # seconds between two reads of the table without a new event
SHARED_POLL_INTERVAL = 1.0  # the same where several processes share the table


class EventClaims:
    """The events that this process holds. `serves`: whether it can handle those of a workspace now.

    `wake` is called when there is something to take. Workspaces take turns.
    """

    def __init__(
        self,
        rows: EventQueueTable,
        processes: Processes,
        serves: Callable[[str], bool],
        clock: Clock,
        wake: Callable[[], object],
    ) -> None:
        self._rows = rows
        self._processes = processes
        self._serves = serves
        self._clock = clock
        self._wake = wake
        self._ordering_keys: dict[int, str] = {}  # by the ids of the events that are held
        self._last_workspace = ""
        self._has_more = False
        self._is_leaving = False
        self._looked_at = clock.time()
        processes.subscribe(TOPIC, wake)

    async def take(self) -> Sequence[QueuedEvent]:
        """Take free events, beginning after the workspace that came last; the caller holds each."""
        self._looked_at = now = self._clock.time()
        ordered = sum(map(bool, self._ordering_keys.values()))
        limits = MAX_HELD - ordered, MAX_HELD - len(self._ordering_keys) + ordered
        self._has_more = max(limits) <= 0
        if self._is_leaving or self._has_more:
            return ()
        found = [workspace for workspace in await self._rows.list_workspaces() if self._serves(workspace)]
        found.sort(key=lambda each: (each <= self._last_workspace, each))
        if not found:
            return ()
        workspaces = found[: max(limits)]
        self._last_workspace = workspaces[-1]
        rows = await self._rows.claim(EventClaim(workspaces, list(self._ordering_keys), *limits, now))
        self._has_more = len(rows) >= min(limits) or len(found) > len(workspaces)
        return rows

    def hold(self, id_: int, ordering_key: str = "") -> None:
        """Record that an event is being handled."""
        self._ordering_keys[id_] = ordering_key

    def release(self, id_: int) -> None:
        """Hold an event no longer: it was handled, or it may be taken again."""
        self._ordering_keys.pop(id_, None)
        if self._has_more and len(self._ordering_keys) <= MAX_HELD // 2:
            self._wake()

    def announce(self, workspace: str) -> None:
        """Take a new event of a workspace soon; if this process cannot, wake the others."""
        self._wake()
        if self._is_leaving or self._has_more or not self._serves(workspace):
            self._processes.notify(TOPIC)

    def leave_to_others(self) -> None:
        """Take no further events, because this process is about to end; only if others can go on."""
        self._is_leaving = bool(self._processes.id)
        self._processes.notify(TOPIC)

    async def seconds_until_due(self) -> float:
        """Seconds until the table is read again without a new event; 0.0 if one became due since events were taken."""
        due = await self._rows.get_next_due(self._looked_at)
        longest = SHARED_POLL_INTERVAL if self._processes.id else POLL_INTERVAL
        return longest if due is None else max(0.0, min(longest, due - self._clock.time()))
