"""A web server on this machine, and a fetcher for which its name is a public one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from bot.ingest.links.fetcher import PageFetcher
from engine.clock import SYSTEM_CLOCK
from tests.support.loopback import listening

HTML = "text/html"


@dataclass(slots=True)
class WebServer:
    """Pages by path: type and text, or the address of a redirect. `requests` are paths with headers.

    `body` replaces the text of pages, `headers` are added. `tags`: validators (ETag) by path, for which an unchanged
    page is not sent again; `files`: type and bytes by path. `addresses` are what names resolve to; 127.0.0.1 counts as
    public.
    """

    pages: dict[str, tuple[str, str]] = field(default_factory=dict)
    requests: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    addresses: dict[str, list[str]] = field(default_factory=lambda: {"town.example": ["127.0.0.1"]})
    resolved: list[str] = field(default_factory=list)
    port: int = 0
    tags: dict[str, str] = field(default_factory=dict)
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)

    def url(self, path: str = "/", host: str = "town.example") -> str:
        return f"http://{host}:{self.port}{path}"

    def paths(self) -> list[str]:
        return [path for path, _ in self.requests if path != "/robots.txt"]

    def fetcher(self) -> PageFetcher:
        async def resolve(host: str, port: int) -> list[str]:
            assert port
            self.resolved.append(host)
            if host not in self.addresses:
                raise OSError("no such name")
            return self.addresses[host]

        is_public = "127.0.0.1".__eq__
        return PageFetcher(SYSTEM_CLOCK, resolve, is_public, frozenset({self.port}), timeout_seconds=5)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.requests.append((request.path, dict(request.headers)))
        tag = self.tags.get(request.path, "")
        if tag and request.headers.get("If-None-Match") == tag:
            return web.Response(status=304)
        if request.path in self.files:
            kind, data = self.files[request.path]
            return web.Response(body=data, headers={"Content-Type": kind})
        kind, text = self.pages.get(request.path, ("", ""))
        if not kind:
            return web.Response(status=404)
        if kind == "redirect":
            return web.Response(status=302, headers={"Location": text, "Set-Cookie": "a=b"})
        if kind.isdigit():
            return web.Response(status=int(kind), headers={"Retry-After": text} if text else {})
        headers = {"Content-Type": f"{kind}; charset=utf-8", **({"ETag": tag} if tag else {}), **self.headers}
        return web.Response(body=self.body if self.body and kind == HTML else text.encode(), headers=headers)


@asynccontextmanager
async def open_web_server() -> AsyncIterator[WebServer]:
    """Run the server on a free port of the loopback device."""
    server = WebServer()
    async with listening(server.handle) as server.port:
        yield server
