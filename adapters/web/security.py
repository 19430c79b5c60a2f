"""What protects every request: its token, the size of its body, and the headers of its response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from adapters.web.problems import Problem, to_response
from bot.errors import InvalidToken

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 2 * 2**20
HEADERS = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)

_bearer = HTTPBearer(auto_error=False, description="An access token of `threadlore token create`.")


def get_token(credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]) -> str:
    """The access token of a request. Raises InvalidToken."""
    if credentials is None:
        raise InvalidToken("An access token is missing.")
    return credentials.credentials


Token = Annotated[str, Depends(get_token)]


class SizeLimit:
    """Refuses bodies above MAX_BODY_BYTES, whatever their header says."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and end it once too much was received."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        length = Request(scope).headers.get("content-length", "0")
        if not length.isdigit() or int(length) > MAX_BODY_BYTES:
            problem = Problem(title="TooLarge", status=413, detail=f"A body has at most {MAX_BODY_BYTES} bytes.")
            await to_response(problem)(scope, receive, send)
            return
        await self._app(scope, _limit_body(receive), send)


def _limit_body(receive: Receive) -> Receive:
    received = 0

    async def limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > MAX_BODY_BYTES:
            return {"type": "http.disconnect"}
        return message

    return limited


class SecurityHeaders:
    """Adds headers to every response that does not set them itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add the headers to its response."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(each for each in HEADERS if each[0] not in given)]
            await send(message)

        await self._app(scope, receive, send_with_headers)
