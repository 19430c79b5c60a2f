from __future__ import annotations

import tracemalloc
import zlib
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from adapters.common import download
from adapters.common.download import Downloader, FileHosts
from bot.errors import PermissionDenied, PlatformUnavailable
from bot.platform.models import Upload
from engine.errors import DocumentTooLarge, InvalidDocument

MIB = 2**20


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
    server, app = FileServer(), web.Application()
    app.router.add_get("/{path:.*}", server.serve)
    async with TestServer(app) as running:
        server.origin = str(running.make_url("")).rstrip("/")
        yield server


def redirect(url: str) -> web.Response:
    return web.Response(status=302, headers={"Location": url})


async def test_a_transient_failure_is_retried(server: FileServer) -> None:
    busy = web.Response(status=429, headers={"Retry-After": "0"})
    server.responses = [web.Response(status=503), busy, web.Response(body=b"hello")]
    assert await server.download() == b"hello"


async def test_a_server_that_stays_broken_is_unavailable(server: FileServer) -> None:
    server.responses = [web.Response(status=500) for _ in range(download.MAX_ATTEMPTS)]
    with pytest.raises(PlatformUnavailable):
        await server.download()
    assert not server.responses


@pytest.mark.parametrize("status", [401, 403, 404, 410])
async def test_a_withheld_file_is_requested_once(server: FileServer, status: int) -> None:
    server.responses = [web.Response(status=status)]
    with pytest.raises(PermissionDenied):
        await server.download()


async def test_redirects_are_followed_on_own_hosts_only_and_not_forever(server: FileServer) -> None:
    server.responses = [redirect("/moved"), web.Response(body=b"hello")]
    assert await server.download() == b"hello"
    assert server.paths == ["/notes", "/moved"]
    for endless in ([redirect("http://127.0.0.1:9/else")], [redirect("/again")] * (download.MAX_REDIRECTS + 1)):
        server.responses = [redirect(each.headers["Location"]) for each in endless]
        with pytest.raises(InvalidDocument):
            await server.download()
        assert not server.responses


@pytest.mark.parametrize(("encoding", "wbits"), [("gzip", 31), ("deflate", 15)])
async def test_a_compressed_file_is_unpacked_no_further_than_the_limit(
    server: FileServer, encoding: str, wbits: int
) -> None:
    compressor, block = zlib.compressobj(1, zlib.DEFLATED, wbits), bytes(MIB)
    body = b"".join([*(compressor.compress(block) for _ in range(64)), compressor.flush()])
    server.responses = [web.Response(body=body, headers={"Content-Encoding": encoding})]
    tracemalloc.start()
    try:
        with pytest.raises(DocumentTooLarge):
            await server.download()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 24 * MIB


@pytest.mark.parametrize("url", ["http://[bad", "https://files.acme.example:99999999/a", "//", "ftp://acme.example/a"])
def test_a_broken_url_has_no_own_host(url: str) -> None:
    assert not FileHosts(("acme.example",)).is_own_url(url)
