"""Rate limits of Slack calls, and the retry policies of all but downloads (see adapters.common.download).

Calls that may be repeated without harm are retried by the SDK's handlers. Writes wait for their turn in a rate
window and are repeated only if that cannot duplicate a message. History pages wait for as long as Slack asks.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, TypeVar

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
    AsyncServerErrorRetryHandler,
)

from adapters.slack.errors import retry_after_seconds
from bot.platform.sliding_window import SlidingWindow
from engine import backoff_seconds

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from slack_sdk.http_retry.async_handler import AsyncRetryHandler

Result = TypeVar("Result")

MAX_RATE_LIMIT_RETRIES = 5
MAX_RESPONSE_URL_RETRIES = 2
MAX_CONNECTION_RETRIES = 3
MAX_WRITE_ATTEMPTS = 6
MAX_PAGE_ATTEMPTS = 10
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 1.0, 16.0  # before a lost write is repeated; doubled after each attempt
SERVER_ERROR = 500


class RateLimits:
    """Rate limits of one workspace, shared by all its replies.

    chat.startStream, chat.stopStream: 20 a minute; chat.appendStream: 100; chat.update: 50; chat.postMessage: one a
    second in a channel (docs.slack.dev, rate limits). Appends and updates are spread over the minute. `urgent` calls
    remove text that must not stay visible, and do not queue behind others.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.clock = clock
        self.sleep = sleep
        self.starts = SlidingWindow(20, 60.0, clock, sleep)
        self.appends = SlidingWindow(16, 10.0, clock, sleep)
        self.stops = SlidingWindow(20, 60.0, clock, sleep)
        self.updates = SlidingWindow(8, 10.0, clock, sleep)
        self.urgent = SlidingWindow(8, 10.0, clock, sleep)
        self._posts: dict[str, SlidingWindow] = {}

    def posts(self, channel: str) -> SlidingWindow:
        """The limit for posts in a channel."""
        return self._posts.setdefault(channel, SlidingWindow(1, 1.05, self.clock, self.sleep))


def idempotent_handlers() -> list[AsyncRetryHandler]:
    """Retry rate limits, lost connections and server errors: for calls that may be repeated."""
    return [AsyncRateLimitErrorRetryHandler(max_retry_count=MAX_RATE_LIMIT_RETRIES), *history_handlers()]


def history_handlers() -> list[AsyncRetryHandler]:
    """Retry lost connections and server errors; the caller handles rate limits."""
    return [
        AsyncConnectionErrorRetryHandler(max_retry_count=MAX_CONNECTION_RETRIES),
        AsyncServerErrorRetryHandler(max_retry_count=MAX_CONNECTION_RETRIES),
    ]


def response_url_handlers() -> list[AsyncRetryHandler]:
    """Retry rate limits of a response URL."""
    return [AsyncRateLimitErrorRetryHandler(max_retry_count=MAX_RESPONSE_URL_RETRIES)]


def is_outcome_unknown(error: BaseException) -> bool:
    """Whether a failed call may have been carried out: there was no answer, or a server error."""
    if isinstance(error, SlackApiError):
        status = getattr(error.response, "status_code", 0) or getattr(error.response, "status", 0)
        return bool(status >= SERVER_ERROR)
    return isinstance(error, (aiohttp.ClientError, TimeoutError, SlackClientError))


async def call_in_turn(
    window: SlidingWindow, call: Callable[[], Awaitable[Result]], *, idempotent: bool = True
) -> Result:
    """Call in a turn of the rate window, and again whenever Slack asks to slow down.

    `idempotent`: the call is also repeated when its outcome is unknown. Raises what Slack refuses, and the last error
    once all attempts failed.
    """
    for attempt in range(1, MAX_WRITE_ATTEMPTS + 1):
        await window.acquire()
        try:
            return await call()
        except (SlackClientError, aiohttp.ClientError, TimeoutError) as error:
            wait = retry_after_seconds(error)
            if attempt == MAX_WRITE_ATTEMPTS or (wait is None and not (idempotent and is_outcome_unknown(error))):
                raise
            window.block(backoff_seconds(attempt, FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS) if wait is None else wait)
    raise AssertionError


async def call_when_allowed(call: Callable[[], Awaitable[Result]], on_rate_limit: Callable[[float], None]) -> Result:
    """Call, and again after each wait that Slack asks for. Reports the seconds of each wait to `on_rate_limit`."""
    for _ in range(MAX_PAGE_ATTEMPTS):
        try:
            return await call()
        except SlackApiError as error:
            wait = retry_after_seconds(error)
            if wait is None:
                raise
            on_rate_limit(wait)
            await asyncio.sleep(wait)
    return await call()
