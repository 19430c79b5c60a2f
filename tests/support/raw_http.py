"""Bytes to a server on this machine as no well-behaved client sends them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.support.patience import PATIENCE

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def connect(port: int, sent: bytes = b"", source: str = "127.0.0.1") -> Connection:
    """A connection from an address of this machine, on which bytes were sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
    writer.write(sent)
    return reader, writer


@asynccontextmanager
async def holding(port: int, number: int, sent: bytes, source: str = "127.0.0.1") -> AsyncIterator[list[Connection]]:
    """Keep connections open on each of which the same bytes were sent."""
    opened = [await connect(port, sent, source) for _ in range(number)]
    try:
        yield opened
    finally:
        for _, writer in opened:
            writer.close()


async def talk(port: int, sent: bytes, source: str = "127.0.0.1") -> tuple[int, str]:
    """The status of the answer to some bytes (0: none), and all that the server writes until it closes."""
    reader, writer = await connect(port, sent, source)
    try:
        async with asyncio.timeout(PATIENCE):
            text = (await reader.read()).decode()
    except ConnectionError:
        text = ""
    finally:
        writer.close()
    return int(text.split()[1]) if text else 0, text


def request(method: str, path: str, *headers: str, body: bytes = b"") -> bytes:
    """A request on a connection of its own."""
    lines = (f"{method} {path} HTTP/1.1", "Host: localhost", "Connection: close", *headers)
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode() + body
