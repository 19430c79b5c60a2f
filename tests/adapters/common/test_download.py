"""Downloads: a size limit that also holds for compressed bodies, retries, status codes, redirects."""

from __future__ import annotations

import tracemalloc
import zlib
from typing import TYPE_CHECKING

import aiohttp
import pytest
from aiohttp import web

from adapters.common import download
from adapters.common.download import Downloader, FileHosts, read_body
from bot.errors import PermissionDenied, PlatformUnavailable
from bot.platform.models import Upload
from engine.errors import DocumentTooLarge, InvalidDocument

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


async def test_a_compressed_body_is_unpacked_no_further_than_a_file_may_be(address: str) -> None:
    async with aiohttp.ClientSession() as session, session.get(address) as response:
        tracemalloc.start()
        try:
            with pytest.raises(DocumentTooLarge):
                await read_body(response, UPLOAD, MIB)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 24 * MIB


class FileServer:
    """Answers each request with the next of `responses`; `paths` are those that were requested."""

    def __init__(self) -> None:
        self.responses: list[web.Response] = []
        self.paths: list[str] = []
        self.origin = ""

    async def serve(self, request: web.Request) -> web.Response:
        self.paths.append(request.path)
        return self.responses.pop(0)

    async def download(self, limit: int = MIB) -> bytes:
        upload = Upload("1", "notes.txt", 0, "text/plain", f"{self.origin}/notes")
        return (await Downloader("Acme", FileHosts((), self.origin)).download(upload, limit)).data


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FileServer]:
    monkeypatch.setattr(download, "FIRST_RETRY_SECONDS", 0.0)
    server = FileServer()
    app = web.Application()
    app.router.add_get("/{path:.*}", server.serve)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.origin = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield server
    await runner.cleanup()


async def test_a_failure_that_may_pass_is_tried_again(server: FileServer) -> None:
    busy = web.Response(status=429, headers={"Retry-After": "0"})
    server.responses = [web.Response(status=503), busy, web.Response(body=b"hello")]
    assert await server.download() == b"hello"


async def test_a_server_that_stays_broken_is_unavailable(server: FileServer) -> None:
    server.responses = [web.Response(status=500) for _ in range(download.MAX_ATTEMPTS)]
    with pytest.raises(PlatformUnavailable):
        await server.download()
    assert not server.responses


@pytest.mark.parametrize("status", [401, 403, 404, 410])
async def test_a_file_that_is_not_handed_out_is_asked_for_once(server: FileServer, status: int) -> None:
    server.responses = [web.Response(status=status)]
    with pytest.raises(PermissionDenied):
        await server.download()


async def test_redirects_are_followed_on_own_hosts_only(server: FileServer) -> None:
    server.responses = [web.Response(status=302, headers={"Location": "/moved"}), web.Response(body=b"hello")]
    assert await server.download() == b"hello"
    assert server.paths == ["/notes", "/moved"]
    server.responses = [web.Response(status=302, headers={"Location": "http://127.0.0.1:9/elsewhere"})]
    with pytest.raises(InvalidDocument):
        await server.download()


async def test_redirects_that_never_end_are_given_up(server: FileServer) -> None:
    server.responses = [
        web.Response(status=302, headers={"Location": "/again"}) for _ in range(download.MAX_REDIRECTS + 1)
    ]
    with pytest.raises(InvalidDocument):
        await server.download()


@pytest.mark.parametrize("url", ["http://[bad", "https://files.acme.example:99999999/a", "//", "ftp://acme.example/a"])
def test_a_broken_url_is_nobodys(url: str) -> None:
    assert not FileHosts(("acme.example",)).is_own_url(url)
