"""Slack as a loopback server: Web API, Socket Mode, files and response URLs."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING, Self, TypeVar

from aiohttp import web

from tests.support.clock import ShiftedClock
from tests.support.patience import PATIENCE
from tests.support.slack_server.app import App
from tests.support.slack_server.changes import Changes
from tests.support.slack_server.interactions import Interactions
from tests.support.slack_server.methods import files, streaming
from tests.support.slack_server.methods.blocks import PayloadLimits
from tests.support.slack_server.methods.call import (
    METHODS,
    Call,
    Fault,
    Faults,
    RateBuckets,
    RateSettings,
    RecordedCall,
    check_scopes,
    read_arguments,
)
from tests.support.slack_server.socket import Socket, Timing
from tests.support.slack_server.state import SlackError
from tests.support.slack_server.workspace import TEAM, Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.slack_server.state import JSON, Message, StoredFile

T = TypeVar("T")
BROKEN_BODIES = {"garbage": '{"ok": tr', "strange": '{"ok": true}'}


class ConnectionCut(Exception):
    """The connection is cut: no answer will arrive."""


class Server:
    """The server, to which `FakeSlack` adds people. `page` limits each page of a listing; `calls` has every call.

    `shared`: the clock and the socket, if the workspace is one of several that a `Hub` serves.
    """

    def __init__(
        self,
        app: App | None = None,
        *,
        rates: RateSettings | None = None,
        limits: PayloadLimits | None = None,
        timing: Timing | None = None,
        team: str = TEAM,
        shared: tuple[ShiftedClock, Socket] | None = None,
    ) -> None:
        self.clock = shared[0] if shared else ShiftedClock()
        self.is_shared = shared is not None
        self.page = 0
        self.port = 0
        self.limits = limits or PayloadLimits()
        self.space = Workspace(app or App.from_manifest(), self.clock, self._changed, team)
        self.socket = shared[1] if shared else Socket(self.clock, timing or Timing(), self._changed)
        self.changes = Changes(self.space, self.socket)
        self.buckets = RateBuckets(rates or RateSettings(), self.clock)
        self.faults = Faults()
        self.uploads: dict[str, tuple[StoredFile, int]] = {}  # announced files by id, with their lengths
        self.interactions = Interactions(self)
        self.calls: list[RecordedCall] = []
        self._change_event = asyncio.Event()
        self._changed_at = 0.0
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        server = web.Application(client_max_size=64 * 1024 * 1024)
        server.router.add_route("*", "/api/{method}", self.serve_call)
        server.router.add_get("/link/", self.socket.connect)
        server.router.add_post("/hooks/{hook}", self.interactions.answer)
        server.router.add_post("/upload/v1/{file}", partial(files.receive, self))
        server.router.add_get("/files-pri/{file}/{path:.*}", partial(files.download, self))
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
        """The base_url of an AsyncWebClient."""
        return f"{self.url}/api/"

    def socket_url(self, ticket: str) -> str:
        return f"ws://127.0.0.1:{self.port}/link/?ticket={ticket}&app_id={self.space.app.id}"

    def _changed(self) -> None:
        event, self._change_event = self._change_event, asyncio.Event()
        self._changed_at = asyncio.get_running_loop().time() if self.port else 0.0
        event.set()

    # Calls.

    async def serve_call(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["method"]
        args, token = await read_arguments(request)
        recorded = RecordedCall(name, args, self.clock.time())
        self.calls.append(recorded)
        fault = self.faults.pop(name)
        recorded.outcome = fault.kind if fault is not None else ""
        try:
            if fault is not None and fault.kind in BROKEN_BODIES:
                return web.Response(text=BROKEN_BODIES[fault.kind], content_type="application/json")
            if fault is not None:
                await self._apply_fault(fault, request)
            body = self._run(name, args, token)
            if fault is not None and fault.kind == "lost":
                self._cut_connection(request)
            recorded.outcome = "ok"
            headers = {"x-oauth-scopes": ",".join(sorted(self.space.app.scopes))} if name == "auth.test" else {}
            return web.json_response({"ok": True, **body}, headers=headers)
        except SlackError as refused:
            recorded.outcome = refused.error
            return web.json_response(refused.body, status=refused.status, headers=refused.headers)
        except ConnectionCut:
            return web.Response(status=500)
        finally:
            recorded.done = True
            self._changed()

    async def _apply_fault(self, fault: Fault, request: web.Request) -> None:
        """Fail before the call is carried out, or delay it."""
        if fault.kind == "error":
            raise SlackError(fault.error)
        if fault.kind == "ratelimited":
            raise SlackError("ratelimited", status=429, retry_after=int(fault.seconds))
        if fault.kind == "server":
            raise SlackError("internal_error", status=fault.status)
        if fault.kind == "hang":
            await self.faults.closing.wait()
        if fault.kind in {"hang", "reset"}:
            self._cut_connection(request)
        if fault.kind == "slow":
            await self.clock.sleep(fault.seconds)

    def _cut_connection(self, request: web.Request) -> None:
        if request.transport is not None:
            request.transport.abort()
        raise ConnectionCut

    def _run(self, name: str, args: JSON, token: str) -> JSON:
        if name not in METHODS:
            raise SlackError("unknown_method", req_method=name)
        method, app = METHODS[name], self.space.app
        if token != app.app_token:
            self.space.check_token(token)
        elif self.space.revoked and not self.is_shared:
            raise SlackError(self.space.revoked)
        if not token.removeprefix("xoxe.").startswith(method.token):
            raise SlackError("not_allowed_token_type")
        self.buckets.count_call(name, method.minute)
        check_scopes(self.space, method.scopes)
        return method.run(Call(self, args))

    def end_if_expired(self, message: Message) -> None:
        """End a stream that has lived too long."""
        stream = message.stream
        if stream is None or stream.state != "in_progress" or self.clock.time() - stream.started < self.limits.life:
            return
        streaming.end_stream(stream, "expired")

    def fail_next(self, method: str, fault: Fault | str, times: int = 1) -> None:
        """Let the next calls of a method fail: with a Fault, or with an error by its name."""
        self.faults.add(method, Fault("error", error=fault) if isinstance(fault, str) else fault, times)

    def calls_to(self, *names: str) -> list[RecordedCall]:
        """The calls of some methods, in order."""
        return [call for call in self.calls if call.method in names]

    # Waiting.

    async def wait_for(self, predicate: Callable[[], T], timeout: float = PATIENCE, what: str = "") -> T:  # noqa: ASYNC109
        """Wait until a predicate is true; gives its result."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        while not (found := predicate()):
            left = deadline - loop.time()
            if left <= 0:
                last = ", ".join(f"{call.method}={call.outcome}" for call in self.calls[-8:])
                raise AssertionError(f"waited {timeout} s in vain {what}; last calls: {last}")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._change_event.wait(), min(left, 0.2))
        return found

    async def wait_until_delivered(self, timeout: float = PATIENCE) -> None:  # noqa: ASYNC109
        """Wait until every event, command and click was acknowledged or lost."""
        deliveries = self.socket.deliveries
        await self.wait_for(lambda: all(delivery.is_done for delivery in deliveries), timeout, "for acknowledgements")

    async def wait_until_connected(self, count: int = 1, timeout: float = PATIENCE) -> None:  # noqa: ASYNC109
        """Wait until the app has a connection."""
        await self.wait_for(lambda: len(self.socket.ready) >= count, timeout, "for a connection")

    async def wait_until_quiet(self, seconds: float = 0.3, timeout: float = PATIENCE) -> None:  # noqa: ASYNC109
        """Wait until nothing has changed for a while, and no call is in progress."""
        loop = asyncio.get_running_loop()
        self._changed_at = loop.time()
        await self.wait_for(
            lambda: loop.time() - self._changed_at >= seconds and all(call.done for call in self.calls),
            timeout,
            "for silence",
        )
