"""HTTP mode: notice that deliveries to a workspace were missed.

Unlike a socket, HTTP shows no lost connection. What was missed is noticed by late and repeated deliveries, and the
audiences of channels are compared with Slack at short intervals.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import structlog

from adapters.slack.context import NAME
from adapters.slack.events.listener import is_repeated
from engine.errors import EngineError
from engine.scheduling.supervisor import cancel_tasks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapters.slack.events.listener import WorkspaceListener
    from bot.bot import Bot

log = structlog.get_logger(__name__)

MAX_DELAY = 60.0  # seconds from an event to its delivery, beyond which others may be missing
MIN_REFRESH_SECONDS = 10.0  # between two comparisons of audiences; each lists all channels
# Seconds between two look-ups of all users, and between two comparisons of all channels with their messages.
USERS_INTERVAL, COMPARE_INTERVAL = 600.0, 3600.0
RECONCILE_INTERVAL = 30.0  # seconds between two reconciliations for missed events


def shows_missed_events(headers: Mapping[str, Any], body: Mapping[str, Any], now: float) -> bool:
    """Whether a delivery shows that Slack could not deliver for a while: it is repeated or late."""
    event_time = body.get("event_time")
    return is_repeated(headers) or (isinstance(event_time, int) and now - event_time > MAX_DELAY)


class DeliveryWatch:
    """Reconciles one workspace when deliveries were missed."""

    def __init__(self, bot: Bot, listener: WorkspaceListener, team: str) -> None:
        self._bot = bot
        self._listener = listener
        self._team = team
        self._interval = max(bot.settings.membership_cache_seconds, MIN_REFRESH_SECONDS)
        self._missed_event = asyncio.Event()
        self._tasks: tuple[asyncio.Task[None], ...] = ()

    def start(self) -> None:
        """Start to compare."""
        self._tasks = (
            self._bot.supervisor.run("slack missed deliveries", self._reconcile_missed),
            self._bot.supervisor.run("slack users", self._refresh_users),
            self._bot.supervisor.run("slack visibility", self._refresh_visibility),
        )

    async def close(self) -> None:
        """Stop."""
        await cancel_tasks(*self._tasks)

    async def inspect(self, headers: Mapping[str, Any], body: Mapping[str, Any]) -> None:
        """Suspend visibility, in all processes, if a delivery shows that events were missed, before it is handled."""
        if shows_missed_events(headers, body, self._bot.clock.time()):
            self._bot.suspend_visibility(NAME, self._team)
            self._listener.invalidate_users()
            self._missed_event.set()
            await self._bot.save_suspensions()

    async def _reconcile_missed(self) -> None:
        while True:
            await self._missed_event.wait()
            self._missed_event.clear()
            log.warning("slack.deliveries_missed", workspace=self._team)
            self._listener.handle_reconnect()
            await asyncio.sleep(RECONCILE_INTERVAL)

    async def _refresh_users(self) -> None:
        """Look users up again at long intervals; at short ones, see whether Slack answers."""
        looked_up_at = self._bot.clock.monotonic()
        while True:
            await asyncio.sleep(self._interval)
            if self._bot.clock.monotonic() - looked_up_at >= USERS_INTERVAL:
                looked_up_at = self._bot.clock.monotonic()
                self._listener.invalidate_users()
            await self._listener.check_api()

    async def _refresh_visibility(self) -> None:
        """Compare audiences at intervals, and messages at longer ones, unless another process does."""
        compared_at = self._bot.clock.monotonic()
        while True:
            await asyncio.sleep(self._interval)
            async with self._bot.processes.try_lease(f"{NAME} visibility {self._team}") as is_held:
                while is_held:
                    if self._bot.clock.monotonic() - compared_at >= COMPARE_INTERVAL:
                        compared_at = self._bot.clock.monotonic()
                        self._listener.handle_reconnect()
                    else:
                        with suppress(EngineError):  # the bot retries it
                            await self._bot.refresh_visibility(NAME, self._team)
                    await asyncio.sleep(self._interval)
