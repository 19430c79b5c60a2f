"""A server of aiohttp that nobody stops by connections on which nothing arrives."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from bot.listeners import aiohttp_server
from bot.listeners.admission import Budget, TrustedProxies, parse_proxies
from bot.listeners.aiohttp_server import GuardedServer, running, working
from tests.support.patience import PATIENCE
from tests.support.raw_http import connect, holding, request, talk

HALF = b"POST /echo HTTP/1.1\r\nHost: he"
STRANGER = "127.0.0.2"


@asynccontextmanager
async def serving(
    total: int = 20, proxies: TrustedProxies | None = None, work: Gate | None = None
) -> AsyncIterator[int]:
    """A server that echoes bodies, and one page whose work passes a gate."""
    gate = work or Gate(is_open=True)

    async def echo(asked: web.BaseRequest) -> web.Response:
        return web.Response(body=await asked.read())

    async def fail(_: web.BaseRequest) -> web.Response:
        raise ValueError

    async def work_on(asked: web.BaseRequest) -> web.Response:
        with working(asked):
            await gate.wait()
        return web.Response(text="done")

    routes = [web.post("/echo", echo), web.get("/work", work_on), web.get("/fail", fail)]
    server = GuardedServer(routes, Budget(total, total // 2), proxies or parse_proxies(""))
    async with running(server, "127.0.0.1", 0, shutdown_timeout=0.1) as port:
        yield port


class Gate:
    """What work waits for."""

    def __init__(self, *, is_open: bool = False) -> None:
        self.reached, self._open = asyncio.Event(), asyncio.Event()
        if is_open:
            self.open()

    def open(self) -> None:
        self._open.set()

    async def wait(self) -> None:
        self.reached.set()
        await self._open.wait()


async def test_requests_go_to_their_handlers() -> None:
    async with serving() as port:
        found = [
            (await talk(port, request(*line)))[0]
            for line in (
                ("GET", "/work"),
                ("HEAD", "/work"),
                ("GET", "/elsewhere"),
                ("DELETE", "/echo"),
                ("GET", "/fail"),
            )
        ]
    assert found == [200, 200, 404, 405, 500]


@pytest.mark.parametrize("proxies", ["", "127.0.0.0/8"], ids=["a share each", "no shares"])
@pytest.mark.parametrize("source", ["127.0.0.1", STRANGER], ids=["same address", "another address"])
async def test_many_half_open_heads_keep_nobody_out(proxies: str, source: str) -> None:
    async with serving(proxies=parse_proxies(proxies)) as port, holding(port, 60, HALF, source):
        assert (await talk(port, request("POST", "/echo", "Content-Length: 2", body=b"hi")))[0] == 200


async def test_many_unfinished_bodies_keep_nobody_out() -> None:
    unfinished = request("POST", "/echo", "Content-Length: 100", body=b"x")
    async with serving() as port, holding(port, 60, unfinished):
        assert (await talk(port, request("POST", "/echo", "Content-Length: 2", body=b"hi")))[0] == 200


async def test_a_request_that_is_complete_is_answered_however_many_come_after_it() -> None:
    gate = Gate()
    async with serving(work=gate) as port:
        reader, writer = await connect(port, request("GET", "/work"))
        await gate.reached.wait()
        async with holding(port, 60, HALF):
            gate.open()
            assert b"200 OK" in await asyncio.wait_for(reader.read(), PATIENCE)
        writer.close()


async def test_beyond_what_can_work_at_once_newcomers_are_told_to_come_back() -> None:
    gate = Gate()
    async with serving(total=2, work=gate) as port, holding(port, 1, request("GET", "/work")):
        await gate.reached.wait()
        status, text = await talk(port, b"")
    assert status == 503
    assert "Retry-After" in text


@pytest.mark.parametrize("sent", [b"", HALF])
async def test_a_head_that_does_not_arrive_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    monkeypatch.setattr(aiohttp_server, "HEAD_SECONDS", 0.05)
    async with serving() as port:
        assert await talk(port, sent) == (0, "")


async def test_a_packed_body_is_not_unpacked() -> None:
    packed = gzip.compress(bytes(1000))
    async with serving() as port:
        reader, writer = await connect(
            port, request("POST", "/echo", f"Content-Length: {len(packed)}", "Content-Encoding: gzip", body=packed)
        )
        assert (await reader.read()).endswith(packed)
        writer.close()


async def test_what_is_no_http_is_logged_in_a_line_and_a_failure_with_its_traceback() -> None:
    with capture_logs() as logged:
        async with serving() as port:
            assert (await talk(port, b"\x16\x03\x01 nonsense\r\n\r\n"))[0] == 400
            huge = f"Content-Length: {'9' * 5000}"
            assert (await talk(port, request("POST", "/echo", huge)))[0] == 400
            assert (await talk(port, request("GET", "/fail")))[0] == 500
    assert ["exc_info" in log for log in logged] == [False, True]
