"""Have files converted to Markdown by a server of one's own: docling-serve or MinerU, over HTTP."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import aiohttp
import structlog

from engine.models import ConvertedDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

log = structlog.get_logger(__name__)

_CHUNK = 2**20
_MAX_ANSWER = 256 * _CHUNK  # bytes
_PROBLEMS = 3  # that are named of those which a service lists


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


def _read_docling(answer: Mapping[str, Any]) -> ConvertedDocument:
    """The answer of docling-serve; it may be partial, with a list of errors."""
    errors = [str(each.get("error_message", each)) for each in answer.get("errors") or []]
    problem = "; ".join(errors[:_PROBLEMS])
    if answer.get("status") not in {"success", "partial_success"}:
        return ConvertedDocument(problem=problem or "it could not read the file")
    markdown = str(answer["document"].get("md_content") or "")
    return ConvertedDocument(markdown, problem or ("" if markdown.strip() else "it found no text"))


def _read_mineru(answer: Mapping[str, Any]) -> ConvertedDocument:
    """The answer of MinerU, which names the results by their files."""
    texts = [str(each.get("md_content") or "") for each in answer["results"].values()]
    markdown = "\n\n".join(filter(str.strip, texts))
    return ConvertedDocument(markdown, "" if markdown else "it found no text")


_APIS = {
    "docling": _ServiceApi(
        "/v1/convert/file", "files", {"to_formats": "md", "image_export_mode": "placeholder"}, _read_docling
    ),
    "mineru": _ServiceApi("/file_parse", "files", {"return_md": "true"}, _read_mineru),
}
