"""What processes on one database tell each other about audiences, and which spaces are suspended until it is known.

Only shared spaces, those of open channels, can contain something that a reader of the space may not read. The space of
a single room contains that room alone, and its readers are looked up again. So only shared spaces are suspended.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from bot.permissions import audience
from engine import Scope
from engine.errors import DatabaseLost, EngineClosed, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from bot.platform.models import Location
    from bot.store.shared.visibility import SharedVisibility
    from engine import Clock


log = structlog.get_logger(__name__)

RETRY_SECONDS = 1.0  # before a suspension that could not be saved is saved again
POLL_SECONDS = 0.25  # between two looks at the suspensions of other processes
LocationKey = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The beginning of a comparison of audiences: it ends the suspensions up to that time and up to that number."""

    time: float
    number: int = 0


class SharedAudiences:
    """Keeps the caches of this process as fresh as those of the others. Without `table`, there are no others.

    `invalidate` drops what is cached of a location whose audience changed.
    """

    def __init__(
        self,
        table: SharedVisibility | None,
        suspensions: VisibilitySuspensions,
        invalidate: Callable[[Location, bool], None],
    ) -> None:
        self._table = table
        self._suspensions = suspensions
        self._invalidate = invalidate
        self._seen: int | None = None  # the number of the latest change that was read
        self._started_reads = self._applied_read = 0
        self._saving: set[asyncio.Task[None]] = set()
        self._wanted: set[tuple[str, str]] = set()  # platform and workspace

    async def synchronize(self) -> None:
        """Apply what other processes reported until now. Raises StoreError: then nothing cached may be trusted."""
        if self._table is None:
            return
        self._started_reads = number = self._started_reads + 1
        saved = self._suspensions.list_saved()
        state = await self._table.read(self._seen or 0)
        for location, members_only in state.changes if self._seen is not None else ():
            self._invalidate(location, members_only)
        self._seen = max(self._seen or 0, state.number)
        if number > self._applied_read:  # another read may have overtaken this one
            self._applied_read = number
            self._suspensions.replace_shared(state.suspended, saved)

    async def wait_until_resumed(self, location: Location, seconds: float) -> None:
        """Wait until nothing is suspended in a location's workspace, up to a limit in seconds. Raises StoreError."""
        if self._suspensions.is_suspended(location.platform, location.workspace):
            self._wanted.add((location.platform, location.workspace))
        timer = asyncio.get_running_loop()  # the wait is real, also where a test sets the clock
        until = timer.time() + seconds
        while self._suspensions.is_suspended(location.platform, location.workspace) and timer.time() < until:
            left = until - timer.time()
            await self._suspensions.wait_for_update(left if self._table is None else min(left, POLL_SECONDS))
            await self.synchronize()

    def list_wanted(self, platform: str) -> set[str]:
        """The workspaces of a platform whose audience somebody waited for, and that are still suspended."""
        self._wanted = {row for row in self._wanted if self._suspensions.is_suspended(*row)}
        return {workspace for each, workspace in self._wanted if each == platform}

    async def record_change(self, location: Location, *, members_only: bool) -> None:
        """Record that an audience changed; durable when it returns."""
        if self._table is not None:
            await self._table.record_change(location, members_only=members_only)

    def record_saved(self, location: Location, at: float) -> None:
        """Record that a suspension of that time was stored with its event."""
        if self._table is not None:
            self._suspensions.record_saved(location, at)

    def save_suspension(self, location: Location, at: float) -> None:
        """Suspend a location for all processes, too; retried until it is stored. `wait_until_saved` waits for that."""
        if self._table is not None:
            task = asyncio.ensure_future(self._save(self._table, location, at))
            self._saving.add(task)
            task.add_done_callback(self._saving.discard)

    async def wait_until_saved(self) -> None:
        """Wait until the suspensions so far hold for all processes; they are stored even if the wait is cancelled.

        Raises the error of one that cannot be stored.
        """
        if self._saving:
            saved, _ = await asyncio.wait(self._saving)
            for task in saved:
                task.result()

    async def begin_comparison(self, at: float) -> Comparison:
        """Begin to compare audiences with the platform, at this time (seconds of a monotonic clock)."""
        if self._table is None:
            return Comparison(at)
        await self.wait_until_saved()
        number = await self._table.get_last_suspension()
        await self.synchronize()  # drops what was cached before these suspensions; changes from now on are noticed
        return Comparison(at, number)

    async def end_comparison(self, location: Location, comparison: Comparison) -> None:
        """End the suspensions of a location that was compared."""
        self._suspensions.resume(location, comparison.time)
        if self._table is not None:
            await self._table.resume(location, comparison.number)
            await self.synchronize()

    async def list_abandoned(self) -> list[Location]:
        """The suspensions that no process ends."""
        return [] if self._table is None else await self._table.list_abandoned()

    async def _save(self, table: SharedVisibility, location: Location, at: float) -> None:
        while True:
            try:
                await table.suspend(location)
            except (EngineClosed, DatabaseLost):
                return  # this process ends, and handles nothing more
            except StoreError as error:
                log.warning("audience.suspension_not_saved", error=type(error).__name__)
                await asyncio.sleep(RETRY_SECONDS)
            else:
                self._suspensions.record_saved(location, at)
                return


