"""Build the Slack Web API clients, one for each retry policy."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.retries import history_handlers, idempotent_handlers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import aiohttp
    from slack_sdk.http_retry.async_handler import AsyncRetryHandler

TIMEOUT_SECONDS = 30  # of one call


def build_silent_logger() -> logging.Logger:
    """Build a logger that drops all records: the SDK would log message texts and URLs."""
    logger = logging.getLogger("threadlore.slack.sdk")
    logger.setLevel(logging.CRITICAL)
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    return logger


@dataclass(frozen=True, slots=True)
class ClientFactory:
    """Builds clients that share a session. `api_base`: the base URL of the Web API."""

    session: aiohttp.ClientSession
    api_base: str

    def build(self, token: str = "", team: str = "", handlers: Sequence[AsyncRetryHandler] = ()) -> AsyncWebClient:
        """Build a client. `team`: the workspace that the calls are for, if the token is that of an organization."""
        client = AsyncWebClient(
            token or None,
            base_url=self.api_base,
            timeout=TIMEOUT_SECONDS,
            session=self.session,
            team_id=team or None,
            logger=build_silent_logger(),
            retry_handlers=list(handlers),
        )
        if proxy_bypass(urlsplit(self.api_base).hostname or ""):
            client.proxy = None
        return client

    def build_set(self, token: str, team: str = "") -> WorkspaceClients:
        """Build the clients of a workspace."""
        return WorkspaceClients(
            self.build(token, team, idempotent_handlers()),
            self.build(token, team, history_handlers()),
            self.build(token, team),
        )


@dataclass(frozen=True, slots=True)
class WorkspaceClients:
    """The clients of a workspace.

    `idempotent` is for calls that may be repeated, `history` for history pages, whose caller handles rate limits
    (retries.call_when_allowed), `write` for calls whose repetition people would see; it never retries
    (retries.call_in_turn).
    """

    idempotent: AsyncWebClient
    history: AsyncWebClient
    write: AsyncWebClient

    def set_token(self, token: str) -> None:
        """Use another token from now on; with an empty one Slack refuses every call."""
        for client in (self.idempotent, self.history, self.write):
            client.token = token
