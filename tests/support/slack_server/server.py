"""Slack as a loopback server: Web API, Socket Mode, files and response addresses.

The state of a message at the end is what counts: `sees` renders what a person has on the screen. `calls` logs every
call; `until` waits for anything; `fails`, `socket.drop`, `socket.refresh` and `clock.advance` make trouble.
"""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING, Self, TypeVar

from aiohttp import web

from tests.support.slack_server import methods  # noqa: F401  - fills the table of methods
from tests.support.slack_server.actions import WorkspaceActions
from tests.support.slack_server.app import App
from tests.support.slack_server.call import METHODS, Call, RecordedCall, arguments, missing_scope_error
from tests.support.slack_server.clock import Clock
from tests.support.slack_server.faults import Fault, Faults
from tests.support.slack_server.file_store import Uploads, download, upload
from tests.support.slack_server.interactions import Interactions
from tests.support.slack_server.limits import PayloadLimits
from tests.support.slack_server.methods.streaming import end
from tests.support.slack_server.notify import EventNotifier
from tests.support.slack_server.rates import RateBuckets, RateSettings, rate_limited_error
from tests.support.slack_server.refusals import SlackError
from tests.support.slack_server.socket import Socket, Timing
from tests.support.slack_server.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.slack_server.state import JSON, Message, StoredFile

T = TypeVar("T")


class ConnectionCut(Exception):
    """The connection is cut: nothing that is answered will arrive."""


