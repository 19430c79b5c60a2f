"""Requests to the API: lists by their cursors, the pauses that it asks for, and what its errors mean."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import aiohttp

from bot.errors import ItemGone, ItemNotRead, SourceUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from pydantic import SecretStr

VERSION = "2022-06-28"  # of the API
PAGE_SIZE = 100  # entries of a list in one response, at most
MAX_PAUSES, MAX_PAUSE_SECONDS = 5, 60.0  # for one request
TIMEOUT = aiohttp.ClientTimeout(total=60)
MAX_SIZE = 20 * 2**20  # bytes of a response


class NotionClient:
    """Calls the API with a secret. Every call raises SourceUnavailable if the API cannot be used now."""

    def __init__(self, api: str, secret: SecretStr) -> None:
        self._api = api.rstrip("/")
        self._headers = {"Authorization": f"Bearer {secret.get_secret_value()}", "Notion-Version": VERSION}
        self._session: aiohttp.ClientSession | None = None

    async def list_pages(self) -> AsyncGenerator[dict[str, Any]]:
        """All pages that were shared with the integration."""
        wanted = {"filter": {"property": "object", "value": "page"}}
        async for each in self._list("POST", "/v1/search", wanted):
            yield each

    async def list_blocks(self, parent: str) -> AsyncGenerator[dict[str, Any]]:
        """The blocks directly below a page or a block. Raises ItemGone and ItemNotRead."""
        async for each in self._list("GET", f"/v1/blocks/{parent}/children", {}):
            yield each

    async def close(self) -> None:
        """End the connections."""
        if self._session is not None:
            await self._session.close()

    async def _list(self, method: str, path: str, values: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any]]:
        cursor: str | None = None
        while True:
            position = {"page_size": PAGE_SIZE, **({"start_cursor": cursor} if cursor else {})}
            found = await self._call(method, path, {**values, **position})
            for each in found.get("results", []):
                yield each
            cursor = found.get("next_cursor")
            if not (found.get("has_more") and cursor):
                return

    async def _call(self, method: str, path: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """The response of a request, which is repeated after each pause that the API asks for."""
        for _ in range(MAX_PAUSES):
            status, pause, found = await self._request(method, path, values)
            if status == 200 and isinstance(found.get("results"), list):
                return found
            if status not in {200, 429} and status < 500:
                raise _explain(status, found)
            await asyncio.sleep(min(pause, MAX_PAUSE_SECONDS))
        raise SourceUnavailable("Notion does not answer now.", hint="It is tried again.")

    async def _request(self, method: str, path: str, values: Mapping[str, Any]) -> tuple[int, float, dict[str, Any]]:
        """The status, the seconds to wait before the next request, and the body."""
        if self._session is None:
            self._session = aiohttp.ClientSession(headers=self._headers, timeout=TIMEOUT)
        sent: dict[str, Any] = {"json": values} if method == "POST" else {"params": values}
        try:
            async with self._session.request(method, f"{self._api}{path}", allow_redirects=False, **sent) as response:
                found = await _read_object(response)
                pause = response.headers.get("Retry-After", "1")
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise SourceUnavailable(f"Notion cannot be reached ({type(error).__name__}).") from error
        return response.status, float(pause) if pause.isdecimal() else 1.0, found


async def _read_object(response: aiohttp.ClientResponse) -> dict[str, Any]:
    """The body of a response; empty if it is no object. Raises ValueError if it is too large or no JSON."""
    body = bytearray()
    async for chunk in response.content.iter_chunked(1 << 16):
        body += chunk
        if len(body) > MAX_SIZE:
            raise ValueError("The response is too large.")
    found = json.loads(body) if response.content_type == "application/json" else {}
    return found if isinstance(found, dict) else {}


def _explain(status: int, found: Mapping[str, Any]) -> Exception:
    """What an error of the API means for the document, or for the source."""
    if status == 404:
        return ItemGone("The page is gone, or is not shared with the integration any more.")
    if status in {401, 403}:
        return SourceUnavailable("Notion refuses the secret.", hint="Make a new one, and share pages with it.")
    return ItemNotRead(f"Notion answered {status}: {str(found.get('message', ''))[:200]}")
