"""Files of people, from Slack's own hosts alone; pictures of the bot."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import aiohttp

from adapters.slack.api.errors import TROUBLE, WAIT, refusal, told
from adapters.slack.events.messages import upload as announced
from bot.errors import PlatformError, PlatformUnavailable, Withheld
from engine.errors import BadInput, TooLarge

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

    from bot.platform.models import Picture, Upload

HOSTS = ("slack.com", "slack-edge.com")
REDIRECTS = 5
ATTEMPTS = 4
PATIENCE = aiohttp.ClientTimeout(total=300.0, connect=30.0)
PIECE = 1 << 16
LOGIN = (b"/signin", b"Sign in", b"data-team-url", b"slack.com/get-started")  # words of Slack's login page
WEB = ("text/html", "application/xhtml+xml")


class Again(Exception):
    """Ask once more, in so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


class Files:
    """Files of a workspace. `client` knows the token and the address of Slack."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._base = urlsplit(client.base_url)

    async def fetch(self, upload: Upload, limit: int) -> bytes:
        """The bytes of a file, up to `limit`. Raises BadInput if it is none or too large, PlatformError."""
        if not upload.url:
            upload = await self._announced(upload)
        if upload.size > limit:
            raise TooLarge(f"“{upload.name}” is too large.")
        for attempt in range(ATTEMPTS):
            try:
                kind, data = await self._load(upload, limit)
            except Again as again:
                await asyncio.sleep(again.seconds)
                continue
            except TROUBLE as error:
                if attempt == ATTEMPTS - 1:
                    raise refusal(error) from error
                await asyncio.sleep(2.0**attempt)
                continue
            if kind in WEB and not _is_page(upload, data):
                raise BadInput(f"Slack does not hand out “{upload.name}”.", hint="The bot needs the scope files:read.")
            return data
        raise PlatformUnavailable(f"“{upload.name}” could not be fetched from Slack.")

    async def show(self, channel: str, thread: str, picture: Picture) -> None:
        """Upload a picture. Raises PlatformError."""
        with told():
            await self._client.files_upload_v2(
                file_uploads=[
                    {
                        "file": picture.data,
                        "filename": picture.name,
                        "title": picture.words[:200] or picture.name,
                        "alt_txt": picture.words[:1000] or picture.name,
                    }
                ],
                channel=channel,
                thread_ts=thread or None,
            )

    async def _announced(self, upload: Upload) -> Upload:
        """What Slack tells of a file that came with its id alone."""
        with told():
            found = await self._client.files_info(file=upload.id)
        known = announced(found.get("file") or {})
        if not known.url:
            raise BadInput(f"“{upload.name}” cannot be read.", hint="Upload it to this workspace.")
        return known

    async def _load(self, upload: Upload, limit: int) -> tuple[str, bytes]:
        """Follow redirects as long as they stay with Slack, and read no more than allowed."""
        address = upload.url
        async with aiohttp.ClientSession(timeout=PATIENCE) as session:
            for _ in range(REDIRECTS):
                if not self.ours(address):
                    raise BadInput(f"“{upload.name}” does not lie at Slack.", hint="Upload the file itself.")
                async with session.get(
                    address,
                    headers={"Authorization": f"Bearer {self._client.token}"},
                    allow_redirects=False,
                    proxy=self._client.proxy,
                ) as answer:
                    if answer.status not in (301, 302, 303, 307, 308):
                        _check(answer, upload)
                        return answer.content_type, await _read(answer, upload, limit)
                    address = urljoin(address, answer.headers.get("Location", ""))
        raise BadInput(f"“{upload.name}” cannot be fetched.")

    def ours(self, address: str) -> bool:
        """Whether an address is Slack's own, so that the token may be shown to it."""
        parts = urlsplit(address)
        if (parts.scheme, parts.netloc) == (self._base.scheme, self._base.netloc):
            return True
        host = parts.hostname or ""
        known = any(host == own or host.endswith(f".{own}") for own in HOSTS)
        return parts.scheme == "https" and known and parts.port in (None, 443) and "@" not in parts.netloc


def _check(answer: aiohttp.ClientResponse, upload: Upload) -> None:
    """Raise for anything but a file."""
    if answer.status == 429:
        told_ = answer.headers.get("Retry-After", "")
        raise Again(float(told_) if told_.isdigit() else WAIT)
    if answer.status >= 500:
        raise Again(1.0)
    if answer.status in (401, 403, 404, 410):
        raise Withheld(f"Slack does not hand out “{upload.name}” ({answer.status}).")
    if answer.status != 200:
        raise PlatformError(f"“{upload.name}” could not be fetched from Slack ({answer.status}).")


async def _read(answer: aiohttp.ClientResponse, upload: Upload, limit: int) -> bytes:
    if (answer.content_length or 0) > limit:
        raise TooLarge(f"“{upload.name}” is too large.")
    data = bytearray()
    async for piece in answer.content.iter_chunked(PIECE):
        data += piece
        if len(data) > limit:
            raise TooLarge(f"“{upload.name}” is too large.")
    return bytes(data)


def _is_page(upload: Upload, data: bytes) -> bool:
    """Whether a page is the file itself, and not Slack's login page."""
    page = upload.kind in WEB or upload.name.lower().endswith((".html", ".htm", ".xhtml"))
    if not page:
        return False
    return len(data) == upload.size if upload.size else not any(word in data for word in LOGIN)
