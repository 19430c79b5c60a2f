"""HTTP mode: Slack posts events, commands and button presses to a URL, and signs each request.

Unlike a socket, HTTP shows no lost connection. What was missed is noticed by late and repeated deliveries, and the
audiences of channels are compared with Slack at short intervals.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import structlog
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncBoltRequest
from slack_sdk.signature import SignatureVerifier

from adapters.slack.context import NAME
from adapters.slack.events.listener import RETRY_HEADER
from bot.errors import BadSetting
from engine import cancel_tasks
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from slack_bolt.async_app import AsyncApp

    from adapters.slack.events.listener import Listener
    from bot.bot import Bot

log = structlog.get_logger(__name__)

PATH = "/slack/events"
MAX_BODY = 1024 * 1024  # bytes
READ_TIMEOUT = 5.0  # seconds for a request to arrive completely
MAX_DELAY = 60.0  # seconds from an event to its delivery, beyond which others may be missing
MIN_REFRESH_SECONDS = 10.0  # between two comparisons of audiences; each lists all channels
# Seconds between two look-ups of all users, and between two comparisons of all channels with their messages.
USERS_INTERVAL, COMPARE_INTERVAL = 600.0, 3600.0
RECONCILE_INTERVAL = 30.0  # seconds between two reconciliations for missed events


def shows_missed_events(headers: Mapping[str, Any], body: Mapping[str, Any], now: float) -> bool:
    """Whether a delivery shows that Slack could not deliver for a while: it is repeated or late."""
    if set(headers.get(RETRY_HEADER) or ()) - {"0"}:
        return True
    event_time = body.get("event_time")
    return isinstance(event_time, int) and now - event_time > MAX_DELAY


class HttpReceiver:
    """Serves Slack's requests to the listener's app."""

    def __init__(self, bot: Bot, listener: Listener, app: AsyncApp, signing_secret: str) -> None:
        self._bot = bot
        self._listener = listener
        self._app = app
        self._verifier = SignatureVerifier(signing_secret)
        self._interval = max(bot.settings.membership_cache_seconds, MIN_REFRESH_SECONDS)
        self._missed_event = asyncio.Event()
        app.middleware(self._watch_delivery)

    async def run(self, stop: asyncio.Event, host: str, port: int) -> None:
        """Accept requests until `stop` is set. Raises BadSetting if the address cannot be used."""
        server = web.Application(client_max_size=MAX_BODY)
        server.add_routes([web.post(PATH, self.handle_request), web.get(PATH, _answer_check)])
        runner = web.AppRunner(server, access_log=None, shutdown_timeout=5.0)
        await runner.setup()
        try:
            await _start_site(runner, host, port)
            log.info("slack.http_listening", port=runner.addresses[0][1], path=PATH)
            self._listener.handle_reconnect()
            tasks = (
                self._bot.supervisor.run("slack missed deliveries", self._reconcile_missed),
                self._bot.supervisor.run("slack visibility", self._refresh_visibility),
            )
            try:
                await stop.wait()
            finally:
                await cancel_tasks(*tasks)
        finally:
            await runner.cleanup()

    async def handle_request(self, request: web.Request) -> web.Response:
        """Pass a signed request to the app; its answer is the acknowledgement."""
        try:
            async with asyncio.timeout(READ_TIMEOUT):
                raw = await request.read()
            body = raw.decode()  # never by the charset of the request: a stranger would choose the decoder
        except TimeoutError:
            return web.Response(status=408)
        except UnicodeDecodeError:
            return web.Response(status=400)
        if not self._is_signed(body, request.headers):
            log.warning("slack.signature_refused")
            return web.Response(status=401)
        try:
            bolt_request = AsyncBoltRequest(body=body, query=request.query_string, headers=dict(request.headers))
        except (AttributeError, LookupError, TypeError, ValueError, RecursionError):  # the SDK expects an object
            return web.Response(status=400)
        return await to_aiohttp_response(await self._app.async_dispatch(bolt_request))

    def _is_signed(self, body: str, headers: Mapping[str, str]) -> bool:
        """Whether Slack signed the body within the last five minutes."""
        timestamp, signature = (headers.get(f"X-Slack-{name}", "") for name in ("Request-Timestamp", "Signature"))
        if not (timestamp.isdecimal() and timestamp.isascii() and signature.isascii()):
            return False
        return bool(self._verifier.is_valid(body, timestamp, signature))

    async def _watch_delivery(self, request: AsyncBoltRequest, next_: Callable[[], Awaitable[Any]]) -> Any:
        """Suspend visibility if a delivery shows that events were missed, before the delivery is handled."""
        if shows_missed_events(request.headers, request.body, time.time()):
            self._bot.suspend_visibility(NAME)
            self._listener.invalidate_users()
            self._missed_event.set()
        return await next_()

    async def _reconcile_missed(self) -> None:
        while True:
            await self._missed_event.wait()
            self._missed_event.clear()
            log.warning("slack.deliveries_missed")
            self._listener.handle_reconnect()
            await asyncio.sleep(RECONCILE_INTERVAL)

    async def _refresh_visibility(self) -> None:
        """Compare audiences at intervals, and messages at longer ones; that Slack answers is a sign of life."""
        users_at = compared_at = time.monotonic()
        while True:
            await asyncio.sleep(self._interval)
            now = time.monotonic()
            if now - compared_at >= COMPARE_INTERVAL:
                compared_at = users_at = now
                self._listener.handle_reconnect()
                continue
            if now - users_at >= USERS_INTERVAL:
                users_at = now
                self._listener.invalidate_users()
            with suppress(EngineError):  # the bot retries it
                await self._bot.refresh_visibility(NAME)
                self._bot.record_activity(NAME)


async def _answer_check(_: web.Request) -> web.Response:
    """Answer Slack's check of the certificate, and people who try the URL."""
    return web.Response(text="Slack can post to this URL.\n")


async def _start_site(runner: web.AppRunner, host: str, port: int) -> None:
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        raise BadSetting(
            f"THREADLORE_SLACK_HTTP_HOST and THREADLORE_SLACK_HTTP_PORT cannot be used: {error.strerror or error}."
        ) from error
