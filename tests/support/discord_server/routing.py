"""The REST side: reads a request, counts it, applies faults, finds the function of its route, and keeps the call."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from aiohttp import BodyPartReader, web

from tests.support.discord_server.errors import ApiError, invalid_form
from tests.support.discord_server.faults import Fault, RateLimited, RateLimiter
from tests.support.discord_server.model import File, Json

if TYPE_CHECKING:
    from tests.support.discord_server.world import World

PREFIX = "/api/v10"
MAX_REQUEST = 25 * 1024 * 1024
OPEN = re.compile(r"/interactions/[^/]+/[^/]+/callback|/webhooks/\d+/[^/]+(/.*)?")
"""Paths that contain a token: no header is needed, and the overall limit does not count them."""
MEDIA_TYPES = {"md": "text/markdown; charset=utf-8", "txt": "text/plain; charset=utf-8", "png": "image/png"}


@dataclass(slots=True)
class ApiCall:
    """One request; `status` and `code` are those of the response (0: not yet; code 0: no refusal)."""

    method: str
    path: str
    template: str = ""
    params: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    body: Any = field(default_factory=dict)
    files: dict[int, File] = field(default_factory=dict)
    status: int = 0
    code: int = 0

    def __getitem__(self, name: str) -> str:
        return self.params[name]

    def limit(self, default: int, most: int) -> int:
        """How many entries are asked for."""
        raw = self.query.get("limit", str(default))
        if not raw.isdigit() or not 1 <= int(raw) <= most:
            raise invalid_form("limit", "NUMBER_TYPE_MAX", f"int value should be between 1 and {most}.")
        return int(raw)

    @property
    def major(self) -> str:
        """The parameters that have rate limits of their own."""
        return "/".join(self.params[name] for name in ("channel", "guild", "app", "token") if name in self.params)


Handler = Callable[["World", ApiCall], Any]
H = TypeVar("H", bound=Callable[..., Any])
ROUTES: list[tuple[str, str, re.Pattern[str], Handler]] = []
"""The routes; the first that matches answers. A handler returns the JSON of a 200, or None for a 204."""


def on(method: str, template: str) -> Callable[[H], H]:
    """Let a function answer a route."""
    pattern = re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", template))

    def register(handler: H) -> H:
        ROUTES.append((method, template, pattern, handler))
        return handler

    return register


def find_handler(call: ApiCall) -> Handler:
    """Find the function of a call, and fill in the call's template and parameters."""
    for method, template, pattern, handler in ROUTES:
        if method == call.method and (match := pattern.fullmatch(call.path)) is not None:
            call.template, call.params = template, match.groupdict()
            return handler
    raise ApiError(0, status=404, message="404: Not Found")


class RestApi:
    """Answers calls, and keeps all of them in `calls`."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.rates = RateLimiter(world.clock)
        self.faults: list[Fault] = []
        self.calls: list[ApiCall] = []
        self.closing = asyncio.Event()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        call = ApiCall(request.method, request.path.removeprefix(PREFIX), query=dict(request.query))
        headers: dict[str, str] = {}
        fault: Fault | None = None
        try:
            handler = find_handler(call)
            self.calls.append(call)
            call.body, call.files = await _read(request)
            fault = await self._apply_fault(call, request)
            headers = self._admit(call, request)
            answer = handler(self.world, call)
            call.status = 204 if answer is None else 200
        except ApiError as refused:
            call.status, call.code, answer = refused.status, refused.code, refused.body()
            headers = refused.headers if isinstance(refused, RateLimited) else headers
        if fault is not None:
            _cut_connection(request)
        if call.status == 204:
            return web.Response(status=204, headers=headers)
        headers["Content-Type"] = "application/json"  # without a charset, which the vendor's library relies on
        return web.Response(status=call.status, body=json.dumps(answer).encode(), headers=headers)

    async def fail_download(self, request: web.Request) -> int:
        """Apply the faults of the route "/attachments"; returns the status to fail with, or 200."""
        try:
            await self._apply_fault(ApiCall("GET", request.path, "/attachments"), request)
        except ApiError as refused:
            return refused.status
        return 200

    def _admit(self, call: ApiCall, request: web.Request) -> dict[str, str]:
        has_token = OPEN.fullmatch(call.path) is not None
        if not has_token and request.headers.get("Authorization") != f"Bot {self.world.token}":
            raise ApiError(0)
        return self.rates.count_call(call, overall=not has_token)

    async def _apply_fault(self, call: ApiCall, request: web.Request) -> Fault | None:
        """Let a call fail, or return the fault that cuts it afterwards."""
        fault = next((fault for fault in self.faults if fault.matches(call)), None)
        if fault is None or fault.kind == "lost":
            return fault
        if fault.kind == "status":
            raise fault.refusal()
        if fault.kind == "hang":
            await self.closing.wait()
        _cut_connection(request)
        raise ApiError(0, status=500, message="cut")


async def _read(request: web.Request) -> tuple[Any, dict[int, File]]:
    """The JSON of a request, and its files by number."""
    if (request.content_length or 0) > MAX_REQUEST:
        raise ApiError(40005)
    if request.content_type == "multipart/form-data":
        return await _read_parts(request)
    raw = await request.read()
    return json.loads(raw) if raw else {}, {}


async def _read_parts(request: web.Request) -> tuple[Json, dict[int, File]]:
    body: Json = {}
    files: dict[int, File] = {}
    async for part in await request.multipart():
        assert isinstance(part, BodyPartReader)
        data = bytes(await part.read())
        if part.name == "payload_json":
            body = json.loads(data)
        elif (match := re.fullmatch(r"files\[(\d+)\]", part.name or "")) is not None:
            name = part.filename or "unknown"
            sent = part.headers.get("Content-Type", "application/octet-stream")
            files[int(match[1])] = File(name, data, MEDIA_TYPES.get(name.rsplit(".", 1)[-1], sent))
    return body, files


def _cut_connection(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
