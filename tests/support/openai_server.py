"""A loopback server that speaks the OpenAI-compatible wire: chat (plain and streamed), embeddings, rerank.

In a test it is an async context manager whose replies and faults are scripted; beside a benchmark it is a process:
`python -m tests.support.openai_server --port 0 [--replier module:function] [--pace SECONDS] [--delay SECONDS]`, which
prints its port.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib
import json
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from aiohttp import web

from tests.support.openai_wire import (
    DONE,
    chat_reply,
    embeddings_reply,
    error_reply,
    rerank_reply,
    stream_pieces,
    stream_thought,
    stream_usage,
)

Replier = Callable[[Sequence[Mapping[str, Any]]], str]
Kind = Literal["status", "page", "length", "silence", "cut", "unfinished", "no_response_format"]


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong with one request.

    `status` answers with that code, `page` with that code and a web page, as a gateway does; `length` cuts the reply
    (finish_reason length); `unfinished` ends a stream without any finish_reason, `[DONE]` or usage, after the first
    `pieces` pieces; `silence` and `cut` come after the first `pieces` pieces of a stream (a plain call is silent, or
    cut, at once); `no_response_format` refuses that parameter if it is there.
    """

    kind: Kind = "status"
    status: int = 500
    message: str = "scripted"
    code: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: int = 2


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One request as it came."""

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]


def echo(messages: Sequence[Mapping[str, Any]]) -> str:
    """The last message, said back."""
    return f"You said: {messages[-1]['content']}"


class OpenAIServer:
    """The server; `faults` are used up one a request, in order; `gate` holds every chat request while it is closed.

    `outage` is what goes wrong with every request while it is set.
    `pace`: seconds between two pieces of a stream, as of a slow model; `delay`: before each reply; `thoughts` are
    streamed before each reply.
    """

    def __init__(
        self,
        replier: Replier = echo,
        *,
        port: int = 0,
        dim: int = 32,
        record: bool = True,
        pace: float = 0.0,
        delay: float = 0.0,
    ) -> None:
        self.replier = replier
        self.port = port
        self.dim = dim
        self.record = record
        self.pace = pace
        self.delay = delay
        self.requests: list[RecordedRequest] = []
        self.faults: deque[Fault] = deque()
        self.outage: Fault | None = None
        self.scores: list[dict[str, Any]] | None = None
        self.thoughts: tuple[str, ...] = ()
        self.gate = asyncio.Event()
        self.gate.set()
        self.arrived = asyncio.Condition()
        self.running = 0
        self.most_at_once = 0
        self._closing = asyncio.Event()
        self._runner = web.ServerRunner(web.Server(self._handle, access_log=None), shutdown_timeout=0.1)

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing.set()
        self.gate.set()
        await self._runner.cleanup()

    @property
    def api_base(self) -> str:
        """The api_base of chat and embeddings."""
        return f"http://127.0.0.1:{self.port}/v1"

    def bodies(self, path: str = "/v1/chat/completions") -> list[Mapping[str, Any]]:
        """The bodies of the requests on one path, in order."""
        return [request.body for request in self.requests if request.path == path]

    async def wait_for_requests(self, count: int) -> None:
        """Return once `count` requests have come."""
        async with self.arrived:
            await self.arrived.wait_for(lambda: len(self.requests) >= count)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        body = json.loads(await request.read())
        if self.record:
            async with self.arrived:
                self.requests.append(RecordedRequest(request.path, body, dict(request.headers)))
                self.arrived.notify_all()
        fault = self.faults.popleft() if self.faults else self.outage
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        try:
            return await self._answer(request, body, fault)
        finally:
            self.running -= 1

    async def _answer(
        self, request: web.BaseRequest, body: Mapping[str, Any], fault: Fault | None
    ) -> web.StreamResponse:
        if (refusal := _refuse(fault, body)) is not None:
            return refusal
        if request.path.endswith("/embeddings"):
            if fault is not None:
                await self._break(request, fault)
            return _json(embeddings_reply(body, self.dim))
        if request.path.endswith("/rerank"):
            return _json(rerank_reply(body, self.scores))
        if request.path.endswith("/chat/completions"):
            return await self._chat(request, body, fault)
        return _json(error_reply(f"no such path: {request.path}", ""), 404)

    async def _chat(self, request: web.BaseRequest, body: Mapping[str, Any], fault: Fault | None) -> web.StreamResponse:
        await self.gate.wait()
        if self.delay:
            await asyncio.sleep(self.delay)
        text = self.replier(body["messages"])
        finish = "length" if fault is not None and fault.kind == "length" else "stop"
        if body.get("stream"):
            return await self._stream(request, body, text, fault)
        if fault is not None and fault.kind in {"silence", "cut"}:
            await self._break(request, fault)
        return _json(chat_reply(body, text, finish))

    async def _stream(
        self, request: web.BaseRequest, body: Mapping[str, Any], text: str, fault: Fault | None
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for thought in self.thoughts:
            await response.write(stream_thought(thought))
        for index, piece in enumerate(stream_pieces(text, "length" if fault and fault.kind == "length" else "stop")):
            if fault is not None and fault.kind in {"silence", "cut"} and index == fault.pieces:
                await self._break(request, fault)
            if fault is not None and fault.kind == "unfinished" and index == fault.pieces:
                return response
            await response.write(piece)
            if self.pace:
                await asyncio.sleep(self.pace)
        if (body.get("stream_options") or {}).get("include_usage"):
            await response.write(stream_usage(body, text))
        await response.write(DONE)
        return response

    async def _break(self, request: web.BaseRequest, fault: Fault) -> None:
        if fault.kind == "silence":
            await self._closing.wait()
        if request.transport is not None:
            request.transport.abort()


def _refuse(fault: Fault | None, body: Mapping[str, Any]) -> web.Response | None:
    """The reply to a request that is refused at once."""
    if fault is not None and fault.kind == "status":
        return _json(error_reply(fault.message, fault.code), fault.status, fault.headers)
    if fault is not None and fault.kind == "page":
        return web.Response(text="<html>Bad Gateway</html>", status=fault.status, content_type="text/html")
    if fault is not None and fault.kind == "no_response_format" and "response_format" in body:
        return _json(error_reply("'response_format.type' must be 'json_schema' or 'text'", ""), 400)
    return None


def _json(payload: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(body=payload, status=status, headers=headers, content_type="application/json")


def _named(name: str) -> Replier:
    module, _, function = name.partition(":")
    replier: Replier = getattr(importlib.import_module(module), function)
    return replier


async def serve(options: argparse.Namespace) -> None:
    """Run until cancelled; the port is the first line on stdout."""
    async with OpenAIServer(
        _named(options.replier),
        port=options.port,
        dim=options.dim,
        record=False,
        pace=options.pace,
        delay=options.delay,
    ) as server:
        sys.stdout.write(f"{server.port}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    """Read the arguments and serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--replier", default="tests.support.openai_server:echo")
    parser.add_argument("--dim", type=int, default=32)
    parser.add_argument("--pace", type=float, default=0.0)
    parser.add_argument("--delay", type=float, default=0.0)
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(options))


if __name__ == "__main__":
    main()
