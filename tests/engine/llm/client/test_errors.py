from __future__ import annotations

import errno
import re
import socket
import ssl
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from engine.errors import (
    InvalidApiKey,
    ModelError,
    ModelNotFound,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    ModelUnreachable,
    PromptTooLong,
    RateLimited,
)
from engine.llm.client.errors import is_response_format_error, map_error


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
        (ProviderError("no", 401), InvalidApiKey),
        (ProviderError("no", 403), InvalidApiKey),
        (ProviderError("The api_key client option must be set", 500), InvalidApiKey),
        (ProviderError("slow down", 429), RateLimited),
        (ProviderError("This model's maximum context length is 8192 tokens", 400), PromptTooLong),
        (ContextWindowExceededError("?", 400), PromptTooLong),
        (ProviderError("body too large", 413), PromptTooLong),
        (ProviderError("flagged by our content policy", 400), ModelRefused),
        (ProviderError("no such model", 404), ModelNotFound),
        (ProviderError("busy", 503), ModelUnavailable),
        (ProviderError("refused connection", 500), ModelUnavailable),
        (ProviderError("waited", 408), ModelTimeout),
        (ProviderError("broken pipe"), ModelUnavailable),
        (TimeoutError(), ModelTimeout),
        (ConnectionResetError("peer"), ModelUnavailable),
    ],
)
def test_the_status_decides_the_kind(error: Exception, kind: type[ModelError]) -> None:
    told = map_error(error, "openai/x")
    assert type(told) is kind
    assert "openai/x" in str(told)
    assert told.hint


class ConnectError(Exception):
    """Named as the library of connections names it."""


def because(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def dead(cause: Exception) -> Exception:
    """A failed connection as litellm passes it on: as a 500, whose causes alone tell."""
    told = ProviderError("litellm.InternalServerError: OpenAIException - Connection error.", 500)
    return because(told, because(ConnectError("All connection attempts failed"), cause))


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed"), "connection refused"),
        (socket.gaierror(-2, "Name or service not known"), "its host name is unknown"),
        (OSError(errno.ENETUNREACH, "?"), "the network is unreachable"),
        (ssl.SSLCertVerificationError("self-signed"), "its certificate is not valid"),
        (ssl.SSLError("wrong version number"), "no secure connection; the server may use http, not https"),
        (ValueError("?"), "no connection"),
    ],
)
def test_a_model_out_of_reach_is_told_by_its_address_and_the_reason(cause: Exception, reason: str) -> None:
    told = map_error(dead(cause), "openai/x", "sk-1", "http://ada:pass@models.example:8080/v1")
    assert type(told) is ModelUnreachable
    assert str(told) == f"Cannot reach the model openai/x at models.example:8080: {reason}."
    assert "_API_BASE" in told.hint


def test_what_failed_in_an_earlier_call_is_not_told_of_this_one() -> None:
    earlier = map_error(dead(ConnectionRefusedError(errno.ECONNREFUSED, "?")), "m")
    busy = because(ProviderError("busy", 503), earlier)
    assert str(map_error(busy, "m")) == "The model m is not working at the moment: busy."


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            ProviderError("litellm.AuthenticationError: AnthropicException - {'error': {'message': 'wrong'}}", 401),
            "The key for the model m is not accepted: wrong.",
        ),
        (
            ProviderError("Country not supported", 403),
            "The key may not be used for the model m: Country not supported.",
        ),
        (ProviderError("OpenAIException - Missing credentials. Please pass an `api_key`", 500), "No key is set"),
        (ProviderError("litellm.AuthenticationError: Missing Anthropic API Key", 401), "No key is set"),
        (
            ProviderError("litellm.RateLimitError: RateLimitError: OpenAIException - Slow.", 429),
            "asks to slow down: Slow.",
        ),
        (ProviderError("You exceeded your current quota", 429), "The quota for the model m is used up"),
        (ProviderError("prompt is too long", 400), "The prompt is too long for the model m"),
        (
            ProviderError('OllamaException - {"error": "no model \'m\'"}', 404),
            "does not know the model m: no model 'm'.",
        ),
        (
            ProviderError("litellm.BadRequestError: LLM Provider NOT provided. Learn …", 400),
            "“m” does not name a known",
        ),
        (
            ProviderError("BadRequestError: OpenAIException - temperature: at most 2", 400),
            "request: temperature: at most 2.",
        ),
        (ProviderError("<!doctype html><html>Bad gateway</html>", 502), "The model m is not working at the moment."),
        (ProviderError("litellm.Timeout: Request timed out.", 408), "The model m did not answer in time."),
        (TimeoutError(), "The model m did not answer in time."),
        (ConnectionResetError("peer"), "The connection to the model m was lost."),
    ],
)
def test_failures_are_sentences_without_the_words_of_libraries(error: Exception, sentence: str) -> None:
    told = map_error(error, "m")
    assert sentence in str(told)
    assert str(told).endswith(".")
    assert told.hint
    assert not re.search(r"litellm|\w(Error|Exception)\b|[{}]", str(told), re.IGNORECASE)


def test_our_own_errors_stay_as_they_are() -> None:
    known = ModelRefused("as it was")
    assert map_error(known, "m") is known


def test_the_key_never_stands_in_a_message() -> None:
    assert "sk-1" not in str(map_error(ProviderError("wrong key sk-1", 401), "m", "sk-1"))


def test_messages_are_one_short_line() -> None:
    told = str(map_error(ProviderError("a\nb " * 1000, 500), "m"))
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
    assert map_error(ProviderError("slow", 429, headers), "m").retry_after == wait


def test_a_wait_may_be_a_date() -> None:
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    wait = map_error(ProviderError("slow", 429, {"retry-after": then}), "m").retry_after
    assert wait is not None
    assert 90 < wait <= 100


def test_only_a_refused_response_format_is_worth_plain_text() -> None:
    assert is_response_format_error(
        map_error(ProviderError("'response_format.type' must be json_schema or text", 400), "m")
    )
    for status in (429, 500, 401, None):
        assert not is_response_format_error(map_error(ProviderError("response_format must be text", status), "m"))
