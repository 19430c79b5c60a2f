"""Rate limits of Slack calls, and the retry policies of all but downloads (see adapters.common.download).

Reads wait for as long as Slack asks, and are retried by the SDK's handlers after other failures. Writes wait for their
turn in a rate window and are repeated only if that cannot duplicate a message. Windows and waits are those of all
processes on a database.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
    AsyncServerErrorRetryHandler,
)

from adapters.common.sliding_window import SlidingWindow
from adapters.slack.context import NAME
from adapters.slack.errors import is_server_error, retry_after_seconds
from engine.errors import StoreError
from engine.scheduling.supervisor import backoff_seconds

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from slack_sdk.http_retry.async_handler import AsyncRetryHandler

    from engine import Clock
    from engine.scheduling.processes import CallLimits

log = structlog.get_logger(__name__)

Result = TypeVar("Result")

MAX_RATE_LIMIT_RETRIES = 5
MAX_RESPONSE_URL_RETRIES = 2
MAX_CONNECTION_RETRIES = 3
MAX_WRITE_ATTEMPTS = 6
MAX_PAGE_ATTEMPTS = 10
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 1.0, 16.0  # before a lost write is repeated; doubled after each attempt


class RateLimits:
    """Rate limits of one workspace, shared by all its replies, and by all processes if `shared` counts their calls.

    chat.startStream, chat.stopStream: 20 a minute; chat.appendStream: 100; chat.update: 50; chat.postMessage: one a
    second in a channel (docs.slack.dev, rate limits). Appends and updates are spread over the minute. `urgent` calls
    remove text that must not stay visible: they do not queue behind others, and wait for no database.
    """

    def __init__(
        self,
        clock: Clock,
        workspace: str = "",
        shared: CallLimits | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self.sleep = sleep

        def build_window(limit: int, span: float, name: str) -> SlidingWindow:
            named = f"{NAME} {workspace} {name}"
            return SlidingWindow(limit, span, clock, sleep, name=named, shared=shared)

        self.starts = build_window(20, 60.0, "chat.startStream")
        self.appends = build_window(16, 10.0, "chat.appendStream")
        self.stops = build_window(20, 60.0, "chat.stopStream")
        self.updates = build_window(8, 10.0, "chat.update")
        self.urgent = SlidingWindow(8, 10.0, clock, sleep)
        self._build_window = build_window
        self._posts: dict[str, SlidingWindow] = {}

    @property
    def clock(self) -> Clock:
        """The clock by which the limits are kept."""
        return self._clock

    def posts(self, channel: str) -> SlidingWindow:
        """The limit for posts in a channel."""
        if channel not in self._posts:
            self._posts[channel] = self._build_window(1, 1.05, f"chat.postMessage {channel}")
        return self._posts[channel]


class MethodPauses:
    """Methods that Slack does not answer for a while in a workspace, as this process knows or, with `shared`, any."""

    def __init__(self, workspace: str, shared: CallLimits | None, clock: Clock) -> None:
        self._workspace = workspace
        self._shared = shared
        self._clock = clock
        self._until: dict[str, float] = {}

    async def wait(self, method: str) -> None:
        """Wait until a method may be called."""
        while (seconds := await self._find(method)) > 0:  # noqa: ASYNC110 - the end of the wait is known
            await asyncio.sleep(seconds)

    async def add(self, method: str, seconds: float) -> None:
        """Let nobody call a method for as long as Slack asks."""
        self._until[method] = max(self._until.get(method, 0.0), self._clock.monotonic() + seconds)
        if self._shared is not None:
            try:
                await self._shared.pause(self._name(method), seconds)
            except StoreError as error:
                log.warning("rate_limit.pause_not_shared", error=type(error).__name__)

    async def _find(self, method: str) -> float:
        own = self._until.get(method, 0.0) - self._clock.monotonic()
        if own > 0 or self._shared is None:
            return own
        try:
            return await self._shared.find_pause(self._name(method))
        except StoreError as error:  # Slack itself refuses a read that comes too early
            log.warning("rate_limit.pauses_unknown", error=type(error).__name__)
            return 0.0

    def _name(self, method: str) -> str:
        return f"{NAME} {self._workspace} pause {method}"


def idempotent_handlers() -> list[AsyncRetryHandler]:
    """Retry rate limits, lost connections and server errors: for calls that may be repeated."""
    return [AsyncRateLimitErrorRetryHandler(max_retry_count=MAX_RATE_LIMIT_RETRIES), *read_handlers()]


def read_handlers() -> list[AsyncRetryHandler]:
    """Retry lost connections and server errors."""
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
        return is_server_error(error)
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
            if wait is None:
                window.block(backoff_seconds(attempt, FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS))
            else:
                await window.block_for_all(wait)
    raise AssertionError


async def call_when_allowed(call: Callable[[], Awaitable[Result]], on_rate_limit: Callable[[float], None]) -> Result:
    """Call by a client that waits as long as Slack asks, and again. Reports the seconds to `on_rate_limit`."""
    for _ in range(MAX_PAGE_ATTEMPTS):
        try:
            return await call()
        except SlackApiError as error:
            wait = retry_after_seconds(error)
            if wait is None:
                raise
            on_rate_limit(wait)
    return await call()
