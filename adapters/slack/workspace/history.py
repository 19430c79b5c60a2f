"""What was said in a channel before: pages of messages with their threads, at the pace that Slack allows."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import structlog
from slack_sdk.errors import SlackApiError

from adapters.slack.api.errors import Missing, code, slowed, told
from adapters.slack.events.messages import message, tombstone
from bot.errors import PlatformError, Withheld
from bot.platform.ports import Listing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from slack_sdk.web.async_client import AsyncWebClient
    from slack_sdk.web.async_slack_response import AsyncSlackResponse

    from adapters.slack.identity import Us
    from bot.platform.models import Message, Place

    Row = Mapping[str, Any]

log = structlog.get_logger(__name__)

PAGE, SMALL = 200, 15
SLOW = 30.0  # seconds to wait, from which on Slack is taken to allow one request a minute of 15 messages each
ATTEMPTS = 10
OLDER = 3  # pages behind the limit in which threads are looked for that were continued since
WIDER = 4  # times as much of a thread that is asked for next, if its end was not long enough


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

    async def newest(self, place: Place, limit: int) -> Listing:
        """The newest messages of a thread. Raises PlatformError, also if the thread may only be hidden."""
        try:
            said, whole = await self._end(place, limit)
        except Missing:
            await self._surely_gone(place.channel, place.thread)
            return Listing(there=False)
        return Listing(said[-limit:], whole=whole and len(said) <= limit)

    async def one(self, place: Place, ts: str) -> Message | None:
        """A message as it is now; None if it was deleted. Raises PlatformError, also if it may only be hidden."""
        root = place.thread or ts
        try:
            page = await self._page(place.channel, root, oldest=ts if ts != root else "", limit=SMALL)
            rows = page.get("messages") or [row async for row in self._replies(place.channel, root)]
        except Missing:
            await self._surely_gone(place.channel, root)
            return None
        row = next((row for row in rows if row.get("ts") == ts), None)
        if row is None and (ts == root or not rows or page.get("is_limited")):
            raise PlatformError("Slack does not say whether the message is there.")
        if row is None or tombstone(row):
            return None
        said = message(row, place.main, self._us)
        if said is None:
            raise PlatformError("This is no message that somebody wrote.")
        return said

    async def _surely_gone(self, channel: str, ts: str) -> None:
        """Make sure that a message which Slack does not know was deleted: a free plan hides what is old, too.

        Raises Withheld if it may be hidden: then Slack shows nothing that is as old.
        """
        page = await self._asked(
            lambda: self._client.conversations_history(channel=channel, latest=ts, inclusive=True, limit=1)
        )
        rows = page.get("messages") or ()
        if any(row.get("ts") == ts for row in rows):
            raise PlatformError("Slack knows a message only at times.")
        if not rows and page.get("is_limited"):
            raise Withheld("The plan of this workspace hides what is that old.")

    async def _end(self, place: Place, limit: int) -> tuple[list[Message], bool]:
        """So many messages of a thread or more, oldest first, up to its end, and whether that is all of it.

        Slack gives the oldest first. Of a long thread only so much is asked for as will hold the newest ones.
        """
        channel, root = place.channel, place.thread
        page = await self._page(channel, root)
        rows, cursor = list(page.get("messages") or ()), _cursor(page)
        if cursor and rows:
            count, last = int(rows[0].get("reply_count") or 0), float(rows[0].get("latest_reply") or root)
            share = 2 * limit / max(count, 1)
            while share < 1.0:
                oldest = f"{last - share * (last - float(root)):.6f}"
                end = [row async for row in self._replies(channel, root, oldest=oldest) if row.get("ts") != root]
                if len(said := self._said(place, end)) >= limit:
                    return said, False
                share *= WIDER
            rows += [row async for row in self._replies(channel, root, cursor=cursor)]
        return self._said(place, rows), True

    def _said(self, place: Place, rows: Iterable[Row]) -> list[Message]:
        """What people said, each message once, oldest first: Slack may repeat the root of a thread on every page."""
        once = {str(row.get("ts")): row for row in rows}
        said = (message(once[ts], place.main, self._us) for ts in sorted(once))
        return [each for each in said if each is not None]

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
            rows += [row async for row in self._replies(place.channel, ts, oldest=start) if str(row.get("ts")) != ts]
        said = [message(row, place.main, self._us) for row in rows if str(row.get("ts")) >= start]
        return sorted((each for each in said if each is not None), key=lambda each: each.id, reverse=True)

    async def _replies(self, channel: str, root: str, *, oldest: str = "", cursor: str = "") -> AsyncIterator[Row]:
        """The messages of a thread from a time on, or from a page on."""
        while True:
            page = await self._page(channel, root, oldest=oldest, cursor=cursor)
            for row in page.get("messages") or ():
                yield row
            if not (cursor := _cursor(page)):
                return

    async def _page(
        self, channel: str, root: str, *, oldest: str = "", cursor: str = "", limit: int = 0
    ) -> AsyncSlackResponse:
        return await self._asked(
            lambda: self._client.conversations_replies(
                channel=channel,
                ts=root,
                oldest=oldest or None,
                inclusive=True,
                cursor=cursor or None,
                limit=limit or self._size,
            )
        )

    async def _asked(self, call: Callable[[], Awaitable[AsyncSlackResponse]]) -> AsyncSlackResponse:
        """Call, and wait as long as Slack asks; where it allows little, ask for little, and then for more again."""
        with told():
            for _ in range(ATTEMPTS):
                try:
                    found = await call()
                except SlackApiError as error:
                    wait = slowed(error)
                    if wait is None:
                        raise
                    self._size = SMALL if wait >= SLOW else self._size
                    log.info("slowed_down", error=code(error), seconds=wait)
                    await asyncio.sleep(wait)
                else:
                    self._size = min(PAGE, 2 * self._size)
                    return found
            return await call()


def _cursor(page: AsyncSlackResponse) -> str:
    """Where the next page begins; empty if there is none."""
    return str((page.get("response_metadata") or {}).get("next_cursor") or "")
