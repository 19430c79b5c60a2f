"""Files come in compressed bodies too: what they unpack to is bounded as it is read, on every platform."""

from __future__ import annotations

import tracemalloc
import zlib
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from aiohttp import web

from adapters.discord.guild import files as discord
from adapters.slack.workspace import files as slack
from bot.platform.models import Upload
from engine.errors import DocumentTooLarge

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

MIB = 2**20
UPLOAD = Upload("1", "notes.txt", 0, "text/plain", "")


def bomb(size: int, wbits: int) -> bytes:
    """So many MiB of nothing, compressed."""
    made, block = zlib.compressobj(9, zlib.DEFLATED, wbits), bytes(MIB)
    return b"".join([*(made.compress(block) for _ in range(size)), made.flush()])


@pytest.fixture(params=[("gzip", 31), ("deflate", 15)])
async def address(request: pytest.FixtureRequest) -> AsyncIterator[str]:
    """A server that answers with 64 MiB in 64 KiB."""
    encoding, wbits = request.param
    body = bomb(64, wbits)

    async def answered(_: web.Request) -> web.Response:
        return web.Response(body=body, headers={"Content-Encoding": encoding, "Content-Type": "text/plain"})

    served = web.Application()
    served.router.add_get("/", answered)
    runner = web.AppRunner(served)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    await runner.cleanup()


async def from_slack(response: aiohttp.ClientResponse, limit: int) -> bytes:
    return await slack._read_body(response, UPLOAD, limit)


async def from_discord(response: aiohttp.ClientResponse, limit: int) -> bytes:
    return await discord._read_body(response, UPLOAD, limit)


@pytest.mark.parametrize("read", [from_slack, from_discord])
async def test_a_compressed_body_is_unpacked_no_further_than_a_file_may_be(address: str, read: Any) -> None:
    async with aiohttp.ClientSession() as session, session.get(address) as response:
        tracemalloc.start()
        try:
            with pytest.raises(DocumentTooLarge):
                await read(response, MIB)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 24 * MIB
