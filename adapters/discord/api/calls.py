"""Calls to Discord: waiting when told to, and errors in our own words; neither texts nor tokens stand in them."""

from __future__ import annotations

import asyncio
import re
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

import aiohttp
import discord
import structlog

from bot.errors import PlatformError, PlatformUnavailable, Withheld

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from types import SimpleNamespace

T = TypeVar("T")

log = structlog.get_logger(__name__)

TRIES = 6
LONGEST = 60.0  # seconds to wait at once
TOO_MANY, SERVER_ERROR = 429, 500
# Unknown Webhook, Unknown interaction, Invalid Webhook Token: the token's time is over.
OVER = {10015, 10062, 50027}
UNKNOWN_CHANNEL, UNKNOWN_GUILD, UNKNOWN_MESSAGE = 10003, 10004, 10008
ARCHIVED = 50083
# Cannot send messages to this user; also for want of a server that both are in.
UNREACHABLE = {50007, 50278}

DETAIL = 500  # characters of an explanation
_SENT = re.compile(r"\"[^\"]*\"?|'[^']*'?|“[^”]*”?|`[^`]*`?|https?://\S+|[\w.\-]{24,}")

_strikes: ContextVar[list[str] | None] = ContextVar("strikes", default=None)


class Over(PlatformError):
    """An interaction cannot be answered any more."""

    hint = "Discord takes an answer to a command for fifteen minutes."


class Missing(PlatformError):
    """Discord does not know it. `code`: what exactly, in Discord's numbers; 0 if the answer is not Discord's own."""

    hint = "It was deleted, or the bot cannot see it."

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Archived(PlatformError):
    """In an archived thread nothing can be changed."""

    hint = "Open it again."


class Unreached(PlatformUnavailable):
    """Discord did not answer."""

    hint = "Check the network, and THREADLORE_DISCORD_API_BASE if it is set; it is tried again."


class Closed(Unreached):
    """The connection was ended by ourselves."""

    hint = "It goes on at the next start."


def watching() -> aiohttp.TraceConfig:
    """What an HTTP session needs so that `struck` learns of refusals which the library waits out by itself."""
    trace = aiohttp.TraceConfig()

    async def note(_session: Any, _context: SimpleNamespace, params: aiohttp.TraceRequestEndParams) -> None:
        strikes = _strikes.get()
        if strikes is not None and params.response.status == TOO_MANY:
            strikes.append(params.method)

    trace.on_request_end.append(note)
    return trace


@contextmanager
def struck() -> Iterator[list[str]]:
    """Within it the list grows by every refusal for being too fast."""
    strikes: list[str] = []
    token = _strikes.set(strikes)
    try:
        yield strikes
    finally:
        _strikes.reset(token)


@contextmanager
def told(what: str) -> Iterator[None]:
    """Turn the library's errors into ours. `what` completes “Discord does not allow …”."""
    try:
        yield
    except discord.HTTPException as error:
        raise _ours(error, what) from None
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        # The address stands in such an error, and a token may stand in the address.
        raise Unreached(f"Discord was not reached ({type(error).__name__}): {what}.") from None
    except RuntimeError as error:
        if "closed" not in str(error):
            raise
        raise Closed(f"The connection is closed: {what}.") from None


async def patiently(what: str, call: Callable[[], Awaitable[T]], *, again: bool = True) -> T:
    """What a call gives; it is repeated when Discord asks to wait, and if `again` also when it was not reached.

    Raises PlatformError, Withheld, Missing, Over, Unreached.
    """
    for attempt in range(TRIES - 1):
        try:
            with told(what):
                return await _once(call)
        except _Wait as wait:
            await asyncio.sleep(min(wait.seconds, LONGEST))
        except Closed:
            raise
        except Unreached:
            if not again:
                raise
            await asyncio.sleep(0.5 * 2**attempt)
    with told(what):
        return await call()


class _Wait(Exception):
    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


async def _once(call: Callable[[], Awaitable[T]]) -> T:
    try:
        return await call()
    except discord.HTTPException as error:
        if error.status != TOO_MANY:
            raise
        raise _Wait(_seconds(error)) from None


def _seconds(error: discord.HTTPException) -> float:
    """How long to wait; the library leaves it to us when a 429 did not come from Discord's own proxy."""
    try:
        return float(error.response.headers.get("Retry-After", 1.0))
    except ValueError:
        return 1.0


def detail(error: discord.HTTPException) -> str:
    """What Discord says was wrong, on one line, without anything that may have been sent to it."""
    if not error.code:
        return ""  # not Discord's own words
    said = " ".join(error.text[:DETAIL].split())
    return _SENT.sub("…", said)


def _ours(error: discord.HTTPException, what: str) -> PlatformError:
    number = f"{error.status}, code {error.code}"
    expected = error.code in OVER or isinstance(error, discord.NotFound)
    tell = log.info if expected else log.warning
    tell("discord.request_refused", what=what, status=error.status, code=error.code, reason=detail(error))
    if error.code in OVER:
        return Over(f"Discord does not take an answer any more ({number}): {what}.")
    if error.status >= SERVER_ERROR or error.status == TOO_MANY:
        return PlatformUnavailable(f"Discord has trouble of its own, or asks to wait ({number}): {what}.")
    if error.code == ARCHIVED:
        return Archived(f"The thread is archived ({number}): {what}.")
    if isinstance(error, discord.Forbidden) or error.code in UNREACHABLE:
        return Withheld(f"Discord does not allow {what} ({number}).")
    if isinstance(error, discord.NotFound):
        return Missing(f"Discord does not know it ({number}): {what}.", error.code)
    return PlatformError(f"Discord refused {what} ({number}).")
