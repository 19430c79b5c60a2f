"""Download files that people shared in Slack, and upload pictures of the bot."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from adapters.common.download import Downloader, FileHosts
from adapters.slack.errors import map_errors
from adapters.slack.workspace.messages import CANVAS_KIND, parse_upload
from bot.errors import PermissionDenied
from engine.errors import InvalidDocument

if TYPE_CHECKING:
    from slack_sdk.web.async_client import AsyncWebClient

    from bot.platform.models import Picture, Upload

FILE_DOMAINS = ("slack.com", "slack-edge.com")
CANVAS_MARKER = b"quip-canvas-content"
LOGIN_PAGE_MARKERS = (b"/signin", b"Sign in", b"data-team-url", b"slack.com/get-started")
HTML_TYPES = ("text/html", "application/xhtml+xml")


class Files:
    """Files of a workspace. `client` has the token, which is sent to Slack's own hosts only."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        base = urlsplit(client.base_url)
        self._hosts = FileHosts(FILE_DOMAINS, f"{base.scheme}://{base.netloc}")

    async def download(self, upload: Upload, limit: int) -> bytes:
        """Download a file of at most `limit` bytes.

        Raises InvalidDocument if the URL is not Slack's, PermissionDenied if Slack returns its login page,
        DocumentTooLarge, and PlatformError for the rest.
        """
        if not upload.url:
            upload = await self._fetch_info(upload)
        token = {"Authorization": f"Bearer {self._client.token}"}  # it may be renewed at any time
        content_type, data = await Downloader("Slack", self._hosts, token, self._client.proxy).download(upload, limit)
        if is_login_page(upload, content_type, data):
            raise PermissionDenied(f"Slack does not hand out “{upload.name}”.", permissions=["files:read"])
        return complete_page(upload, data)

    async def upload_picture(self, channel: str, thread: str, picture: Picture) -> None:
        """Upload a picture. Raises PlatformError."""
        with map_errors():
            named = {"filename": picture.name, "title": picture.alt_text[:200] or picture.name}
            described = {"alt_txt": picture.alt_text[:1000] or picture.name} if picture.is_image else {}
            await self._client.files_upload_v2(
                file_uploads=[{"file": picture.data, **named, **described}],
                channel=channel,
                thread_ts=thread or None,
            )

    async def _fetch_info(self, upload: Upload) -> Upload:
        """Fetch the URL of a file that was announced by its id only (Slack Connect)."""
        with map_errors():
            response = await self._client.files_info(file=upload.id)
        shared = parse_upload(response.get("file") or {})
        if not shared.url:
            raise InvalidDocument(f"“{upload.name}” cannot be read.", hint="Upload it to this workspace.")
        return shared


def is_login_page(upload: Upload, content_type: str, data: bytes) -> bool:
    """Whether Slack returned its login page in place of a file."""
    return content_type in HTML_TYPES and not _is_html_file(upload, data)


def complete_page(upload: Upload, data: bytes) -> bytes:
    """The bytes of a file; of a canvas, which Slack hands out as a part of a page, a whole page."""
    if upload.kind != CANVAS_KIND or b"<html" in data[:1000].lower():
        return data
    return b'<html><head><meta charset="utf-8"></head><body>' + data + b"</body></html>"


def _is_html_file(upload: Upload, data: bytes) -> bool:
    """Whether an HTML page is the shared file, not the login page that Slack serves without the scope files:read."""
    if upload.kind == CANVAS_KIND:  # its size is not that of the page
        return CANVAS_MARKER in data or not any(marker in data for marker in LOGIN_PAGE_MARKERS)
    if upload.kind not in HTML_TYPES and not upload.name.lower().endswith((".html", ".htm", ".xhtml")):
        return False
    return len(data) == upload.size if upload.size else not any(marker in data for marker in LOGIN_PAGE_MARKERS)
