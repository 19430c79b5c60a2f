"""The Socket Mode connection to Slack: reconnects once it has been silent for too long."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler

from adapters.slack.errors import APP_TOKEN, BOT_TOKEN, SLACK_ERRORS, error_code, map_connect_errors, map_errors
from bot.errors import PlatformUnavailable, SetupError
from engine.scheduling.supervisor import backoff_seconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from slack_bolt.async_app import AsyncApp
    from slack_sdk.web.async_client import AsyncWebClient

    from engine import Clock

log = structlog.get_logger(__name__)

PING_INTERVAL = 5.0  # seconds between two pings
CHECK_INTERVAL = 5.0  # seconds between two checks of the connection
MAX_SILENCE = 30.0  # seconds without an envelope or a pong, after which a connection is dead
CONNECT_TIMEOUT = 20.0  # seconds until an attempt to connect counts as failed
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 1.0, 60.0  # between attempts to connect; doubled each time


@dataclass(frozen=True, slots=True)
class SocketReports:
    """Who is told of a socket.

    `on_activity` is called for each sign of life from Slack, `on_reconnect` for each new connection: events before it
    are lost. `on_attempt` gets the error of each failed attempt to connect, or None after a success.
    """

    on_activity: Callable[[], None]
    on_reconnect: Callable[[], None]
    on_attempt: Callable[[BaseException | None], object] = lambda _: None


class SocketConnection:
    """Keeps one socket open."""

    def __init__(
        self, app: AsyncApp, app_token: str, clock: Clock, reports: SocketReports, max_silence: float | None = None
    ) -> None:
        self._app = app
        self._token = app_token
        self._clock = clock
        self._reports = reports
        self._max_silence = MAX_SILENCE if max_silence is None else max_silence
        self._check_interval = min(CHECK_INTERVAL, self._max_silence / 3)
        self._handler: AsyncSocketModeHandler | None = None
        self._last_activity = 0.0
        self._last_pong: float | None = None  # a time of the SDK's own clock, compared with no other time

    async def connect(self) -> None:
        """Open a connection. Raises SetupError or PlatformError if Slack refuses one."""
        with map_connect_errors(APP_TOKEN):
            opened = await self._web.apps_connections_open(app_token=self._token)
        if not isinstance(opened.get("url"), str):
            raise PlatformUnavailable("Slack sent no URL to connect to.")
        handler = AsyncSocketModeHandler(self._app, self._token, logger=self._web.logger, ping_interval=PING_INTERVAL)
        handler.client.proxy = self._web.proxy
        handler.client.wss_uri = str(opened["url"])
        handler.client.on_message_listeners.append(self._record_message)
        self._handler, self._last_activity, self._last_pong = handler, self._clock.monotonic(), None
        try:
            with map_errors():
                # The SDK would retry a URL that is valid only once.
                async with asyncio.timeout(CONNECT_TIMEOUT):
                    await handler.connect_async()  # type: ignore[no-untyped-call]
        except BaseException:
            await self.close()
            raise

    async def run(self, stop: asyncio.Event) -> None:
        """Keep a connection open until `stop` is set. Raises SetupError if a token is refused."""
        failures = 0
        while not await _wait_for_event(stop, self._next_wait(failures)):
            if self._handler is not None and self._silent_seconds() < self._max_silence:
                failures = 0
                continue
            if self._handler is not None:
                log.warning("slack.connection_lost", silent_seconds=round(self._silent_seconds()))
            try:
                await self._reconnect()
            except SetupError:
                raise
            except Exception as error:  # noqa: BLE001  - any failure is retried
                log.warning("slack.connect_failed", error=error_code(error))
                self._reports.on_attempt(error)
                failures += 1
            else:
                self._reports.on_attempt(None)

    async def close(self) -> None:
        """Disconnect, and cancel what the library still runs for the connection."""
        handler, self._handler = self._handler, None
        if handler is None:
            return
        try:
            await handler.close_async()  # type: ignore[no-untyped-call]
        except SLACK_ERRORS as error:
            log.info("slack.disconnect_failed", error=error_code(error))
        tasks = [
            handler.client.message_processor,
            handler.client.current_session_monitor,
            handler.client.message_receiver,
        ]
        await asyncio.gather(*(task for task in tasks if task is not None), return_exceptions=True)

    async def _reconnect(self) -> None:
        """Check the bot token by a plain call, unless each workspace has its own, then open a new connection."""
        await self.close()
        if self._web.token:
            with map_connect_errors(BOT_TOKEN):
                await self._web.auth_test()
        await self.connect()
        self._reports.on_reconnect()

    def _next_wait(self, failures: int) -> float:
        """Seconds until the next check of an open connection, or until the next attempt to open one."""
        if self._handler is not None:
            return self._check_interval
        return backoff_seconds(failures, FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS) if failures else 0.0

    def _silent_seconds(self) -> float:
        """The seconds since the last sign of life from Slack; a pong counts from the check that sees it."""
        pong = self._handler.client.last_ping_pong_time if self._handler else None
        if pong is not None and pong != self._last_pong:
            self._last_pong = pong
            self._record_activity()
        return self._clock.monotonic() - self._last_activity

    async def _record_message(self, _message: object) -> None:
        self._record_activity()

    def _record_activity(self) -> None:
        self._last_activity = self._clock.monotonic()
        self._reports.on_activity()

    @property
    def _web(self) -> AsyncWebClient:
        return self._app.client


async def _wait_for_event(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event for at most `seconds`; whether it was set."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False
