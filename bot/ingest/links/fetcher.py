"""Fetch web pages: from public addresses only, within limits, and only what robots.txt allows.

The name of a server is resolved once, every address is checked, and the connection goes to a checked address, so that
a name cannot lead to another one in between. Redirects are checked in the same way.
"""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from yarl import URL

from bot.errors import PageClosed, PageNotRead, PageUnreachable
from bot.ingest.links.addresses import DEFAULT_PORTS, is_public, join_url, parse_url
from bot.ingest.links.encoding import to_utf8
from bot.ingest.links.robots import may_read, parse_robots
from bot.platform.document_source import WebResponse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from bot.ingest.links.addresses import PageUrl
    from bot.ingest.links.requests import Response
    from bot.ingest.links.robots import Rule
    from engine import Clock

USER_AGENT = "Threadlore"
MAX_SIZE, MAX_ROBOTS_SIZE = 5 * 2**20, 500 * 2**10  # bytes
MAX_REDIRECTS = 5
TIMEOUT_SECONDS = 20.0  # for a page with all redirects
ROBOTS_SECONDS = 3600.0  # for which a robots.txt is kept
MAX_ROBOTS = 100  # servers whose robots.txt is kept
# A look-up cannot be cancelled: with threads of its own, a slow name server delays nothing but pages.
_NAME_THREADS = ThreadPoolExecutor(4, "resolve names of pages")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Names for the parser by content type; other pages are not read.
FILE_NAMES = {
    "text/html": "page.html",
    "application/xhtml+xml": "page.html",
    "text/plain": "page.txt",
    "application/pdf": "page.pdf",
}


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page, with the address at which it was found, and its name for the parser."""

    url: str
    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a request asks for. `limit`: bytes of the body. `types`: content types whose bodies are read; empty for all.

    `headers`: further ones. `is_raw`: the body may be compressed.
    """

    limit: int
    types: Collection[str] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    is_raw: bool = False


async def resolve(host: str, port: int) -> list[str]:
    """The IP addresses of a name. Raises OSError."""
    look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    rows = await asyncio.get_running_loop().run_in_executor(_NAME_THREADS, look_up)
    return list(dict.fromkeys(str(row[4][0]) for row in rows))


@dataclass(slots=True)
class PageFetcher:
    """Fetches pages. The fields are how names are resolved, which addresses and ports may be used, and the limits."""

    clock: Clock
    resolve: Callable[[str, int], Awaitable[Sequence[str]]] = resolve
    is_public: Callable[[str], bool] = is_public
    ports: frozenset[int] = frozenset(DEFAULT_PORTS.values())
    max_size: int = MAX_SIZE
    timeout_seconds: float = TIMEOUT_SECONDS
    _robots: dict[str, tuple[float, tuple[Rule, ...]]] = field(default_factory=dict)

    async def fetch(self, url: str) -> FetchedPage:
        """Fetch a page. Raises PageNotRead."""
        try:
            async with asyncio.timeout(self.timeout_seconds):
                return await self._follow_redirects(url)
        except TimeoutError as error:
            raise PageUnreachable("The server took too long.") from error

    async def get(self, url: str, *, validator: str = "", limit: int = 0, types: Collection[str] = ()) -> WebResponse:
        """The response of a server, as `WebReader.get`. Raises PageNotRead."""
        conditions = _build_conditions(validator)
        wanted = Wanted(limit or self.max_size, types, conditions, is_raw=not types)
        try:
            async with asyncio.timeout(self.timeout_seconds):
                found, response = await self._follow(url, wanted, one_host=True)
        except TimeoutError as error:
            raise PageUnreachable("The server took too long.") from error
        data = response.data if wanted.is_raw else to_utf8(response.data, response.charset)
        kind, pause = response.content_type, response.retry_after
        return WebResponse(found, response.status, kind, data, response.validator, pause)

    async def _follow_redirects(self, url: str) -> FetchedPage:
        found, response = await self._follow(url, Wanted(self.max_size, FILE_NAMES))
        if response.status != 200:
            raise PageNotRead(f"The server answered {response.status}.")
        return FetchedPage(found, FILE_NAMES[response.content_type], to_utf8(response.data, response.charset))

    async def _follow(self, url: str, wanted: Wanted, *, one_host: bool = False) -> tuple[str, Response]:
        """The address to which redirects lead, and its response. `one_host`: they may not lead to another host."""
        host = parse_url(url, self.ports).host
        for _ in range(MAX_REDIRECTS + 1):
            target = parse_url(url, self.ports)
            if one_host and target.host != host:
                raise PageClosed(f"It redirects to another host ({target.host}).")
            if not await self._is_allowed(target, url):
                raise PageClosed("The server does not allow programs to read it (robots.txt).")
            response = await self._request(target, url, wanted)
            if response.status not in _REDIRECTS:
                return url, response
            url = join_url(url, response.location)
        raise PageNotRead("There are too many redirects.")

    async def _is_allowed(self, target: PageUrl, url: str) -> bool:
        """Whether robots.txt allows a page; one that cannot be read because of the server allows none (RFC 9309)."""
        known = self._robots.get(target.origin)
        if known is None or self.clock.monotonic() - known[0] > ROBOTS_SECONDS:
            known = self.clock.monotonic(), await self._read_robots(target)
            self._robots.pop(target.origin, None)
            self._robots[target.origin] = known
            while len(self._robots) > MAX_ROBOTS:
                self._robots.pop(next(iter(self._robots)))
        return may_read(known[1], url)

    async def _read_robots(self, target: PageUrl) -> tuple[Rule, ...]:
        url = f"{target.scheme}://{target.host}:{target.port}/robots.txt"
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._request(parse_url(url, self.ports), url, Wanted(MAX_ROBOTS_SIZE))
            if response.status not in _REDIRECTS:
                return parse_robots(_robots_text(response), USER_AGENT)
            url = join_url(url, response.location)
        raise PageNotRead("There are too many redirects.")

    async def _request(self, target: PageUrl, url: str, wanted: Wanted) -> Response:
        """One request, without cookies or compression; the body of a good response of one of the types, if given."""
        try:
            address = URL(url)
        except ValueError as error:
            raise PageNotRead("The address is not valid.") from error
        if (address.raw_host, address.port) != (target.host, target.port):  # another reading than that of `parse_url`
            raise PageNotRead("The address is ambiguous.")
        addresses = await self._resolve_public(target)
        from bot.ingest.links.requests import send_request  # noqa: PLC0415 - its library takes a while to import

        return await send_request(address, addresses, wanted)

    async def _resolve_public(self, target: PageUrl) -> Sequence[str]:
        try:
            addresses = await self.resolve(target.host, target.port)
        except (OSError, UnicodeError) as error:
            raise PageUnreachable("The name of the server is not known.") from error
        if not addresses or not all(map(self.is_public, addresses)):
            raise PageNotRead("The server is not on the public internet.")
        return addresses


def _robots_text(response: Response) -> str:
    """The text of a robots.txt. Raises PageUnreachable: while the server fails, it allows nothing."""
    if response.status >= 500:
        raise PageUnreachable("The server does not say now what programs may read (robots.txt).")
    return response.data.decode("utf-8", "replace") if response.status == 200 else ""


def _build_conditions(validator: str) -> Mapping[str, str]:
    """The header that asks whether something changed since the response with this validator."""
    kind, _, value = validator.partition(" ")
    names = {"etag": "If-None-Match", "date": "If-Modified-Since"}
    return {names[kind]: value} if kind in names and value.isprintable() else {}
