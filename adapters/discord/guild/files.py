"""The bytes of an attachment, from Discord's own hosts alone and never more than allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aiohttp
import yarl

from adapters.discord.api.calls import Unreached
from adapters.discord.api.endpoints import FILES
from engine.errors import BadInput, TooLarge

if TYPE_CHECKING:
    from bot.platform.models import Upload

_PIECE = 1 << 16
_TIME = aiohttp.ClientTimeout(total=300.0, sock_read=30.0)


async def fetched(upload: Upload, limit: int, own_host: str) -> bytes:
    """The file. Addresses expire after a day or so.

    Raises TooLarge beyond `limit` bytes, BadInput for a foreign address or a file that is gone, PlatformError.
    """
    address = yarl.URL(upload.url)
    if not _ours(address, own_host):
        raise BadInput(
            f"“{upload.name}” does not lie with Discord, so it is not fetched.", hint="Attach the file itself."
        )
    if upload.size > limit:
        raise _too_large(upload, limit)
    try:
        async with (
            aiohttp.ClientSession(timeout=_TIME) as session,
            # A redirection could lead anywhere.
            session.get(address, allow_redirects=False) as response,
        ):
            _check(upload, response.status)
            return await _read(response, upload, limit)
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise Unreached(f"“{upload.name}” could not be fetched ({type(error).__name__}).") from None


def _ours(address: yarl.URL, own_host: str) -> bool:
    official = address.scheme == "https" and address.host in FILES and address.explicit_port is None
    return official or (bool(own_host) and address.scheme in {"http", "https"} and address.host == own_host)


def _check(upload: Upload, status: int) -> None:
    if status >= 500 or status == 429:
        raise Unreached(f"“{upload.name}” could not be fetched now ({status}).")
    if status != 200:
        raise BadInput(f"“{upload.name}” is not there any more ({status}).", hint="Attach it once more.")


async def _read(response: aiohttp.ClientResponse, upload: Upload, limit: int) -> bytes:
    found = bytearray()
    async for piece in response.content.iter_chunked(_PIECE):
        found += piece
        if len(found) > limit:
            raise _too_large(upload, limit)
    return bytes(found)


def _too_large(upload: Upload, limit: int) -> TooLarge:
    return TooLarge(f"“{upload.name}” is larger than {limit / 2**20:.0f} MiB.")
