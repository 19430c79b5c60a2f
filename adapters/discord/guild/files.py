"""The bytes of an attachment, from Discord's own hosts alone and never more than allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aiohttp
import yarl

from adapters.discord.api.calls import DiscordUnreachable
from adapters.discord.api.endpoints import FILE_HOSTS
from engine.errors import DocumentTooLarge, InvalidDocument

if TYPE_CHECKING:
    from bot.platform.models import Upload

_CHUNK_SIZE = 1 << 16
_TIMEOUT = aiohttp.ClientTimeout(total=300.0, sock_read=30.0)


async def download_file(upload: Upload, limit: int, own_host: str) -> bytes:
    """The file. Addresses expire after a day or so.

    Raises DocumentTooLarge beyond `limit` bytes, InvalidDocument for a foreign address or a missing file, and
    PlatformError.
    """
    address = yarl.URL(upload.url)
    if not _is_discord_url(address, own_host):
        raise InvalidDocument(
            f"“{upload.name}” does not lie with Discord, so it is not fetched.", hint="Attach the file itself."
        )
    if upload.size > limit:
        raise _too_large(upload, limit)
    try:
        async with (
            aiohttp.ClientSession(timeout=_TIMEOUT) as session,
            # A redirection could lead anywhere.
            session.get(address, allow_redirects=False) as response,
        ):
            _check_status(upload, response.status)
            return await _read_body(response, upload, limit)
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise DiscordUnreachable(f"“{upload.name}” could not be fetched ({type(error).__name__}).") from None


def _is_discord_url(address: yarl.URL, own_host: str) -> bool:
    official = address.scheme == "https" and address.host in FILE_HOSTS and address.explicit_port is None
    return official or (bool(own_host) and address.scheme in {"http", "https"} and address.host == own_host)


def _check_status(upload: Upload, status: int) -> None:
    if status >= 500 or status == 429:
        raise DiscordUnreachable(f"“{upload.name}” could not be fetched now ({status}).")
    if status != 200:
        raise InvalidDocument(f"“{upload.name}” is not there any more ({status}).", hint="Attach it once more.")


async def _read_body(response: aiohttp.ClientResponse, upload: Upload, limit: int) -> bytes:
    found = bytearray()
    async for piece in response.content.iter_chunked(_CHUNK_SIZE):
        found += piece
        if len(found) > limit:
            raise _too_large(upload, limit)
    return bytes(found)


def _too_large(upload: Upload, limit: int) -> DocumentTooLarge:
    return DocumentTooLarge(f"“{upload.name}” is larger than {limit / 2**20:.0f} MiB.")
