"""What was said in a channel before: pages of messages with their threads, at the pace that Slack allows."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import structlog
from slack_sdk.errors import SlackApiError

from adapters.slack.errors import Missing, code, slowed, told
from adapters.slack.messages import message, tombstone
from bot.errors import PlatformError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
    from datetime import datetime

    from slack_sdk.web.async_client import AsyncWebClient
    from slack_sdk.web.async_slack_response import AsyncSlackResponse

    from adapters.slack.identity import Us
    from bot.chat import Message, Place

    Row = Mapping[str, Any]

log = structlog.get_logger(__name__)

PAGE, SMALL = 200, 15
SLOW = 30.0  # seconds to wait, from which on Slack is taken to allow one request a minute of 15 messages each
ATTEMPTS = 10
OLDER = 3  # pages behind the limit in which threads are looked for that were continued since
THREAD_PAGES = 20


class History:
    """Reads channels. `client` must not repeat a call by itself when Slack asks to slow down."""

    def __init__(self, client: AsyncWebClient, us: Us) -> None:
        self._client = client
        self._us = us
        self._size = PAGE

    async def pages(self, place: Place, since: datetime, before: str) -> AsyncIterator[Sequence[Message]]:
        """Pages of messages, newest first: the replies of a thread, then its root. Raises PlatformError.

        Threads that began somewhat before `since` give the replies that came later.
        """
        start, latest = f"{since.timestamp():.6f}", before
        behind = 0
        while True:
            rows, more = await self._roots(place.channel, latest)
            fresh = [row for row in rows if str(row.get("ts")) >= start]
            older = [row for row in rows if str(row.get("ts")) < start and str(row.get("latest_reply") or "") >= start]
            page = [said for row in [*fresh, *older] for said in await self._thread(place, row, start)]
            if page:
                yield page
            behind += len(fresh) < len(rows)
            if not more or behind > OLDER:
                return
            latest = min(str(row.get("ts")) for row in rows)

    async def newest(self, place: Place, limit: int) -> Sequence[Message]:
        """The newest messages of a thread, oldest first; none if it was deleted. Raises PlatformError."""
        said = (message(row, place.main, self._us) for row in await self._whole(place.channel, place.thread))
        return [each for each in said if each is not None][-limit:]

    async def one(self, place: Place, ts: str) -> Message | None:
        """A message as it is now; None if it was deleted. Raises PlatformError."""
        rows = await self._whole(place.channel, place.thread or ts)
        row = next((row for row in rows if row.get("ts") == ts), None)
        if row is None and len(rows) >= THREAD_PAGES * SMALL:
            raise PlatformError("The thread is too long to be sure.")
        if row is None or tombstone(row):
            return None
        said = message(row, place.main, self._us)
        if said is None:
            raise PlatformError("This is no message that somebody wrote.")
        return said

    async def _whole(self, channel: str, root: str) -> list[Row]:
        """A thread with its root; nothing if Slack does not know it."""
        try:
            return [row async for row in self._replies(channel, root)]
        except Missing:
            return []

    async def _roots(self, channel: str, latest: str) -> tuple[Sequence[Row], bool]:
        """The messages of a channel before one of them, newest first, and whether there are more."""
        found = await self._asked(
            lambda: self._client.conversations_history(
                channel=channel, latest=latest or None, inclusive=False, limit=self._size
            )
        )
        rows = sorted(found.get("messages") or (), key=lambda row: str(row.get("ts")), reverse=True)
        return rows, bool(rows and found.get("has_more"))

    async def _thread(self, place: Place, root: Row, start: str) -> list[Message]:
        """A message, behind the replies to it."""
        rows = [root]
        if root.get("reply_count") and str(root.get("latest_reply") or start) >= start:
            ts = str(root.get("ts"))
            rows += [row async for row in self._replies(place.channel, ts) if str(row.get("ts")) != ts]
        said = [message(row, place.main, self._us) for row in rows if str(row.get("ts")) >= start]
        return sorted((each for each in said if each is not None), key=lambda each: each.id, reverse=True)

    async def _replies(self, channel: str, root: str) -> AsyncIterator[Row]:
        cursor = ""
        for _ in range(THREAD_PAGES):
            page = await self._asked(
                lambda after=cursor: self._client.conversations_replies(  # type: ignore[misc]
                    channel=channel, ts=root, cursor=after or None, limit=self._size
                )
            )
            for row in page.get("messages") or ():
                yield row
            cursor = str((page.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                return

    async def _asked(self, call: Callable[[], Awaitable[AsyncSlackResponse]]) -> AsyncSlackResponse:
        """Call, and wait as long as Slack asks; where it allows little, ask for little."""
        with told():
            for _ in range(ATTEMPTS):
                try:
                    return await call()
                except SlackApiError as error:
                    wait = slowed(error)
                    if wait is None:
                        raise
                    self._size = SMALL if wait >= SLOW else self._size
                    log.info("slowed_down", error=code(error), seconds=wait)
                    await asyncio.sleep(wait)
            return await call()
