"""Tell people privately of messages and files that they wait for, each once for each standing request."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

import structlog

from bot.answers.watches.matching import WatchMatcher
from bot.answers.watches.telling import WatchTeller
from bot.errors import ChannelGone, PermissionDenied, SetupError, WorkspaceGone
from engine.scheduling.supervisor import backoff_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bot.context import BotContext
    from bot.store.schedules.watches import Watch, WatchCandidate, WatchNotice
    from engine import Source

log = structlog.get_logger(__name__)

POLL_SECONDS = 5.0
MAX_COMPARED = 200  # messages at once
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 5.0, 3600.0  # after failures to tell one person, before the next try
QUIET_SECONDS, MAX_WAIT_SECONDS = 20.0, 300.0  # after the last and the first message of a burst, before it is told


class WatchNotifier:
    """Compares new messages and files with standing requests, and tells what was found; it goes on after a restart."""

    def __init__(self, context: BotContext) -> None:
        self._context = context
        self._store = context.store
        self._matcher = WatchMatcher(context.engine_context.engine, context.store)
        self._teller = WatchTeller(context, self._matcher)
        self._failures: dict[str, tuple[int, datetime]] = {}  # by watch: how many, and when to try again

    async def run(self) -> None:
        """Tell people of new messages about what they watch, until cancelled.

        One process at a time does, each for the workspaces that it serves.
        """
        while True:
            if await self._has_work():
                async with self._context.engine_context.engine.processes.try_lease("watches") as is_held:
                    if is_held:
                        await self.run_due()
            await asyncio.sleep(POLL_SECONDS)

    async def run_due(self) -> None:
        """Compare what is noted, and tell what is due."""
        await self.compare()
        await self.tell()

    async def compare(self) -> None:
        """Compare the noted messages and files with the standing requests of their workspaces."""
        watches = await self._store.watches.list_all()
        for candidate in await self._store.watches.list_candidates(MAX_COMPARED):
            place = await self._matcher.find_workspace(candidate.room)
            if place is None or self._context.serves(place):
                await self._compare(candidate, [watch for watch in watches if place and watch.is_about(place)])

    async def tell(self) -> None:
        """Tell what waited long enough; what cannot be told now is told later."""
        watches = {watch.id: watch for watch in await self._store.watches.list_all()}
        for id_, group in groupby(await self._store.watches.list_waiting(), key=attrgetter("watch")):
            watch, notices = watches.get(id_), list(group)
            if watch is None or not self._context.serves(watch.place) or self._is_paused(watch):
                continue
            if self._is_due(notices):
                await self._tell(watch, notices)

    async def _has_work(self) -> bool:
        store = self._store.watches
        return bool(await store.list_candidates(1)) or bool(await store.list_waiting())

    async def _compare(self, candidate: WatchCandidate, watches: Sequence[Watch]) -> None:
        record, now = await self._matcher.find_record(candidate), self._context.clock.now()
        if record is not None and not record.is_applied:
            return  # its text is not stored yet
        found = dict[str, list["Source"]]()
        if record is not None and record.document:
            waiting = [watch for watch in watches if watch.person != record.author and record.time >= watch.created_at]
            found = await self._matcher.find(record, waiting) if waiting else {}
        await self._store.watches.finish_candidate(candidate.room, candidate.message, found, now)

    async def _tell(self, watch: Watch, notices: Sequence[WatchNotice]) -> None:
        begun = next((notice.answer for notice in notices if notice.answer), "")
        chosen = [notice for notice in notices if notice.answer == begun]
        try:
            await self._teller.tell(watch, chosen)
            self._failures.pop(watch.id, None)
        except (ChannelGone, WorkspaceGone):
            log.warning("watch.ended", workspace=watch.workspace)
            await self._store.watches.delete([watch.id])
        except Exception as error:  # noqa: BLE001 - one person who cannot be told must not hold up the others
            await self._handle_failure(watch, chosen, error)

    async def _handle_failure(self, watch: Watch, notices: Sequence[WatchNotice], error: Exception) -> None:
        """Give up on a person who accepts no direct messages; try others again after a growing pause."""
        if isinstance(error, PermissionDenied) and not isinstance(error, SetupError):
            log.warning("watch.refused", workspace=watch.workspace, error=type(error).__name__)
            self._failures.pop(watch.id, None)
            await self._store.watches.finish_telling(notices, "dropped")
            return
        tries = self._failures[watch.id][0] + 1 if watch.id in self._failures else 1
        pause = backoff_seconds(tries, FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS)
        self._failures[watch.id] = tries, self._context.clock.now() + timedelta(seconds=pause)
        log.warning("watch.postponed", error=type(error).__name__, tries=tries)

    def _is_paused(self, watch: Watch) -> bool:
        """Whether the last attempt to tell of a standing request failed a short time ago."""
        return watch.id in self._failures and self._context.clock.now() < self._failures[watch.id][1]

    def _is_due(self, notices: Sequence[WatchNotice]) -> bool:
        """Whether a burst of messages is over, or takes long, or its message was begun before."""
        now: datetime = self._context.clock.now()
        times = [notice.found_at for notice in notices]
        is_quiet = (now - max(times)).total_seconds() >= QUIET_SECONDS
        return is_quiet or (now - min(times)).total_seconds() >= MAX_WAIT_SECONDS or any(e.answer for e in notices)
