"""A loopback server that sends exactly what it is given, as an OpenAI-compatible reply or stream."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Self

from aiohttp import web

from tests.support.loopback import listening


class RawReplies:
    """The server. `events`: lines of a stream as they are; else `deltas` make one; `message`: of a whole reply.

    `reject`: the message of a rejection of a request, "" to accept it. `usage` comes with every reply. `replies` are
    JSON by the end of a path, for what is no such chat.
    """

    def __init__(self) -> None:
        self.events: list[str] = []
        self.deltas: list[dict[str, Any]] = []
        self.message: dict[str, Any] = {"role": "assistant", "content": "Fine."}
        self.usage: dict[str, Any] = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
        self.reject: Callable[[Mapping[str, Any]], str] = lambda _: ""
        self.replies: dict[str, Any] = {}
        self.bodies: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self._listening = listening(self._handle)
        self._port = 0

    async def __aenter__(self) -> Self:
        self._port = await self._listening.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._listening.__aexit__(None, None, None)

    @property
    def address(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def api_base(self) -> str:
        """The base of the OpenAI-compatible paths."""
        return f"{self.address}/v1"

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.paths.append(request.path)
        data = await request.read()
        body = json.loads(data) if data else {}
        self.bodies.append(body)
        for path, reply in self.replies.items():
            if request.path.endswith(path):
                return web.json_response(reply)
        if request.method == "GET":
            return web.json_response({}, status=404)
        if message := self.reject(body):
            return web.json_response({"error": {"message": message, "type": "invalid_request_error"}}, status=400)
        if body.get("stream"):
            return web.Response(text="".join(self._stream_lines()), content_type="text/event-stream")
        choice = {"index": 0, "message": self.message, "finish_reason": "stop"}
        return web.json_response({**self._head("chat.completion"), "choices": [choice], "usage": self.usage})

    def _stream_lines(self) -> list[str]:
        lines = self.events or [*map(self._chunk, self.deltas or [self.message]), self._chunk({}, "stop"), self._end()]
        return [f"data: {line}\n\n" for line in (*lines, "[DONE]")]

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return json.dumps({**self._head("chat.completion.chunk"), "choices": [choice]})

    def _end(self) -> str:
        return json.dumps({**self._head("chat.completion.chunk"), "choices": [], "usage": self.usage})

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": "x", "object": kind, "created": 1, "model": "stub"}
