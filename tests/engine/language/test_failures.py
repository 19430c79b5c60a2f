from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from engine.errors import BadKey, LanguageError, RateLimited, Refused, TooLong, Unavailable
from engine.language.failures import failure, wants_plain_text


class ProviderError(Exception):
    """As libraries raise it: a message, and perhaps a status and headers."""

    def __init__(self, message: str, status: int | None = None, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        if status is not None:
            self.status_code = status
        self.litellm_response_headers = headers


class ContextWindowExceededError(ProviderError):
    """Named as litellm names it."""


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ProviderError("no", 401), BadKey),
        (ProviderError("no", 403), BadKey),
        (ProviderError("The api_key client option must be set", 500), BadKey),
        (ProviderError("slow down", 429), RateLimited),
        (ProviderError("This model's maximum context length is 8192 tokens", 400), TooLong),
        (ContextWindowExceededError("?", 400), TooLong),
        (ProviderError("body too large", 413), TooLong),
        (ProviderError("flagged by our content policy", 400), Refused),
        (ProviderError("no such model", 404), Refused),
        (ProviderError("busy", 503), Unavailable),
        (ProviderError("refused connection", 500), Unavailable),
        (ProviderError("waited", 408), Unavailable),
        (ProviderError("broken pipe"), Unavailable),
        (TimeoutError(), Unavailable),
        (ConnectionResetError("peer"), Unavailable),
    ],
)
def test_the_status_decides_the_kind(error: Exception, kind: type[LanguageError]) -> None:
    told = failure(error, "openai/x")
    assert type(told) is kind
    assert "openai/x" in str(told)
    assert told.hint


def test_our_own_errors_stay_as_they_are() -> None:
    known = Refused("as it was")
    assert failure(known, "m") is known


def test_the_key_never_stands_in_a_message() -> None:
    assert "sk-1" not in str(failure(ProviderError("wrong key sk-1", 401), "m", "sk-1"))


def test_messages_are_one_short_line() -> None:
    told = str(failure(ProviderError("a\nb " * 1000, 500), "m"))
    assert "\n" not in told
    assert len(told) < 400


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_the_wait_that_a_provider_asks_for_is_read(headers: dict[str, str] | None, wait: float | None) -> None:
    assert failure(ProviderError("slow", 429, headers), "m").wait == wait


def test_a_wait_may_be_a_date() -> None:
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    wait = failure(ProviderError("slow", 429, {"retry-after": then}), "m").wait
    assert wait is not None
    assert 90 < wait <= 100


def test_only_a_refused_response_format_is_worth_plain_text() -> None:
    assert wants_plain_text(failure(ProviderError("'response_format.type' must be json_schema or text", 400), "m"))
    for status in (429, 500, 401, None):
        assert not wants_plain_text(failure(ProviderError("response_format must be text", status), "m"))
