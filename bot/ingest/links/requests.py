"""Send one request for a page to addresses that were checked, without cookies or compression."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from bot.errors import PageNotRead, PageUnreachable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yarl import URL

    from bot.ingest.links.fetcher import Wanted

USER_AGENT = "Threadlore"
_READ_SIZE = 1 << 16


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answered. `validator`: asks later whether it changed. `retry_after`: seconds."""

    status: int
    content_type: str
    charset: str
    location: str
    data: bytes
    validator: str = ""
    retry_after: float = 0.0


async def send_request(address: URL, addresses: Sequence[str], wanted: Wanted) -> Response:
    """The response; with its body if it is a good one of a wanted type. Raises PageNotRead."""
    connector = aiohttp.TCPConnector(resolver=_FixedResolver(addresses), use_dns_cache=False, force_close=True)
    accepted = "*/*" if wanted.is_raw else "text/html, text/plain, application/pdf"
    headers = {"User-Agent": USER_AGENT, "Accept": accepted, **wanted.headers}
    try:
        async with (
            aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                headers={**headers, "Accept-Encoding": "identity"},
                trust_env=False,
            ) as session,
            session.get(address, allow_redirects=False) as response,
        ):
            data = await _read_body(response, wanted) if response.status == 200 else b""
            return _build_response(response, data)
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise PageUnreachable(f"The server cannot be reached ({type(error).__name__}).") from error


def _build_response(response: aiohttp.ClientResponse, data: bytes) -> Response:
    headers = response.headers
    etag, changed, pause = headers.get("ETag", ""), headers.get("Last-Modified", ""), headers.get("Retry-After", "")
    return Response(
        response.status,
        response.content_type,
        response.charset or "",
        headers.get("Location", ""),
        data,
        f"etag {etag}" if etag else f"date {changed}" if changed else "",
        float(pause) if pause.isascii() and pause.isdigit() and len(pause) < 6 else 0.0,
    )


async def _read_body(response: aiohttp.ClientResponse, wanted: Wanted) -> bytes:
    limit = wanted.limit
    if wanted.types and response.content_type not in wanted.types:
        raise PageNotRead("It is not a page of text.")
    if not wanted.is_raw and response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise PageNotRead("The page is compressed.")
    data = bytearray()
    async for chunk in response.content.iter_chunked(_READ_SIZE):
        data += chunk
        if len(data) > limit:
            raise PageNotRead("The page is too large.")
    return bytes(data)


class _FixedResolver(AbstractResolver):
    """Resolves any name to the addresses that were checked."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        kinds = ((address, socket.AF_INET6 if ":" in address else socket.AF_INET) for address in self._addresses)
        return [
            ResolveResult(hostname=host, host=each, port=port, family=kind, proto=0, flags=socket.AI_NUMERICHOST)
            for each, kind in kinds
            if family in {socket.AF_UNSPEC, kind}
        ]

    async def close(self) -> None:
        """Hold nothing open."""
