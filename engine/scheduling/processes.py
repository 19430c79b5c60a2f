"""The processes that work on the same data: who runs, which named work belongs to whom, and wake-ups between them."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

LOCAL_PROCESS = 0  # the number of the only process on files


@dataclass(frozen=True, slots=True)
class RunningProcess:
    """A process that works on the data. `name`: its host and operating system id."""

    id: int
    name: str
    started_at: datetime


class Loss(asyncio.Event):
    """Set once a process has lost its registration; what still works for it is then told to stop."""

    def __init__(self) -> None:
        super().__init__()
        self._callbacks: list[Callable[[], object]] = []

    def on_set(self, callback: Callable[[], object]) -> None:
        """Call `callback` once this is set; at once if it is."""
        if self.is_set():
            callback()
        else:
            self._callbacks.append(callback)

    def set(self) -> None:
        """Wake all that wait, and call the callbacks; a second time has no effect."""
        super().set()
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()


class CallLimits(Protocol):
    """Calls of all processes to services that limit them; a window is what one limit counts."""

    async def take_turn(self, window: str, limit: int, span: float) -> float:
        """Count a call and return 0.0 if fewer than `limit` were counted within `span` seconds.

        Otherwise returns the seconds after which a turn may be free. Raises StoreError, soon if there is no answer.
        """

    async def pause(self, window: str, seconds: float) -> None:
        """Allow no calls for that long. Raises StoreError as `take_turn` does."""

    async def find_pause(self, window: str) -> float:
        """The seconds for which no calls are allowed, or 0.0. Raises StoreError as `take_turn` does."""


class Processes(Protocol):
    """All processes that work on the same data, as one of them sees them.

    `id` marks what it has claimed; it is never used again. `lost` is set when the others may take over its work: its
    writes fail from then on. `is_read_only`: whether the database takes no changes now. `taken_over`: ended processes
    whose work this one has freed. `call_limits`: None if this process counts its calls alone.
    """

    id: int
    lost: Loss
    is_read_only: bool
    taken_over: int
    call_limits: CallLimits | None

    def lease(self, name: str) -> AbstractAsyncContextManager[None]:
        """Wait for a named lease and hold it: one task of one process has it at a time. Raises StoreError."""

    def try_lease(self, name: str) -> AbstractAsyncContextManager[bool]:
        """Hold a named lease unless it is held already; gives whether it is held here. Raises StoreError."""

    async def list_leases(self, prefix: str) -> Mapping[str, int]:
        """The held leases whose names start with `prefix`, and the processes that hold them. Raises StoreError."""

    def subscribe(self, topic: str, wake: Callable[[], object]) -> None:
        """Call `wake` at every notification, and when the work of an ended process is free."""

    def unsubscribe(self, topic: str, wake: Callable[[], object]) -> None:
        """Undo `subscribe`."""

    def notify(self, topic: str) -> None:
        """Wake the subscribers of this process at once, and those of the others within moments.

        Call it after the commit of what they shall see. One may be lost: subscribers look from time to time, too.
        """

    async def list_running(self) -> list[RunningProcess]:
        """All processes, the oldest first. Raises StoreError."""


async def has_others(processes: Processes) -> bool:
    """Whether other processes work on the same data now."""
    return len(await processes.list_running()) > 1


class LocalLeases:
    """Locks by name between the tasks of this process; those that nobody uses are forgotten."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, name: str) -> asyncio.Lock:
        """The lock of this name."""
        return self._locks.setdefault(name, asyncio.Lock())

    def list_held(self) -> list[str]:
        """The names of the locks that are held."""
        return [name for name, lock in self._locks.items() if lock.locked()]


class Subscriptions:
    """Who is woken by which notification."""

    def __init__(self) -> None:
        self._wakes: defaultdict[str, list[Callable[[], object]]] = defaultdict(list)

    def add(self, topic: str, wake: Callable[[], object]) -> None:
        """Call `wake` at every notification of the topic."""
        self._wakes[topic].append(wake)

    def remove(self, topic: str, wake: Callable[[], object]) -> None:
        """Undo `add`."""
        self._wakes[topic].remove(wake)
        if not self._wakes[topic]:
            del self._wakes[topic]

    def wake(self, topic: str) -> None:
        """Wake the subscribers of a topic."""
        for wake in list(self._wakes.get(topic, ())):
            wake()

    def wake_all(self) -> None:
        """Wake the subscribers of all topics."""
        for topic in list(self._wakes):
            self.wake(topic)


class SignsOfLife:
    """The latest signs of life of other processes, with the times (of a monotonic clock) at which they were new.

    No clock but that of this process is trusted, and no time in which this process itself did not look: it was stopped
    then, perhaps like the others.
    """

    def __init__(self) -> None:
        self._latest: dict[int, tuple[object, float]] = {}
        self._looked_at = 0.0

    def list_silent(self, signs: Mapping[int, object], now: float, seconds: float) -> list[int]:
        """The processes whose sign has been the same for longer than some seconds. `signs`: by process.

        Called at short intervals; it starts over if the last call is longer ago than half of the seconds.
        """
        before = self._latest if now - self._looked_at <= seconds / 2 else {}
        self._looked_at = now
        self._latest = {
            id_: before[id_] if id_ in before and before[id_][0] == sign else (sign, now) for id_, sign in signs.items()
        }
        return [id_ for id_, (_, since) in self._latest.items() if now - since > seconds]


class LocalProcesses:
    """The only process: its data is in files, which it has locked."""

    def __init__(self) -> None:
        self.id = LOCAL_PROCESS
        self.lost = Loss()
        self.is_read_only = False
        self.taken_over = 0
        self.call_limits: CallLimits | None = None
        self._leases = LocalLeases()
        self._subscriptions = Subscriptions()

    @asynccontextmanager
    async def lease(self, name: str) -> AsyncIterator[None]:
        """Wait for a lock among the tasks of this process, and hold it."""
        async with self._leases.lock(name):
            yield

    @asynccontextmanager
    async def try_lease(self, name: str) -> AsyncIterator[bool]:
        """Hold a lock among the tasks of this process unless one holds it."""
        lock = self._leases.lock(name)
        if lock.locked():
            yield False
            return
        async with lock:
            yield True

    async def list_leases(self, prefix: str) -> Mapping[str, int]:
        """The locks whose names start with `prefix`; this process holds them."""
        return {name: self.id for name in self._leases.list_held() if name.startswith(prefix)}

    def subscribe(self, topic: str, wake: Callable[[], object]) -> None:
        """Call `wake` at every notification."""
        self._subscriptions.add(topic, wake)

    def unsubscribe(self, topic: str, wake: Callable[[], object]) -> None:
        """Undo `subscribe`."""
        self._subscriptions.remove(topic, wake)

    def notify(self, topic: str) -> None:
        """Wake the subscribers."""
        self._subscriptions.wake(topic)

    async def list_running(self) -> list[RunningProcess]:
        """Count nothing: processes are only counted where there may be several."""
        return []
