"""What protects every request: its token, the size of its body, and the headers of its response."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.exceptions import HTTPException

from adapters.web.admission import get_place, has_body
from adapters.web.problems import HEADERS, Problem, to_response
from bot.capabilities.access.tokens import read_bearer
from engine.scheduling.supervisor import child_task

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES, STRANGER_BODY_BYTES = 2 * 2**20, 32 * 2**10
READ_SECONDS, STRANGER_READ_SECONDS = 30.0, 10.0  # for the body of a request
MIN_UPLOAD_RATE = 8 * 2**10  # bytes a second of an upload, on average after READ_SECONDS
UPLOADS = frozenset({("POST", "/api/v1/documents"), ("POST", "/documents/upload")})  # bodies that are read in pieces
RAW_HEADERS = tuple((name.lower().encode(), value.encode()) for name, value in HEADERS.items())

_bearer = HTTPBearer(auto_error=False, description="An access token of `threadlore token create`.")


def get_token(http: Request, _: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]) -> str:
    """The access token of a request. Raises InvalidToken."""
    return read_bearer(http.headers)


Token = Annotated[str, Depends(get_token)]


class RequestLimits:
    """Refuses bodies that are too large or too slow, and ends the work on a request once its client has left."""

    def __init__(self, app: ASGIApp, read_seconds: float = READ_SECONDS) -> None:
        self._app = app
        self._read_seconds = read_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body of a request, then pass the request on until it is answered or its client leaves."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if (scope["method"], scope["path"]) in UPLOADS:
            await _run_upload(lambda *wires: self._pass_on(scope, *wires), _SlowBody(receive, self._read_seconds), send)
            return
        try:
            body = await self._read_body(scope, receive) if has_body(scope) else b""
        except _RefusedBodyError as error:
            await to_response(error.problem)(scope, receive, send)
            return
        if body is not None:
            await _run_while_connected(lambda *wires: self._pass_on(scope, *wires), body, receive, send)

    async def _read_body(self, scope: Scope, receive: Receive) -> bytes | None:
        """The body of a request; None if its client left. Meanwhile the request gives way to a newcomer."""
        place, max_bytes, seconds = get_place(scope), MAX_BODY_BYTES, self._read_seconds
        if place.is_stranger:
            max_bytes, seconds = STRANGER_BODY_BYTES, min(seconds, STRANGER_READ_SECONDS)
        try:
            async with asyncio.timeout(seconds) as reading:
                place.start_reading(reading)
                return await _read_body(receive, max_bytes)
        except TimeoutError as error:
            detail = f"A body arrives within {seconds:g} seconds, and sooner while many others are waited for."
            raise _RefusedBodyError(Problem(title="TooSlow", status=408, detail=detail)) from error
        finally:
            place.stop_reading()

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


class _SlowBody:
    """The body of an upload, whose pieces arrive fast enough. `complete` is set once all of it has been read."""

    def __init__(self, receive: Receive, read_seconds: float) -> None:
        self._receive = receive
        self._read_seconds = read_seconds
        self._began = asyncio.get_running_loop().time()
        self._size = 0
        self.complete, self.gone = asyncio.Event(), asyncio.Event()

    async def receive(self) -> Message:
        """The next piece; the request is answered 408 if it does not arrive in time."""
        if self.complete.is_set():
            await self.gone.wait()
            return {"type": "http.disconnect"}
        deadline = self._began + self._read_seconds + self._size / MIN_UPLOAD_RATE
        try:
            async with asyncio.timeout_at(deadline):
                message = await self._receive()
        except TimeoutError as error:
            raise HTTPException(408, "The upload is too slow.") from error
        self._size += len(message.get("body", b""))
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            self.complete.set()
        return message

    async def wait_for_disconnect(self) -> None:
        """Wait until the client leaves after it sent the body."""
        await self.complete.wait()
        await self._receive()


class _RefusedBodyError(Exception):
    """A body is too large, or too slow."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.title)
        self.problem = problem


async def _read_body(receive: Receive, max_bytes: int) -> bytes | None:
    """The body of a request; None if its client left."""
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > max_bytes:
            raise _RefusedBodyError(
                Problem(title="TooLarge", status=413, detail=f"A body has at most {max_bytes} bytes.")
            )
        more = message.get("more_body", False)
    return bytes(body)


async def _run_upload(app: Callable[[Receive, Send], Coroutine[Any, Any, None]], body: _SlowBody, send: Send) -> None:
    await _run_until_gone(app, body.receive, send, body.wait_for_disconnect(), body.gone)


async def _run_while_connected(
    app: Callable[[Receive, Send], Coroutine[Any, Any, None]], body: bytes, receive: Receive, send: Send
) -> None:
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])
    gone = asyncio.Event()

    async def replay() -> Message:
        if (first := next(messages, None)) is not None:
            return first
        await gone.wait()
        return {"type": "http.disconnect"}

    await _run_until_gone(app, replay, send, _wait_until_gone(receive), gone)


async def _run_until_gone(
    app: Callable[[Receive, Send], Coroutine[Any, Any, None]],
    receive: Receive,
    send: Send,
    leave: Coroutine[Any, Any, None],
    gone: asyncio.Event,
) -> None:
    """Run the application until it is done, or until `leave` returns before the response is complete."""
    is_sent = False

    async def observed(message: Message) -> None:
        nonlocal is_sent
        is_sent |= message["type"] == "http.response.body" and not message.get("more_body", False)
        await send(message)

    async with (
        child_task(app(receive, observed), "request") as running,
        child_task(leave, "client") as leaving,
    ):
        await asyncio.wait({running, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if running.done() or is_sent:  # else leaving the block cancels the work
            gone.set()
            await running


async def _wait_until_gone(receive: Receive) -> None:
    """Wait until the client leaves; what it sends meanwhile is dropped."""
    while (await receive())["type"] != "http.disconnect":
        pass


class SecurityHeaders:
    """Adds headers to every response that does not set them itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add the headers to its response."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(header for header in RAW_HEADERS if header[0] not in given),
                ]
            await send(message)

        await self._app(scope, receive, send_with_headers)
