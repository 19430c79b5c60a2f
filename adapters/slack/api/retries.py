"""Calls that wait for their turn, and are made again where that does no harm."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from adapters.slack.api.errors import retry_after_seconds

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from adapters.slack.api.rate_limits import SlidingWindow

Result = TypeVar("Result")

MAX_ATTEMPTS = 6
INITIAL_PAUSE = 1.0  # seconds before a call that was lost is made again; doubled each time
MAX_PAUSE = 16.0


def is_outcome_unknown(error: BaseException) -> bool:
    """Whether nobody knows if a call was done: no answer came, or one that says nothing."""
    if isinstance(error, SlackApiError):
        status = getattr(error.response, "status_code", 0) or getattr(error.response, "status", 0)
        return bool(status >= 500)
    return isinstance(error, (aiohttp.ClientError, TimeoutError, SlackClientError))


async def call_in_turn(window: SlidingWindow, call: Callable[[], Awaitable[Result]], *, again: bool = True) -> Result:
    """What a call gives, made in its turn, and later if Slack asks to slow down.

    `again`: it may be made twice without harm, so a call that was lost is repeated. Raises what Slack refuses, and
    at last what went wrong with each attempt.
    """
    pause = INITIAL_PAUSE
    for attempt in range(1, MAX_ATTEMPTS + 1):
        await window.acquire()
        try:
            return await call()
        except (SlackClientError, aiohttp.ClientError, TimeoutError) as error:
            wait = retry_after_seconds(error)
            if attempt == MAX_ATTEMPTS or (wait is None and not (again and is_outcome_unknown(error))):
                raise
            window.block(pause if wait is None else wait)
            pause = min(pause * 2, MAX_PAUSE)
    raise AssertionError