def location_key(location: Location) -> LocationKey:
    """The key of a channel, a workspace or a platform."""
    if location.channel:
        return location.platform, location.workspace, location.channel
    return (location.platform, location.workspace) if location.workspace else (location.platform,)


class VisibilitySuspensions:
    """The suspensions of this process with their monotonic times, and those that the database holds for all processes.

    A location includes everything within it.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._active: list[tuple[LocationKey, float]] = []
        self._saved: list[tuple[LocationKey, float]] = []
        self._shared: list[LocationKey] = []
        self._updated = asyncio.Event()

    def suspend(self, location: Location) -> float:
        """Suspend a location. Returns the time of the suspension."""
        now = self._clock.monotonic()
        self._active.append((location_key(location), now))
        return now

    def cancel(self, location: Location, time: float) -> None:
        """Cancel the suspension of that time; earlier ones stay."""
        with suppress(ValueError):  # it may have ended already
            self._active.remove((location_key(location), time))
        self._updated.set()

    def resume(self, location: Location, since: float) -> None:
        """End the suspensions until that time, of a location and everything within it."""
        key = location_key(location)
        self._active = [(each, at) for each, at in self._active if each[: len(key)] != key or at > since]
        self._updated.set()

    def record_saved(self, location: Location, time: float) -> None:
        """Record that the database holds the suspension of that time, too."""
        self._saved.append((location_key(location), time))

    def list_saved(self) -> list[tuple[LocationKey, float]]:
        """The suspensions that the database holds; a state that is read from now on contains them."""
        return list(self._saved)

    def replace_shared(self, locations: Iterable[Location], saved: Collection[tuple[LocationKey, float]]) -> None:
        """Use the suspensions that the database holds, instead of the former ones and of those `saved` before."""
        self._shared = [location_key(location) for location in locations]
        self._saved = [row for row in self._saved if row not in saved]
        self._active = [row for row in self._active if row not in saved]
        self._updated.set()

    def is_suspended(self, platform: str, workspace: str) -> bool:
        """Whether the shared spaces of a workspace are suspended; of any of the platform, if it is empty."""
        wide = (platform, workspace) if workspace else (platform,)
        keys = (*(key for key, _ in self._active), *self._shared)
        return any(key[: len(wide)] == wide[: len(key)] for key in keys)

    async def wait_for_update(self, seconds: float) -> None:
        """Wait until a suspension ended, up to a limit in seconds."""
        self._updated.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._updated.wait()

    def remove_suspended(self, scope: Scope) -> Scope:
        """A scope without suspended spaces."""
        shared = {
            space
            for space in scope.spaces
            if (found := audience.parse_workspace_space(space)) and self.is_suspended(*found)
        }
        return Scope(scope.spaces - shared, scope.rooms) if shared else scope