class Server:
    """The machinery; `FakeSlack` adds people. `page` bounds every page of a history or a member list."""

    def __init__(
        self, app: App | None = None, *, rates: RateSettings | None = None, limits: PayloadLimits | None = None,
        timing: Timing | None = None, page: int = 0, port: int = 0,
    ) -> None:  # fmt: skip
        self.clock = Clock()
        self.page = page
        self.port = port
        self.limits = limits or PayloadLimits()
        self.space = Workspace(app or App(), self.clock, self._changed)
        self.socket = Socket(self.clock, timing or Timing(), self.space.app.id, self._changed)
        self.notifier = EventNotifier(self.space, self.socket)
        self.actions = WorkspaceActions(self.space, self.notifier)
        self.buckets = RateBuckets(rates or RateSettings(), self.clock)
        self.faults = Faults()
        self.uploads = Uploads()
        self.interactions = Interactions(self)
        self.calls: list[RecordedCall] = []
        self._change_event = asyncio.Event()
        self._changed_at = 0.0
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        server = web.Application(client_max_size=64 * 1024 * 1024)
        server.router.add_route("*", "/api/{method}", self._api)
        server.router.add_get("/link/", self.socket.connect)
        server.router.add_post("/hooks/{hook}", self.interactions.answer)
        server.router.add_post("/upload/v1/{file}", partial(upload, self))
        server.router.add_get("/files-pri/{file}/{path:.*}", partial(download, self))
        self._runner = web.AppRunner(server, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        self.port = self._runner.addresses[0][1]
        self.space.base = self.url
        return self

    async def __aexit__(self, *_: object) -> None:
        self.faults.closing.set()
        await self.socket.close()
        assert self._runner is not None
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """What an AsyncWebClient takes for its base_url."""
        return f"{self.url}/api/"

    def socket_url(self, ticket: str) -> str:
        return f"ws://127.0.0.1:{self.port}/link/?ticket={ticket}&app_id={self.space.app.id}"

    def _changed(self) -> None:
        beat, self._change_event = self._change_event, asyncio.Event()
        self._changed_at = asyncio.get_running_loop().time() if self._runner else 0.0
        beat.set()

    async def _api(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["method"]
        try:
            args, token = await arguments(request)
        except SlackError as refused:
            return self._reply(refused.body)
        recorded = RecordedCall(name, args, self.clock.now())
        self.calls.append(recorded)
        fault = self.faults.pop(name)
        if fault is not None and fault.kind in {"garbage", "strange"}:
            recorded.outcome, recorded.done = fault.kind, True
            text = '{"ok": tr' if fault.kind == "garbage" else '{"ok": true}'
            return web.Response(text=text, content_type="application/json")
        try:
            if fault is not None and fault.kind != "lost":
                await self._apply_fault(fault, request)
            body = self._run(name, args, token)
            if fault is not None and fault.kind == "lost":
                self._cut_connection(request)
            recorded.outcome = "ok"
            return self._reply({"ok": True, **body})
        except SlackError as refused:
            recorded.outcome = refused.error
            headers = {"Retry-After": str(refused.retry_after)} if refused.status == 429 else {}
            return self._reply(refused.body, refused.status, headers)
        except ConnectionCut:
            recorded.outcome = fault.kind if fault is not None else "cut"
            return web.Response(status=500)
        finally:
            recorded.done = True
            self._changed()

    async def _apply_fault(self, fault: Fault, request: web.Request) -> None:
        if fault.kind == "error":
            raise SlackError(fault.error)
        if fault.kind == "ratelimited":
            raise rate_limited_error(int(fault.seconds))
        if fault.kind == "server":
            raise SlackError("internal_error", status=fault.status)
        if fault.kind == "reset":
            self._cut_connection(request)
        elif fault.kind == "hang":
            await self.faults.closing.wait()
            self._cut_connection(request)
        else:
            await self.clock.sleep(fault.seconds)

    def _cut_connection(self, request: web.Request) -> None:
        if request.transport is not None:
            request.transport.abort()
        raise ConnectionCut

    def _run(self, name: str, args: JSON, token: str) -> JSON:
        if name not in METHODS:
            raise SlackError("unknown_method", req_method=name)
        method, app = METHODS[name], self.space.app
        self._authorised(method.token, token)
        self.buckets.count_call(name, method.minute)
        if method.scopes and not app.scopes.intersection(method.scopes):
            raise missing_scope_error(self.space, method.scopes)
        return method.run(Call(self, name, args))

    def _authorised(self, kind: str, token: str) -> None:
        app = self.space.app
        if not token:
            raise SlackError("not_authed")
        if token not in {app.bot_token, app.app_token}:
            raise SlackError("invalid_auth")
        if self.space.revoked:
            raise SlackError(self.space.revoked)
        if not token.startswith(kind):
            raise SlackError("not_allowed_token_type")

    def _reply(self, body: JSON, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
        scopes = ",".join(sorted(self.space.app.scopes))
        more = {"x-oauth-scopes": scopes, "x-slack-req-id": f"{len(self.calls):032x}", **(headers or {})}
        return web.json_response(body, status=status, headers=more)

    def end_if_expired(self, message: Message) -> None:
        """End a stream that has lived too long."""
        stream = message.stream
        if stream is None or stream.state != "in_progress":
            return
        if self.clock.now() - stream.started >= self.limits.life:
            end(stream, "expired")

    def can_read_file(self, attached: StoredFile) -> bool:
        """Whether the app may have a file's bytes."""
        mine, channels = self.space.bot.id, self.space.channels
        return attached.user == mine or any(mine in channels[place].members for place, _ in attached.places)

    def fail_next(self, method: str, fault: Fault | str, times: int = 1) -> None:
        """Let the next calls of a method fail: with a Fault, or with an error by its name."""
        self.faults.add(method, Fault("error", error=fault) if isinstance(fault, str) else fault, times)

    def calls_to(self, *names: str) -> list[RecordedCall]:
        """The calls of some methods, in order."""
        return [call for call in self.calls if call.method in names]

    async def wait_for(self, predicate: Callable[[], T], timeout: float = 5.0, what: str = "") -> T:  # noqa: ASYNC109
        """Wait until something is true; gives it."""
        loop = asyncio.get_running_loop()
        end_of_patience = loop.time() + timeout
        while not (found := predicate()):
            left = end_of_patience - loop.time()
            if left <= 0:
                last = ", ".join(f"{call.method}={call.outcome}" for call in self.calls[-8:])
                raise AssertionError(f"waited {timeout} s in vain {what}; last calls: {last}")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._change_event.wait(), min(left, 0.2))
        return found

    async def wait_until_delivered(self, timeout: float = 5.0) -> None:  # noqa: ASYNC109
        """Wait until every event, command and click was acknowledged or lost."""
        await self.wait_for(
            lambda: all(parcel.is_done for parcel in self.socket.deliveries), timeout, "for acknowledgements"
        )

    async def wait_until_connected(self, count: int = 1, timeout: float = 5.0) -> None:  # noqa: ASYNC109
        """Wait until the app listens."""
        await self.wait_for(lambda: len(self.socket.ready) >= count, timeout, "for a connection")

    async def wait_until_quiet(self, seconds: float = 0.3, timeout: float = 30.0) -> None:  # noqa: ASYNC109
        """Wait until nothing has changed for a while, and no call is under way."""
        loop = asyncio.get_running_loop()
        self._changed_at = loop.time()
        await self.wait_for(
            lambda: loop.time() - self._changed_at >= seconds and all(call.done for call in self.calls),
            timeout,
            "for silence",
        )
