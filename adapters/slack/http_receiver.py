"""HTTP mode: Slack posts events, commands and button presses to a URL, and signs each request."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import structlog
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncBoltRequest
from slack_sdk.signature import Clock as SignatureClock
from slack_sdk.signature import SignatureVerifier

from bot.listeners.admission import plan_connections
from bot.listeners.aiohttp_server import GuardedServer, running, working
from bot.listeners.ports import port_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping

    from slack_bolt.async_app import AsyncApp

    from bot.listeners.admission import TrustedProxies
    from engine import Clock

log = structlog.get_logger(__name__)

PATH = "/slack/events"
MAX_BODY = 1024 * 1024  # bytes
READ_TIMEOUT = 5.0  # seconds for a request to arrive completely
SHUTDOWN_SECONDS = 5.0
MAX_CONNECTIONS, PART_OF_FILES = 256, 1 / 8
MAX_TIMESTAMP_DIGITS = 12  # seconds since 1970


@asynccontextmanager
async def serving_routes(
    routes: Iterable[web.RouteDef], host: str, port: int, proxies: TrustedProxies
) -> AsyncIterator[None]:
    """Serve routes at an address. Raises BadSetting if it cannot be used, PortInUse if another program has it."""
    server = GuardedServer(routes, plan_connections(MAX_CONNECTIONS, PART_OF_FILES), proxies)
    async with AsyncExitStack() as stack:
        try:
            bound = await stack.enter_async_context(running(server, host, port, SHUTDOWN_SECONDS))
        except OSError as error:
            problem = "THREADLORE_SLACK_HTTP_HOST and THREADLORE_SLACK_HTTP_PORT cannot be used"
            raise port_error(problem, error) from error
        log.info("slack.http_listening", port=bound)
        yield


class _VerifierClock(SignatureClock):
    """The clock as the SDK's verifier reads it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self) -> float:
        """Seconds since 1970."""
        return self._clock.time()


class HttpReceiver:
    """Serves Slack's requests to an app."""

    def __init__(self, app: AsyncApp, signing_secret: str, clock: Clock) -> None:
        self._app = app
        self._verifier = SignatureVerifier(signing_secret, _VerifierClock(clock))

    def list_routes(self) -> list[web.RouteDef]:
        """The URL for Slack's requests."""
        return [web.post(PATH, self.handle_request), web.get(PATH, _answer_check)]

    async def handle_request(self, request: web.BaseRequest) -> web.Response:
        """Pass a signed request to the app; its answer is the acknowledgement.

        Slack signs what it sends and packs nothing, so nothing is unpacked before the signature is checked, or after.
        """
        if request.headers.get("Content-Encoding", "identity").lower() != "identity":
            return web.Response(status=415)
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
        with working(request):
            return await to_aiohttp_response(await self._app.async_dispatch(bolt_request))

    def _is_signed(self, body: str, headers: Mapping[str, str]) -> bool:
        """Whether Slack signed the body within the last five minutes."""
        timestamp, signature = (headers.get(f"X-Slack-{name}", "") for name in ("Request-Timestamp", "Signature"))
        is_time = timestamp.isdecimal() and timestamp.isascii() and len(timestamp) <= MAX_TIMESTAMP_DIGITS
        if not (is_time and signature.isascii()):
            return False
        return bool(self._verifier.is_valid(body, timestamp, signature))


async def _answer_check(_: web.BaseRequest) -> web.Response:
    """Answer Slack's check of the certificate, and people who try the URL."""
    return web.Response(text="Slack can post to this URL.\n")
