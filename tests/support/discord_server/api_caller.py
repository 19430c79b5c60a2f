"""Bare calls of the API, for what the vendor's client would not send."""

from __future__ import annotations

import contextlib
import io
import json
from typing import TYPE_CHECKING, Any

import aiohttp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.discord_server.model import File
    from tests.support.discord_server.server import FakeDiscord


class ApiCaller:
    """Calls with the app's token; the last answer's status and headers stay."""

    def __init__(self, fake: FakeDiscord, session: aiohttp.ClientSession) -> None:
        self._fake = fake
        self._session = session
        self.status = 0
        self.headers: dict[str, str] = {}

    async def __call__(self, method: str, path: str, body: Any = None, *, files: list[File] | None = None) -> Any:
        """Call; gives the JSON, or None for none."""
        headers = {"Authorization": f"Bot {self._fake.token}"}
        data: Any = None
        if files is not None:
            data = aiohttp.FormData(quote_fields=False)
            data.add_field("payload_json", json.dumps(body or {}))
            for index, file in enumerate(files):
                data.add_field(f"files[{index}]", io.BytesIO(file.data), filename=file.name, content_type=file.kind)
        elif body is not None:
            data, headers = json.dumps(body), headers | {"Content-Type": "application/json"}
        async with self._session.request(method, self._fake.api + path, data=data, headers=headers) as response:
            self.status, self.headers = response.status, dict(response.headers)
            raw = await response.read()
            return json.loads(raw) if raw else None

    async def code(self, method: str, path: str, body: Any = None, *, files: list[File] | None = None) -> int:
        """Call what is to be refused; gives the code (0 if it was not refused)."""
        answer = await self(method, path, body, files=files)
        return int(answer["code"]) if self.status >= 400 else 0

    async def invalid_field(self, method: str, path: str, body: Any) -> tuple[str, str]:
        """Call with a bad form; gives the dotted path of the first bad field, and its error."""
        answer = await self(method, path, body)
        assert answer["code"] == 50035, answer
        where: list[str] = []
        inside = answer["errors"]
        while "_errors" not in inside:
            name = next(iter(inside))
            where.append(name)
            inside = inside[name]
        return ".".join(where), inside["_errors"][0]["code"]


@contextlib.asynccontextmanager
async def open_caller(fake: FakeDiscord) -> AsyncIterator[ApiCaller]:
    """A caller for the time of a test."""
    async with aiohttp.ClientSession() as session:
        yield ApiCaller(fake, session)
