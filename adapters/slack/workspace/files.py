"""Files of people, from Slack's own hosts alone; pictures of the bot."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import aiohttp

from adapters.slack.api.errors import DEFAULT_RETRY_AFTER, SLACK_ERRORS, map_errors, to_platform_error
from adapters.slack.events.messages import parse_upload as announced
from bot.errors import PermissionDenied, PlatformError, PlatformUnavailable
from engine.errors import DocumentTooLarge, InvalidDocument

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

    from bot.platform.models import Picture, Upload

FILE_HOSTS = ("slack.com", "slack-edge.com")
MAX_REDIRECTS = 5
MAX_ATTEMPTS = 4
DOWNLOAD_TIMEOUT = aiohttp.ClientTimeout(total=300.0, connect=30.0)
CHUNK_SIZE = 1 << 16
LOGIN_PAGE_WORDS = (b"/signin", b"Sign in", b"data-team-url", b"slack.com/get-started")  # words of Slack's login page
HTML_TYPES = ("text/html", "application/xhtml+xml")


class RetryLater(Exception):
    """Ask once more, in so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


class Files:
    """Files of a workspace. `client` knows the token and the address of Slack."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._base = urlsplit(client.base_url)

    async def download(self, upload: Upload, limit: int) -> bytes:
        """The bytes of a file, up to `limit`. Raises InvalidDocument if it is none or too large, PlatformError."""
        if not upload.url:
            upload = await self._fetch_info(upload)
        if upload.size > limit:
            raise DocumentTooLarge(f"“{upload.name}” is too large.")
        for attempt in range(MAX_ATTEMPTS):
            try:
                kind, data = await self._download(upload, limit)
            except RetryLater as again:
                await asyncio.sleep(again.seconds)
                continue
            except SLACK_ERRORS as error:
                if attempt == MAX_ATTEMPTS - 1:
                    raise to_platform_error(error) from error
                await asyncio.sleep(2.0**attempt)
                continue
            if kind in HTML_TYPES and not _is_html_file(upload, data):
                raise InvalidDocument(
                    f"Slack does not hand out “{upload.name}”.", hint="The bot needs the scope files:read."
                )
            return data
        raise PlatformUnavailable(f"“{upload.name}” could not be fetched from Slack.")

    async def upload_picture(self, channel: str, thread: str, picture: Picture) -> None:
        """Upload a picture. Raises PlatformError."""
        with map_errors():
            await self._client.files_upload_v2(
                file_uploads=[
                    {
                        "file": picture.data,
                        "filename": picture.name,
                        "title": picture.alt_text[:200] or picture.name,
                        "alt_txt": picture.alt_text[:1000] or picture.name,
                    }
                ],
                channel=channel,
                thread_ts=thread or None,
            )

    async def _fetch_info(self, upload: Upload) -> Upload:
        """What Slack tells of a file that came with its id alone."""
        with map_errors():
            found = await self._client.files_info(file=upload.id)
        known = announced(found.get("file") or {})
        if not known.url:
            raise InvalidDocument(f"“{upload.name}” cannot be read.", hint="Upload it to this workspace.")
        return known

    async def _download(self, upload: Upload, limit: int) -> tuple[str, bytes]:
        """Follow redirects as long as they stay with Slack, and read no more than allowed."""
        address = upload.url
        async with aiohttp.ClientSession(timeout=DOWNLOAD_TIMEOUT) as session:
            for _ in range(MAX_REDIRECTS):
                if not self.is_slack_url(address):
                    raise InvalidDocument(f"“{upload.name}” does not lie at Slack.", hint="Upload the file itself.")
                async with session.get(
                    address,
                    headers={"Authorization": f"Bearer {self._client.token}"},
                    allow_redirects=False,
                    proxy=self._client.proxy,
                ) as answer:
                    if answer.status not in (301, 302, 303, 307, 308):
                        _check_response(answer, upload)
                        return answer.content_type, await _read_body(answer, upload, limit)
                    address = urljoin(address, answer.headers.get("Location", ""))
        raise InvalidDocument(f"“{upload.name}” cannot be fetched.")

    def is_slack_url(self, address: str) -> bool:
        """Whether an address is Slack's own, so that the token may be shown to it."""
        parts = urlsplit(address)
        if (parts.scheme, parts.netloc) == (self._base.scheme, self._base.netloc):
            return True
        host = parts.hostname or ""
        known = any(host == own or host.endswith(f".{own}") for own in FILE_HOSTS)
        return parts.scheme == "https" and known and parts.port in (None, 443) and "@" not in parts.netloc


def _check_response(answer: aiohttp.ClientResponse, upload: Upload) -> None:
    """Raise for anything but a file."""
    if answer.status == 429:
        told_ = answer.headers.get("Retry-After", "")
        raise RetryLater(float(told_) if told_.isdigit() else DEFAULT_RETRY_AFTER)
    if answer.status >= 500:
        raise RetryLater(1.0)
    if answer.status in (401, 403, 404, 410):
        raise PermissionDenied(f"Slack does not hand out “{upload.name}” ({answer.status}).")
    if answer.status != 200:
        raise PlatformError(f"“{upload.name}” could not be fetched from Slack ({answer.status}).")


async def _read_body(answer: aiohttp.ClientResponse, upload: Upload, limit: int) -> bytes:
    if (answer.content_length or 0) > limit:
        raise DocumentTooLarge(f"“{upload.name}” is too large.")
    data = bytearray()
    async for piece in answer.content.iter_chunked(CHUNK_SIZE):
        data += piece
        if len(data) > limit:
            raise DocumentTooLarge(f"“{upload.name}” is too large.")
    return bytes(data)


def _is_html_file(upload: Upload, data: bytes) -> bool:
    """Whether a page is the file itself, and not Slack's login page."""
    page = upload.kind in HTML_TYPES or upload.name.lower().endswith((".html", ".htm", ".xhtml"))
    if not page:
        return False
    return len(data) == upload.size if upload.size else not any(word in data for word in LOGIN_PAGE_WORDS)
