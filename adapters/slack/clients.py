"""Build the Slack Web API clients, one for each retry policy."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.errors import retry_after_seconds
from adapters.slack.retries import MAX_RATE_LIMIT_RETRIES, read_handlers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import aiohttp
    from slack_sdk.http_retry.async_handler import AsyncRetryHandler
    from slack_sdk.web.async_slack_response import AsyncSlackResponse

    from adapters.slack.retries import MethodPauses

TIMEOUT_SECONDS = 30  # of one call


def build_silent_logger() -> logging.Logger:
    """Build a logger that drops all records: the SDK would log message texts and URLs."""
    logger = logging.getLogger("threadlore.slack.sdk")
    logger.setLevel(logging.CRITICAL)
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    return logger


class PausingClient(AsyncWebClient):
    """A client that calls no method while Slack asks to wait; `max_waits` times it repeats a call for that."""

    def __init__(self, *, pauses: MethodPauses, max_waits: int, **options: Any) -> None:
        super().__init__(**options)
        self._pauses = pauses
        self._max_waits = max_waits

    async def api_call(self, api_method: str, **arguments: Any) -> AsyncSlackResponse:
        """Call a method. Raises as the SDK does."""
        for waits in count():
            await self._pauses.wait(api_method)
            try:
                return await super().api_call(api_method, **arguments)
            except SlackApiError as error:
                seconds = retry_after_seconds(error)
                if seconds is None:
                    raise
                await self._pauses.add(api_method, seconds)
                if waits >= self._max_waits:
                    raise
        raise AssertionError


@dataclass(frozen=True, slots=True)
class ClientFactory:
    """Builds clients that share a session. `api_base`: the base URL of the Web API."""

    session: aiohttp.ClientSession
    api_base: str

    def build(self, token: str = "", team: str = "", handlers: Sequence[AsyncRetryHandler] = ()) -> AsyncWebClient:
        """Build a client. `team`: the workspace that the calls are for, if the token is that of an organization."""
        return self._without_proxy(AsyncWebClient(**self._options(token, team, handlers)))

    def build_set(self, token: str, pauses: MethodPauses, team: str = "") -> WorkspaceClients:
        """Build the clients of a workspace; its reads share the `pauses` that Slack asks for."""

        def build_reader(max_waits: int) -> AsyncWebClient:
            options = self._options(token, team, read_handlers())
            return self._without_proxy(PausingClient(pauses=pauses, max_waits=max_waits, **options))

        return WorkspaceClients(build_reader(MAX_RATE_LIMIT_RETRIES), build_reader(0), self.build(token, team))

    def _options(self, token: str, team: str, handlers: Sequence[AsyncRetryHandler]) -> dict[str, Any]:
        return {
            "token": token or None,
            "base_url": self.api_base,
            "timeout": TIMEOUT_SECONDS,
            "session": self.session,
            "team_id": team or None,
            "logger": build_silent_logger(),
            "retry_handlers": list(handlers),
        }

    def _without_proxy(self, client: AsyncWebClient) -> AsyncWebClient:
        """The client, which uses no proxy if the system's settings say so for this host."""
        if proxy_bypass(urlsplit(self.api_base).hostname or ""):
            client.proxy = None
        return client


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
