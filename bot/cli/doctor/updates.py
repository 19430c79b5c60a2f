"""Ask the package index which version is the newest; only on request, since nothing is sent anywhere otherwise."""

from __future__ import annotations

import asyncio
import json
import re
from importlib.metadata import version
from typing import TYPE_CHECKING

import aiohttp

if TYPE_CHECKING:
    from bot.settings import Settings

SECONDS = 5.0  # for the whole request
MAX_BYTES = 8 * 2**20  # of the reply, which lists every file of every release
RELEASE = re.compile(r"\d+(\.\d+){0,3}")


async def describe_update(settings: Settings) -> str:
    """Whether there is a newer version, in a sentence; also if nobody can be asked."""
    if not settings.update_url:
        return "Whether there is a newer version is not known: THREADLORE_UPDATE_URL names nobody to ask."
    try:
        newest = await _fetch_newest(settings.update_url)
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError, KeyError, TypeError) as error:
        reason = f"{error.status}" if isinstance(error, aiohttp.ClientResponseError) else type(error).__name__
        return f"Whether there is a newer version is not known: {settings.update_url} could not be read ({reason})."
    return compare_versions(version("threadlore"), newest)


def compare_versions(installed: str, newest: str) -> str:
    """What the newest version means for the installed one, in a sentence. Pure."""
    if not RELEASE.fullmatch(newest):
        return "Whether there is a newer version is not known: the index names none."
    if _split(newest) > _split(installed):
        return f"Version {newest} is newer: read its CHANGELOG.md, make a backup, then update."
    return "There is no newer version."


def _split(text: str) -> tuple[int, ...]:
    match = RELEASE.match(text)
    numbers = [int(part) for part in match[0].split(".")] if match else []
    return tuple(numbers + [0] * (4 - len(numbers)))


async def _fetch_newest(url: str) -> str:
    """The version that the index names. Raises what the request raises, and ValueError for another reply."""
    async with (
        asyncio.timeout(SECONDS),
        aiohttp.ClientSession(trust_env=True, raise_for_status=True) as session,
        session.get(url) as response,
    ):
        body = bytearray()
        async for piece in response.content.iter_chunked(1 << 16):
            body += piece
            if len(body) > MAX_BYTES:
                raise ValueError(url)
    return str(json.loads(body)["info"]["version"])
