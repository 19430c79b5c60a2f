"""An app that only listens: the real Socket Mode client, which writes down what it hears."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable

    from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
    from slack_sdk.socket_mode.request import SocketModeRequest

    from tests.support.slack_server.server import Server


def build_client(slack: Server, token: str = "") -> AsyncWebClient:
    """The real Web API client, pointed at the fake; it tries nothing twice."""
    return AsyncWebClient(token or slack.space.app.bot_token, slack.base_url, retry_handlers=[])


async def error_code_of(call: Awaitable[Any]) -> str:
    """The error with which Slack answers a call; empty if it is carried out."""
    try:
        await call
    except SlackApiError as error:
        return str(error.response["error"])
    return ""


class EventRecorder:
    """`deaf`: hears, but acknowledges nothing; `reply` goes along with acknowledgements."""

    def __init__(self) -> None:
        self.requests: list[SocketModeRequest] = []
        self.is_silent = False
        self.reply: dict[str, Any] | None = None

    async def hear(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        self.requests.append(request)
        if not self.is_silent:
            payload = self.reply if request.accepts_response_payload else None
            await client.send_socket_mode_response(SocketModeResponse(request.envelope_id, payload))

    @property
    def events(self) -> list[dict[str, Any]]:
        """The inner events, in order."""
        return [request.payload["event"] for request in self.requests if request.type == "events_api"]

    @property
    def kinds(self) -> list[str]:
        """Type and subtype of each event."""
        return ["/".join(filter(None, (event["type"], event.get("subtype")))) for event in self.events]


@contextlib.asynccontextmanager
async def open_recorder(slack: Server, *, every: float = 0.1) -> AsyncIterator[EventRecorder]:
    """A connected ear; `every`: seconds between its pings, which is also how soon it notices a broken connection."""
    ear = EventRecorder()
    client = SocketModeClient(slack.space.app.app_token, web_client=build_client(slack), ping_interval=every)
    client.socket_mode_request_listeners.append(ear.hear)
    await client.connect()  # type: ignore[no-untyped-call]
    await slack.wait_until_connected()
    try:
        yield ear
    finally:
        await client.close()  # type: ignore[no-untyped-call]
