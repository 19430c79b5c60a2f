"""The ways to call Slack: they differ in what they do when a call fails."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
    AsyncServerErrorRetryHandler,
)
from slack_sdk.web.async_client import AsyncWebClient

if TYPE_CHECKING:
    from collections.abc import Sequence

    import aiohttp
    from slack_sdk.http_retry.async_handler import AsyncRetryHandler

    from bot.settings import Settings

TIMEOUT_SECONDS = 30  # until a call counts as lost


def build_silent_logger() -> logging.Logger:
    """A logger for the SDK: it would write down texts and addresses, so it writes nothing at all."""
    logger = logging.getLogger("threadlore.slack.sdk")
    logger.setLevel(logging.CRITICAL)
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    return logger


def _build_client(
    settings: Settings, session: aiohttp.ClientSession, handlers: Sequence[AsyncRetryHandler]
) -> AsyncWebClient:
    client = AsyncWebClient(
        settings.slack_bot_token.get_secret_value(),
        base_url=settings.slack_api_base,
        timeout=TIMEOUT_SECONDS,
        session=session,
        logger=build_silent_logger(),
        retry_handlers=list(handlers),
    )
    if proxy_bypass(urlsplit(settings.slack_api_base).hostname or ""):
        client.proxy = None
    return client


def idempotent_client(settings: Settings, session: aiohttp.ClientSession) -> AsyncWebClient:
    """For what may be done twice: it waits when asked to, and calls again what was lost."""
    return _build_client(
        settings,
        session,
        (
            AsyncRateLimitErrorRetryHandler(max_retry_count=5),
            AsyncConnectionErrorRetryHandler(max_retry_count=3),
            AsyncServerErrorRetryHandler(max_retry_count=3),
        ),
    )


def history_client(settings: Settings, session: aiohttp.ClientSession) -> AsyncWebClient:
    """For reading histories: the caller decides what a request to slow down means."""
    return _build_client(
        settings,
        session,
        (AsyncConnectionErrorRetryHandler(max_retry_count=3), AsyncServerErrorRetryHandler(max_retry_count=3)),
    )


def write_client(settings: Settings, session: aiohttp.ClientSession) -> AsyncWebClient:
    """For what would be seen twice: nothing is repeated."""
    return _build_client(settings, session, ())
