"""Call Discord with retries and mapped errors, which contain no message text and no tokens."""

from __future__ import annotations

import asyncio
import re
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

import aiohttp
import discord
import structlog

from bot.errors import PermissionDenied, PlatformError, PlatformUnavailable
from engine.scheduling.supervisor import backoff_seconds

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from types import SimpleNamespace

T = TypeVar("T")

log = structlog.get_logger(__name__)

MAX_ATTEMPTS = 6
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 0.5, 8.0  # doubled after each failed attempt
MAX_WAIT_SECONDS = 60.0  # the longest single wait
TOO_MANY_REQUESTS, SERVER_ERROR = 429, 500
# Unknown Webhook, Unknown interaction, Invalid Webhook Token: the interaction token has expired.
EXPIRED_TOKEN_CODES = {10015, 10062, 50027}
UNKNOWN_CHANNEL, UNKNOWN_GUILD, UNKNOWN_MESSAGE = 10003, 10004, 10008
ARCHIVED_THREAD_CODE = 50083
# Cannot send messages to this user, or no mutual server.
UNREACHABLE_USER_CODES = {50007, 50278}
MISSING_PERMISSION_CODES = {50001, 50013}  # Missing Access, Missing Permissions
NEEDED_PERMISSIONS = {  # by action, as Discord's settings name them
    "to write there": ("View Channel", "Send Messages"),
    "to create a forum post": ("View Channel", "Send Messages"),
    "to create a thread": ("Create Public Threads", "Send Messages in Threads"),
    "to react": ("Add Reactions", "Read Message History"),
    "to read the history of a channel": ("View Channel", "Read Message History"),
    "to read a thread": ("View Channel", "Read Message History"),
    "to read a message": ("View Channel", "Read Message History"),
}

MAX_DETAIL_LENGTH = 500  # characters of Discord's explanation
_SENT_TEXT = re.compile(r"\"[^\"]*\"?|'[^']*'?|“[^”]*”?|`[^`]*`?|https?://\S+|[\w.\-]{24,}")

_rate_limit_hits: ContextVar[list[str] | None] = ContextVar("strikes", default=None)


class TokenExpired(PlatformError):
    """The token of an interaction has expired."""

    hint = "Discord accepts answers to a command for fifteen minutes."


class UnknownResource(PlatformError):
    """The resource does not exist or is hidden. `code`: Discord's error code; 0 if a proxy answered."""

    hint = "It was deleted, or the bot cannot see it."

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class ThreadArchived(PlatformError):
    """The thread is archived, so its messages cannot be changed."""

    hint = "Unarchive the thread."


class DiscordUnreachable(PlatformUnavailable):
    """Discord could not be reached."""

    hint = "Check the network, and THREADLORE_DISCORD_API_BASE if it is set. Retried automatically."


class ClientClosed(DiscordUnreachable):
    """The client is closed."""

    hint = "Restart the bot."


def build_rate_limit_trace() -> aiohttp.TraceConfig:
    """Build an HTTP trace that lets count_rate_limits see the 429 responses that the library retries by itself."""
    trace = aiohttp.TraceConfig()

    async def on_request_end(_session: Any, _context: SimpleNamespace, params: aiohttp.TraceRequestEndParams) -> None:
        hits = _rate_limit_hits.get()
        if hits is not None and params.response.status == TOO_MANY_REQUESTS:
            hits.append(params.method)

    trace.on_request_end.append(on_request_end)
    return trace


@contextmanager
def count_rate_limits() -> Iterator[list[str]]:
    """Collect the rate-limited calls made within the block: one list entry per 429 response."""
    hits: list[str] = []
    token = _rate_limit_hits.set(hits)
    try:
        yield hits
    finally:
        _rate_limit_hits.reset(token)


@contextmanager
def map_errors(action: str) -> Iterator[None]:
    """Convert the library's errors to PlatformError. `action` completes “Discord does not allow …”."""
    try:
        yield
    except discord.HTTPException as error:
        raise _to_platform_error(error, action) from None
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        # Such an error quotes the URL, which may contain a token.
        raise DiscordUnreachable(f"Discord could not be reached ({type(error).__name__}): {action}.") from None
    except RuntimeError as error:
        if "closed" not in str(error):
            raise
        raise ClientClosed(f"The connection is closed: {action}.") from None


async def call_with_retries(action: str, call: Callable[[], Awaitable[T]], *, idempotent: bool = True) -> T:
    """Call, and again when Discord asks to wait; if `idempotent`, also when Discord could not be reached.

    Raises PermissionDenied, UnknownResource, TokenExpired, ThreadArchived, DiscordUnreachable or another
    PlatformError.
    """
    for attempt in range(1, MAX_ATTEMPTS):
        try:
            with map_errors(action):
                return await _call_once(call)
        except _RetryAfter as wait:
            await asyncio.sleep(min(wait.seconds, MAX_WAIT_SECONDS))
        except ClientClosed:
            raise
        except DiscordUnreachable:
            if not idempotent:
                raise
            await asyncio.sleep(backoff_seconds(attempt, FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS))
    with map_errors(action):
        return await call()


class _RetryAfter(Exception):
    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


async def _call_once(call: Callable[[], Awaitable[T]]) -> T:
    try:
        return await call()
    except discord.HTTPException as error:
        if error.status != TOO_MANY_REQUESTS:
            raise
        raise _RetryAfter(_retry_after_seconds(error)) from None


def _retry_after_seconds(error: discord.HTTPException) -> float:
    """Seconds to wait after a 429 that the library does not retry: one that did not come from Discord's proxy."""
    try:
        return float(error.response.headers.get("Retry-After", 1.0))
    except ValueError:
        return 1.0


def error_detail(error: discord.HTTPException) -> str:
    """Discord's explanation on one line, without quoted request data."""
    if not error.code:
        return ""  # not Discord's own response
    text = " ".join(error.text[:MAX_DETAIL_LENGTH].split())
    return _SENT_TEXT.sub("…", text)


def _to_platform_error(error: discord.HTTPException, action: str) -> PlatformError:
    number = f"{error.status}, code {error.code}"
    expected = error.code in EXPIRED_TOKEN_CODES or isinstance(error, discord.NotFound)
    log_refusal = log.info if expected else log.warning
    log_refusal(
        "discord.request_refused", action=action, status=error.status, code=error.code, reason=error_detail(error)
    )
    if error.code in EXPIRED_TOKEN_CODES:
        return TokenExpired(f"The interaction has expired ({number}): {action}.")
    if error.status >= SERVER_ERROR or error.status == TOO_MANY_REQUESTS:
        return PlatformUnavailable(f"Discord is unavailable or rate-limits the bot ({number}): {action}.")
    if error.code == ARCHIVED_THREAD_CODE:
        return ThreadArchived(f"The thread is archived ({number}): {action}.")
    if isinstance(error, discord.Forbidden) or error.code in UNREACHABLE_USER_CODES:
        lacking = NEEDED_PERMISSIONS.get(action, ()) if error.code in MISSING_PERMISSION_CODES else ()
        return PermissionDenied(f"Discord does not allow {action} ({number}).", permissions=lacking)
    if isinstance(error, discord.NotFound):
        return UnknownResource(f"Not found on Discord ({number}): {action}.", error.code)
    return PlatformError(f"Discord refused {action} ({number}).")
