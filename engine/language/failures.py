"""What litellm raises, as the engine's own errors.

Classes do not tell enough (a 401 may come as a BadRequestError, a refused connection as a 500), so the status decides.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from engine.errors import BadKey, LanguageError, RateLimited, Refused, TooLong, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

_LENGTH = re.compile(
    r"context.?(length|window)|maximum context|too many (input )?tokens|prompt is too long|input is too long",
    re.IGNORECASE,
)
_NO_KEY = re.compile(r"api_key client option must be set|missing (api key|credentials)", re.IGNORECASE)
_SHOWN = 300


def failure(error: Exception, model: str, key: str = "") -> LanguageError:
    """The error of the family for whatever a call raised; the key never stands in its message."""
    if isinstance(error, LanguageError):
        return error
    if isinstance(error, TimeoutError):
        return Unavailable(f"{model} did not answer in time.")
    text = str(error)
    words = " ".join((text.replace(key, "…") if key else text).split())[:_SHOWN] or type(error).__name__
    told = _kind(error, text)(f"{model}: {words}")
    told.wait = _asked_wait(error)
    return told


def _kind(error: Exception, text: str) -> type[LanguageError]:
    status = getattr(error, "status_code", None)
    known = {401: BadKey, 403: BadKey, 408: Unavailable, 409: Unavailable, 413: TooLong, 429: RateLimited}
    if _NO_KEY.search(text):
        return BadKey
    if status in known:
        return known[status]
    if not isinstance(status, int) or not 400 <= status < 500:
        return Unavailable
    if type(error).__name__ == "ContextWindowExceededError" or _LENGTH.search(text):
        return TooLong
    return Refused


def wants_plain_text(error: LanguageError) -> bool:
    """Whether the server refused nothing but the parameter response_format."""
    return isinstance(error, Refused) and "response_format" in str(error)


def _asked_wait(error: BaseException) -> float | None:
    """How many seconds the provider asks to wait (Retry-After, seconds or a date), if it says so."""
    headers = _headers(error)
    with suppress(ValueError, TypeError):
        return max(0.0, float(headers["retry-after-ms"]) / 1000) if "retry-after-ms" in headers else _seconds(headers)
    return None


def _seconds(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after")
    if value is None:
        return None
    if value.strip().replace(".", "", 1).isdigit():
        return float(value)
    return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())


def _headers(error: BaseException) -> Mapping[str, str]:
    """The headers of the reply, wherever the libraries have put them, by lower-case names."""
    places = (getattr(error, "litellm_response_headers", None), getattr(error, "headers", None))
    reply = getattr(getattr(error, "response", None), "headers", None)
    return {str(name).lower(): str(value) for found in (*places, reply) if found for name, value in found.items()}
