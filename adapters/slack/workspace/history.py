"""Fetch channel history, threads and single messages at the rate that Slack allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import structlog

from adapters.slack.errors import MessageNotFound, map_errors, next_cursor
from adapters.slack.retries import call_when_allowed
from adapters.slack.workspace.messages import is_tombstone, parse_message
from bot.errors import PermissionDenied, PlatformError
from bot.platform.ports import ThreadPage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from slack_sdk.web.async_client import AsyncWebClient
    from slack_sdk.web.async_slack_response import AsyncSlackResponse

    from adapters.slack.context import BotIdentity
    from bot.platform.models import Location, Message

    Row = Mapping[str, Any]

log = structlog.get_logger(__name__)

PAGE_SIZE, SMALL_PAGE_SIZE = 200, 15
SLOW_RETRY_AFTER = 30.0  # seconds; a longer wait means a limit of one request per minute and 15 messages
EXTRA_PAGES = 3  # pages before `since` searched for threads with later replies
WIDENING_FACTOR = 4  # growth of the requested part of a thread if its end had too few messages


class ChannelHistory:
    """Reads channels. `client` must not retry rate-limited calls by itself."""

    def __init__(self, client: AsyncWebClient, identity: BotIdentity) -> None:
        self._client = client
        self._identity = identity
        self._page_size = PAGE_SIZE

    async def fetch_pages(self, location: Location, since: datetime, before: str) -> AsyncIterator[Sequence[Message]]:
        """Yield pages of messages, newest first: the replies of a thread, then its root. Raises PlatformError.

        Threads that started shortly before `since` yield their later replies.
        """
        start, latest = f"{since.timestamp():.6f}", before
        pages_before_start = 0
        while True:
            rows, has_more = await self._fetch_roots(location.channel, latest)
            fresh = [row for row in rows if str(row.get("ts")) >= start]
            older = [row for row in rows if str(row.get("ts")) < start and str(row.get("latest_reply") or "") >= start]
            page = [
                messages
                for row in [*fresh, *older]
                for messages in await self._fetch_with_replies(location, row, start)
            ]
            if page:
                yield page
            pages_before_start += len(fresh) < len(rows)
            if not has_more or pages_before_start > EXTRA_PAGES:
                return
            latest = min(str(row.get("ts")) for row in rows)

    async def fetch_thread(self, location: Location, limit: int) -> ThreadPage:
        """Fetch the newest messages of a thread. Raises PlatformError, also if the thread may only be hidden."""
        try:
            messages, is_complete = await self._fetch_thread_end(location, limit)
        except MessageNotFound:
            await self._confirm_deleted(location.channel, location.thread)
            return ThreadPage(thread_exists=False)
        return ThreadPage(messages[-limit:], is_complete=is_complete and len(messages) <= limit)

    async def fetch_message(self, location: Location, ts: str) -> Message | None:
        """Fetch a message; None if it was deleted. Raises PlatformError, also if it may only be hidden."""
        root = location.thread or ts
        try:
            page = await self._fetch_replies_page(
                location.channel, root, oldest=ts if ts != root else "", limit=SMALL_PAGE_SIZE
            )
            rows = page.get("messages") or [row async for row in self._iterate_replies(location.channel, root)]
        except MessageNotFound:
            await self._confirm_deleted(location.channel, root)
            return None
        row = next((row for row in rows if row.get("ts") == ts), None)
        if row is None and (ts == root or not rows or page.get("is_limited")):
            raise PlatformError("Slack does not report whether the message exists.")
        if row is None or is_tombstone(row):
            return None
        messages = parse_message(row, location.without_thread, self._identity)
        if messages is None:
            raise PlatformError("This is not a message that a person or an app wrote.")
        return messages

    async def _confirm_deleted(self, channel: str, ts: str) -> None:
        """Check that a message that Slack cannot find was deleted: a free plan also hides old messages.

        Raises PermissionDenied if it may be hidden: then Slack shows no message of that age.
        """
        page = await self._call_with_retries(
            lambda: self._client.conversations_history(channel=channel, latest=ts, inclusive=True, limit=1)
        )
        rows = page.get("messages") or ()
        if any(row.get("ts") == ts for row in rows):
            raise PlatformError("Slack contradicts itself about whether the message exists.")
        if not rows and page.get("is_limited"):
            raise PermissionDenied("The plan of this workspace hides messages of that age.")

    async def _fetch_thread_end(self, location: Location, limit: int) -> tuple[list[Message], bool]:
        """Fetch at least the newest `limit` messages of a thread, oldest first, and whether that is the whole thread.

        Slack pages threads from their oldest message, so the start of the newest part of a long thread is estimated.
        """
        channel, root = location.channel, location.thread
        page = await self._fetch_replies_page(channel, root)
        rows, cursor = list(page.get("messages") or ()), next_cursor(page)
        if cursor and rows:
            count, last = int(rows[0].get("reply_count") or 0), float(rows[0].get("latest_reply") or root)
            share = 2 * limit / max(count, 1)
            while share < 1.0:
                oldest = f"{last - share * (last - float(root)):.6f}"
                end = [
                    row async for row in self._iterate_replies(channel, root, oldest=oldest) if row.get("ts") != root
                ]
                if len(messages := self._parse_messages(location, end)) >= limit:
                    return messages, False
                share *= WIDENING_FACTOR
            rows += [row async for row in self._iterate_replies(channel, root, cursor=cursor)]
        return self._parse_messages(location, rows), True

    def _parse_messages(self, location: Location, rows: Iterable[Row]) -> list[Message]:
        """Parse rows, oldest first and each once: Slack may repeat the root of a thread on every page."""
        rows_by_ts = {str(row.get("ts")): row for row in rows}
        messages = (parse_message(rows_by_ts[ts], location.without_thread, self._identity) for ts in sorted(rows_by_ts))
        return [message for message in messages if message is not None]

    async def _fetch_roots(self, channel: str, latest: str) -> tuple[Sequence[Row], bool]:
        """Fetch the messages of a channel before `latest`, newest first, and whether there are more."""
        found = await self._call_with_retries(
            lambda: self._client.conversations_history(
                channel=channel, latest=latest or None, inclusive=False, limit=self._page_size
            )
        )
        rows = sorted(found.get("messages") or (), key=lambda row: str(row.get("ts")), reverse=True)
        return rows, bool(rows and found.get("has_more"))

    async def _fetch_with_replies(self, location: Location, root: Row, start: str) -> list[Message]:
        """Fetch a message preceded by its replies, newest first."""
        rows = [root]
        if root.get("reply_count") and str(root.get("latest_reply") or start) >= start:
            ts = str(root.get("ts"))
            rows += [
                row
                async for row in self._iterate_replies(location.channel, ts, oldest=start)
                if str(row.get("ts")) != ts
            ]
        messages = [
            parse_message(row, location.without_thread, self._identity) for row in rows if str(row.get("ts")) >= start
        ]
        return sorted(
            (message for message in messages if message is not None), key=lambda message: message.id, reverse=True
        )

    async def _iterate_replies(
        self, channel: str, root: str, *, oldest: str = "", cursor: str = ""
    ) -> AsyncIterator[Row]:
        """Iterate over the rows of a thread from a time or a page on."""
        while True:
            page = await self._fetch_replies_page(channel, root, oldest=oldest, cursor=cursor)
            for row in page.get("messages") or ():
                yield row
            if not (cursor := next_cursor(page)):
                return

    async def _fetch_replies_page(
        self, channel: str, root: str, *, oldest: str = "", cursor: str = "", limit: int = 0
    ) -> AsyncSlackResponse:
        return await self._call_with_retries(
            lambda: self._client.conversations_replies(
                channel=channel,
                ts=root,
                oldest=oldest or None,
                inclusive=True,
                cursor=cursor or None,
                limit=limit or self._page_size,
            )
        )

    async def _call_with_retries(self, call: Callable[[], Awaitable[AsyncSlackResponse]]) -> AsyncSlackResponse:
        """Fetch a page; ask for small pages after a long wait, and for larger ones again after each success."""
        with map_errors():
            response = await call_when_allowed(call, self._handle_rate_limit)
        self._page_size = min(PAGE_SIZE, 2 * self._page_size)
        return response

    def _handle_rate_limit(self, wait: float) -> None:
        log.info("slack.history_rate_limited", delay_seconds=wait)
        if wait >= SLOW_RETRY_AFTER:
            self._page_size = SMALL_PAGE_SIZE
