"""Have files converted to Markdown by a server of one's own: docling-serve or MinerU, over HTTP."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import aiohttp
import structlog

from engine.models import ConvertedDocument
from engine.parsers.converted.replies import PAGE_BREAK, read_docling, read_mineru

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

log = structlog.get_logger(__name__)

_CHUNK = 2**20
_MAX_ANSWER = 256 * _CHUNK  # bytes
_CHECK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class _ServiceApi:
    """One kind of service: its path, the field of the file, further fields, and what reads its answer."""

    path: str
    file_field: str
    fields: Mapping[str, str]
    read: Callable[[Mapping[str, Any]], ConvertedDocument]


@dataclass(frozen=True, slots=True)
class ParserServiceConfig:
    """Which service converts which files. `kind`: docling or mineru; `timeout_seconds` bounds one file."""

    kind: str
    url: str
    extensions: frozenset[str]
    timeout_seconds: float = 300.0
    api_key: str = ""


class ParserService:
    """Converts files by a service. What it cannot convert is left to the readers of this program."""

    def __init__(self, config: ParserServiceConfig) -> None:
        self.extensions = config.extensions
        self._config = config
        self._api = _APIS[config.kind]

    async def convert(self, name: str, data: bytes) -> ConvertedDocument:
        """Convert a file; whatever goes wrong is a problem in words."""
        try:
            answer = await self._post(name, data)
            return self._api.read(answer)
        except TimeoutError:
            problem = f"it took longer than {self._config.timeout_seconds:g} seconds"
        except (aiohttp.ClientError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            problem = f"it failed ({type(error).__name__})"
        log.warning("parsers.service_failed", host=urlsplit(self._config.url).hostname, problem=problem)
        return ConvertedDocument(problem=problem)

    async def check(self) -> str:
        """What keeps the service from being used, as a clause; an empty string for nothing."""
        timeout = aiohttp.ClientTimeout(total=_CHECK_SECONDS)
        try:
            async with (
                aiohttp.ClientSession(self._config.url.rstrip("/"), timeout=timeout) as session,
                session.get("/openapi.json", allow_redirects=False) as response,
            ):
                described = json.loads(await _read(response)) if response.ok else {}
        except (aiohttp.ClientError, OSError, ValueError, TimeoutError) as error:
            return f"it does not answer ({type(error).__name__})"
        paths = described.get("paths") if isinstance(described, dict) else None
        if isinstance(paths, dict) and paths and self._api.path not in paths:
            return f"it answers, but has no {self._api.path}"
        return ""

    async def _post(self, name: str, data: bytes) -> Mapping[str, Any]:
        form = aiohttp.FormData()
        form.add_field(self._api.file_field, data, filename=name, content_type="application/octet-stream")
        for field, value in self._api.fields.items():
            form.add_field(field, value)
        headers = {"X-Api-Key": self._config.api_key} if self._config.api_key else {}
        timeout = aiohttp.ClientTimeout(total=self._config.timeout_seconds)
        address = self._config.url.rstrip("/") + self._api.path
        async with (
            aiohttp.ClientSession(timeout=timeout, headers=headers) as session,
            session.post(address, data=form, allow_redirects=False, raise_for_status=True) as response,
        ):
            answer: Mapping[str, Any] = json.loads(await _read(response))
        return answer


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """The body of an answer. Raises ValueError if it is too long."""
    content = bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK):
        content += chunk
        if len(content) > _MAX_ANSWER:
            raise ValueError("the answer is too long")
    return bytes(content)


_APIS = {
    "docling": _ServiceApi(
        "/v1/convert/file",
        "files",
        {"to_formats": "md", "image_export_mode": "placeholder", "md_page_break_placeholder": PAGE_BREAK},
        read_docling,
    ),
    "mineru": _ServiceApi("/file_parse", "files", {"return_md": "true", "return_content_list": "true"}, read_mineru),
}
