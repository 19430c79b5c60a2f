"""Download shared files from a platform's own hosts, up to a size limit, with retries."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin, urlsplit

import aiohttp

from bot.errors import PermissionDenied, PlatformError, PlatformUnavailable
from engine.errors import DocumentTooLarge, InvalidDocument
from engine.scheduling.supervisor import backoff_seconds

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from bot.platform.models import Upload

CHUNK_SIZE = 1 << 16
MAX_REDIRECTS = 5
MAX_ATTEMPTS = 4
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 1.0, 8.0  # doubled after each failed attempt
MAX_RETRY_AFTER_SECONDS = 60.0  # the longest wait that a server may ask for
TIMEOUT = aiohttp.ClientTimeout(total=300.0, connect=30.0, sock_read=30.0)
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
REQUEST_TIMEOUT_STATUS, TOO_MANY_REQUESTS, SERVER_ERROR = 408, 429, 500
HTTPS_PORT = 443


class DownloadedFile(NamedTuple):
    """A file's bytes and the content type that the server declared for them."""

    content_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class FileHosts:
    """Hosts from which files may be downloaded.

    `domains`: official domains; their subdomains count too, by HTTPS on the standard port only.
    `custom_origin`: scheme and authority of a custom API server; empty if there is none.
    """

    domains: Collection[str]
    custom_origin: str = ""

    def is_own_url(self, url: str) -> bool:
        """Whether a URL belongs to the platform, so that it may be fetched and shown the token."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            return False
        if self.custom_origin and f"{parts.scheme}://{parts.netloc}" == self.custom_origin:
            return True
        host = parts.hostname or ""
        is_official = any(host == domain or host.endswith(f".{domain}") for domain in self.domains)
        return parts.scheme == "https" and is_official and port in (None, HTTPS_PORT) and "@" not in parts.netloc


@dataclass(frozen=True, slots=True)
class Downloader:
    """Downloads files of one platform. `platform` is its name in error messages; `headers` go to own hosts only."""

    platform: str
    hosts: FileHosts
    headers: Mapping[str, str] = field(default_factory=dict)
    proxy: str | None = None

    async def download(self, upload: Upload, limit: int) -> DownloadedFile:
        """Download a file of at most `limit` bytes.

        Raises InvalidDocument for a foreign URL, DocumentTooLarge, PermissionDenied for a file that the platform does
        not hand out, and PlatformUnavailable once all attempts failed.
        """
        if upload.size > limit:
            raise _too_large(upload, limit)
        for attempt in range(1, MAX_ATTEMPTS):
            try:
                return await self._try_download(upload, limit)
            except _RetryLater as error:
                await asyncio.sleep(_retry_seconds(error, attempt))
        try:
            return await self._try_download(upload, limit)
        except _RetryLater as error:
            raise PlatformUnavailable(
                f"“{upload.name}” could not be downloaded from {self.platform} ({error})."
            ) from error

    async def _try_download(self, upload: Upload, limit: int) -> DownloadedFile:
        try:
            async with aiohttp.ClientSession(timeout=TIMEOUT) as session:
                return await self._follow_redirects(session, upload, limit)
        except (aiohttp.ClientError, OSError) as error:
            raise _RetryLater(type(error).__name__) from None  # its text may quote the URL, which may hold a token

    async def _follow_redirects(self, session: aiohttp.ClientSession, upload: Upload, limit: int) -> DownloadedFile:
        url = upload.url
        for _ in range(MAX_REDIRECTS + 1):
            if not self.hosts.is_own_url(url):
                raise InvalidDocument(
                    f"“{upload.name}” is not hosted by {self.platform}, so it is not downloaded.",
                    hint="Upload the file itself.",
                )
            async with session.get(url, headers=self.headers, proxy=self.proxy, allow_redirects=False) as response:
                if response.status not in REDIRECT_STATUSES:
                    self._check_status(response, upload)
                    return DownloadedFile(response.content_type, await read_body(response, upload, limit))
                url = urljoin(url, response.headers.get("Location", ""))
        raise InvalidDocument(f"“{upload.name}” cannot be downloaded: too many redirects.")

    def _check_status(self, response: aiohttp.ClientResponse, upload: Upload) -> None:
        """Raise an error for any status but 200."""
        status = response.status
        if status in (REQUEST_TIMEOUT_STATUS, TOO_MANY_REQUESTS) or status >= SERVER_ERROR:
            raise _RetryLater(str(status), response.headers.get("Retry-After", ""))
        if 400 <= status < SERVER_ERROR:
            raise PermissionDenied(
                f"{self.platform} does not hand out “{upload.name}” ({status}).",
                hint="Check that the file still exists and that the bot may read it, or attach it again.",
            )
        if status != 200:
            raise PlatformError(f"“{upload.name}” could not be downloaded from {self.platform} ({status}).")


async def read_body(response: aiohttp.ClientResponse, upload: Upload, limit: int) -> bytes:
    """Read a response of at most `limit` bytes after decompression. Raises DocumentTooLarge."""
    if (response.content_length or 0) > limit:
        raise _too_large(upload, limit)
    data = bytearray()
    async for chunk in response.content.iter_chunked(CHUNK_SIZE):
        data += chunk
        if len(data) > limit:
            raise _too_large(upload, limit)
    return bytes(data)


class _RetryLater(Exception):
    """A failure that may pass. `retry_after`: the server's Retry-After header, empty if it sent none."""

    def __init__(self, reason: str, retry_after: str = "") -> None:
        super().__init__(reason)
        self.retry_after = retry_after


def _retry_seconds(error: _RetryLater, attempt: int) -> float:
    if error.retry_after.isdigit():
        return min(float(error.retry_after), MAX_RETRY_AFTER_SECONDS)
    return backoff_seconds(attempt, FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS)


def _too_large(upload: Upload, limit: int) -> DocumentTooLarge:
    return DocumentTooLarge(f"“{upload.name}” is larger than {limit / 2**20:.0f} MiB.")
