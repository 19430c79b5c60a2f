"""A connection that sends no proper headers, or is one too many, is answered in words and closed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.responses import PlainTextResponse

from adapters.web.listener import Server, bind
from adapters.web.protocol import MAX_HEADER_BYTES, LimitedProtocol
from engine import child_task

REQUEST = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"


@asynccontextmanager
async def serving(max_connections: int = 10, header_seconds: float = 600.0) -> AsyncIterator[int]:
    class Protocol(LimitedProtocol):
        """The protocol with limits that a test reaches."""

    Protocol.max_connections, Protocol.header_seconds = max_connections, header_seconds
    config = uvicorn.Config(
        PlainTextResponse("well"),
        log_config=None,
        http=Protocol,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        lifespan="off",
        ws="none",
    )
    server = Server(config)
    with bind("127.0.0.1", 0) as bound:
        async with child_task(server.serve(sockets=[bound]), "server") as running:
            yield bound.getsockname()[1]
            server.should_exit = True
            await running


async def talk(port: int, sent: bytes) -> tuple[int, str]:
    """The status of the answer to some bytes, and all that the server writes until it closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    async with asyncio.timeout(30):
        text = (await reader.read()).decode()
    writer.close()
    return int(text.split()[1]), text


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
    async with serving(header_seconds=0.05 if status == 408 else 600.0) as port:
        found, text = await talk(port, sent)
    assert found == status
    assert json.loads(text.partition("\r\n\r\n")[2])["status"] == status
    assert "application/problem+json" in text


async def test_a_later_request_of_a_connection_has_as_little_time_for_its_headers() -> None:
    async with serving(header_seconds=0.05) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST)
        async with asyncio.timeout(30):
            assert b"200 OK" in await reader.readuntil(b"well")
            writer.write(REQUEST[:20])
            assert b"408 Request Timeout" in await reader.read()
        writer.close()


async def test_a_connection_too_many_is_told_to_come_back_later() -> None:
    async with serving(max_connections=1) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(REQUEST)
        found, text = await talk(port, b"")
        writer.close()
    assert found == 503
    assert "retry-after" in text.casefold()
