"""Build the Slack Web API clients, one for each retry policy."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.retries import history_handlers, idempotent_handlers
from adapters.slack.settings import SlackSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    import aiohttp
    from slack_sdk.http_retry.async_handler import AsyncRetryHandler

    from bot.settings import Settings

TIMEOUT_SECONDS = 30  # of one call


def build_silent_logger() -> logging.Logger:
    """Build a logger that drops all records: the SDK would log message texts and URLs."""
    logger = logging.getLogger("threadlore.slack.sdk")
    logger.setLevel(logging.CRITICAL)
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    return logger


def _build_client(
    settings: Settings, session: aiohttp.ClientSession, handlers: Sequence[AsyncRetryHandler]
) -> AsyncWebClient:
    slack = SlackSettings.load(settings)
    client = AsyncWebClient(
        slack.bot_token.get_secret_value(),
        base_url=slack.api_base,
        timeout=TIMEOUT_SECONDS,
        session=session,
        logger=build_silent_logger(),
        retry_handlers=list(handlers),
    )
    if proxy_bypass(urlsplit(slack.api_base).hostname or ""):
        client.proxy = None
    return client


def idempotent_client(settings: Settings, session: aiohttp.ClientSession) -> AsyncWebClient:
    """Build the client for calls that may be repeated."""
    return _build_client(settings, session, idempotent_handlers())


def history_client(settings: Settings, session: aiohttp.ClientSession) -> AsyncWebClient:
    """Build the client for history pages; its caller handles rate limits (retries.call_when_allowed)."""
    return _build_client(settings, session, history_handlers())


def write_client(settings: Settings, session: aiohttp.ClientSession) -> AsyncWebClient:
    """Build the client for calls whose repetition people would see; it never retries (see retries.call_in_turn)."""
    return _build_client(settings, session, ())
