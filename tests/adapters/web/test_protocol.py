"""A connection that sends no proper headers, or is one too many, is answered in words and closed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.web.protocol import MAX_HEADER_BYTES, ConnectionLimits, LimitedProtocol, Server, bind
from bot.listeners.admission import Admission, Budget, parse_proxies
from engine.scheduling.supervisor import child_task
from tests.support.raw_http import connect, holding, request, talk

REQUEST = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"


@asynccontextmanager
async def serving(
    total: int = 10, app: ASGIApp | None = None, proxies: str = "127.0.0.0/8", **seconds: float
) -> AsyncIterator[int]:
    """A server with limits that a test reaches; those of time only where they are given."""
    limits = ConnectionLimits(
        Admission(Budget(total, max(1, total // 2))),
        parse_proxies(proxies),
        **{"head_seconds": 600.0, "rest_seconds": 600.0, "stall_seconds": 600.0, **seconds},
    )
    protocol: Any = partial(LimitedProtocol, limits=limits)
    config = uvicorn.Config(
        app or PlainTextResponse("well"),
        log_config=None,
        http=protocol,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=1,
    )
    server = Server(config)
    with bind("127.0.0.1", 0) as bound:
        async with child_task(server.serve(sockets=[bound]), "server") as running:
            yield bound.getsockname()[1]
            server.should_exit = True
            await running


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 2 * MAX_HEADER_BYTES, 431),
        (b"", 408),
        (b"GET / HTTP/1.1\r\nHost: he", 408),
    ],
    ids=["not http", "too large", "silent", "unfinished"],
)
async def test_headers_that_do_not_fit_are_refused_in_words(sent: bytes, status: int) -> None:
    async with serving(head_seconds=0.05 if status == 408 else 600.0) as port:
        found, text = await talk(port, sent)
    assert found == status
    assert json.loads(text.partition("\r\n\r\n")[2])["status"] == status
    assert "application/problem+json" in text


async def test_a_later_request_of_a_connection_has_as_little_time_for_its_headers() -> None:
    async with serving(head_seconds=0.05) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST)
        async with asyncio.timeout(30):
            assert b"200 OK" in await reader.readuntil(b"well")
            writer.write(REQUEST[:20])
            assert b"408 Request Timeout" in await reader.read()
        writer.close()


class Gate:
    """An application that answers once the gate is open."""

    def __init__(self) -> None:
        self.reached, self.opened = asyncio.Event(), asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.reached.set()
        await self.opened.wait()
        await PlainTextResponse("well")(scope, receive, send)


async def test_a_connection_too_many_is_told_to_come_back_later() -> None:
    gate = Gate()
    async with serving(total=1, app=gate) as port, holding(port, 1, REQUEST):
        await gate.reached.wait()
        found, text = await talk(port, b"")
        gate.opened.set()
    assert found == 503
    assert "retry-after" in text.casefold()


@pytest.mark.share(4)
@pytest.mark.parametrize("proxies", ["", "127.0.0.0/8"], ids=["a share each", "no shares"])
@pytest.mark.parametrize("source", ["127.0.0.1", "127.0.0.2"], ids=["same address", "another address"])
@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: he", REQUEST], ids=["silent", "half", "idle"])
async def test_connections_that_wait_keep_nobody_out(sent: bytes, source: str, proxies: str) -> None:
    async with serving(proxies=proxies) as port, holding(port, 50, sent, source):
        assert (await talk(port, request("GET", "/")))[0] == 200


async def test_what_is_being_answered_does_not_give_way() -> None:
    gate = Gate()
    async with serving(app=gate) as port:
        reader, writer = await connect(port, request("GET", "/"))
        await gate.reached.wait()
        async with holding(port, 50, b""):
            gate.opened.set()
            assert b"200 OK" in await reader.read()
        writer.close()


async def test_the_rest_of_a_body_that_nobody_wants_is_not_waited_for() -> None:
    async with serving(rest_seconds=0.05) as port:
        reader, writer = await connect(port, b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 99\r\n\r\nx")
        async with asyncio.timeout(30):
            assert b"200 OK" in await reader.readuntil(b"well")
            with suppress(ConnectionError):
                while await reader.read():
                    pass
        writer.close()


async def test_a_client_that_takes_nothing_of_its_response_is_given_up() -> None:
    gone = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(100):
            await send({"type": "http.response.body", "body": bytes(2**20), "more_body": True})
        gone.set()

    async with serving(app=app, stall_seconds=0.1) as port, holding(port, 1, REQUEST):
        async with asyncio.timeout(30):
            await gone.wait()


@pytest.mark.parametrize("length", ["9" * 5000, "-1", "+1", "1_0", "0x10", "1, 2"])
async def test_a_length_that_is_no_number_is_refused(length: str) -> None:
    async with serving() as port:
        assert (await talk(port, request("POST", "/", f"Content-Length: {length}")))[0] == 400
