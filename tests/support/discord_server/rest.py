"""The REST side: a request is read, counted against the limits, struck by faults, answered and remembered."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any

from aiohttp import BodyPartReader, web

from tests.support.discord_server import routes
from tests.support.discord_server.errors import ApiError
from tests.support.discord_server.model import File, Json
from tests.support.discord_server.rates import RateLimiter, refusal
from tests.support.discord_server.routing import ApiCall, ApiReply

if TYPE_CHECKING:
    from tests.support.discord_server.faults import Fault
    from tests.support.discord_server.world import World

PREFIX = "/api/v10"
MOST_REQUEST = 25 * 1024 * 1024
OPEN = re.compile(r"/interactions/[^/]+/[^/]+/callback|/webhooks/\d+/[^/]+(/.*)?")
"""Paths whose token is in the address, and which do not count against the limit over all."""


class RestApi:
    """Answers calls; all of them are kept in `calls`."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.rates = RateLimiter()
        self.faults: list[Fault] = []
        self.calls: list[ApiCall] = []
        self.closing = asyncio.Event()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        call = ApiCall(request.method, request.path.removeprefix(PREFIX), query=dict(request.query))
        call.time = self.world.clock.seconds()
        headers: dict[str, str] = {}
        fault: Fault | None = None
        try:
            handler = routes.ROUTES.find(call)
            self.calls.append(call)
            call.body, call.files = await _read(request)
            fault = next((one for one in self.faults if one.matches(call)), None)
            await self._apply_fault(fault, request)
            headers = self._admit(call, request)
            answer = handler(self.world, call)
            reply = answer if isinstance(answer, ApiReply) else ApiReply(200, answer)
        except ApiError as refused:
            call.code = refused.code
            reply = ApiReply(refused.status, refused.body())
        except RateLimited as limited:
            headers, reply = limited.headers, ApiReply(429, limited.body)
        call.status, call.answer = reply.status, reply.body
        self.world.notify_waiters()
        if fault is not None and fault.kind == "lost":
            _cut_connection(request)
        return _response(reply, headers)

    def _admit(self, call: ApiCall, request: web.Request) -> dict[str, str]:
        open_ = OPEN.fullmatch(call.path) is not None
        if not open_ and request.headers.get("Authorization") != f"Bot {self.world.token}":
            raise ApiError(0)
        verdict = self.rates.count_call(call.method, call.template, call.major, counted=not open_)
        if verdict.wait > 0:
            words = "You are being rate limited."
            body = {"message": words, "retry_after": round(verdict.wait, 3), "global": verdict.everywhere}
            raise RateLimited(verdict.headers, body)
        return verdict.headers

    async def fail_download(self, request: web.Request) -> int:
        """Downloads go wrong as calls do, under the route "/attachments"; gives the status to fail with, or 200."""
        call = ApiCall("GET", request.path, "/attachments")
        try:
            await self._apply_fault(next((one for one in self.faults if one.matches(call)), None), request)
        except ApiError as refused:
            return refused.status
        except RateLimited:
            return 429
        return 200

    async def _apply_fault(self, fault: Fault | None, request: web.Request) -> None:
        if fault is None or fault.kind == "lost":
            return
        if fault.kind == "slow":
            await asyncio.sleep(fault.seconds)
            return
        if fault.kind == "hang":
            await self.closing.wait()
        if fault.kind in {"hang", "reset"}:
            _cut_connection(request)
            raise ApiError(0, status=500, message="cut")
        if fault.status == 429:
            body = {"message": "You are being rate limited.", "retry_after": fault.seconds, "global": False}
            raise RateLimited(refusal({}, fault.seconds, "shared") if fault.via else {}, body)
        raise ApiError(fault.code, status=fault.status, message="" if fault.code else f"{fault.status}: scripted")


class RateLimited(Exception):
    """Too many calls."""

    def __init__(self, headers: dict[str, str], body: Json) -> None:
        super().__init__(body["message"])
        self.headers = headers
        self.body = body


async def _read(request: web.Request) -> tuple[Json, dict[int, File]]:
    """The JSON of a request, and the files beside it by their number."""
    if (request.content_length or 0) > MOST_REQUEST:
        raise ApiError(40005)
    if request.content_type == "multipart/form-data":
        return await _read_parts(request)
    raw = await request.read()
    if not raw:
        return {}, {}
    if request.content_type != "application/json":
        raise ApiError(50035, message="Expected \"Content-Type\" header to be one of {'application/json'}.")
    return _parse_json(raw), {}


async def _read_parts(request: web.Request) -> tuple[Json, dict[int, File]]:
    body: Json = {}
    files: dict[int, File] = {}
    total = 0
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader):
            continue
        data = bytes(await part.read())
        total += len(data)
        if total > MOST_REQUEST:
            raise ApiError(40005)
        if part.name == "payload_json":
            body = _parse_json(data)
        elif (match := re.fullmatch(r"files\[(\d+)\]", part.name or "")) is not None:
            name = part.filename or "unknown"
            files[int(match[1])] = File(name, data, media_type(name, part.headers.get("Content-Type", "")))
    return body, files


def media_type(name: str, said: str) -> str:
    """A media type: what the client says, unless that says nothing."""
    known = {"md": "text/markdown; charset=utf-8", "txt": "text/plain; charset=utf-8", "png": "image/png"}
    return known.get(name.rsplit(".", 1)[-1], said or "application/octet-stream")


def _parse_json(raw: bytes) -> Json:
    try:
        body: Any = json.loads(raw)
    except ValueError:
        raise ApiError(50109) from None
    return body if isinstance(body, dict) else {"_": body}


def _cut_connection(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()


def _response(reply: ApiReply, headers: dict[str, str]) -> web.Response:
    if reply.status == 204:
        return web.Response(status=204, headers=headers)
    raw = json.dumps(reply.body).encode()
    return web.Response(status=reply.status, body=raw, headers=headers | {"Content-Type": "application/json"})
