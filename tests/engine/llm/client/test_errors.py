from __future__ import annotations

import errno
import re
import socket
import ssl
from datetime import timedelta
from email.utils import format_datetime

import pytest

from engine.errors import (
    BadModelSettings,
    InvalidApiKey,
    ModelError,
    ModelNotFound,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    ModelUnreachable,
    OutOfCredit,
    PromptTooLong,
    RateLimited,
    RequestRejected,
)
from engine.llm.client.errors import map_error
from engine.llm.wire.rejections import RESPONSE_FORMAT
from tests.support.clock import MONDAY_NOON

NOW = MONDAY_NOON.timestamp()


class ProviderError(Exception):
    """As libraries raise it: a message, and perhaps a status and headers."""

    def __init__(self, message: str, status: int | None = None, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        if status is not None:
            self.status_code = status
        self.litellm_response_headers = headers


class ContextWindowExceededError(ProviderError):
    """Named as litellm names it."""


class ConnectError(Exception):
    """Named as httpx names it."""


WRONG_KEY = "litellm.AuthenticationError: AnthropicException - {'error': {'message': 'wrong'}}"
NO_CREDENTIALS = "OpenAIException - Missing credentials. Please pass an `api_key`"
SLOW = "litellm.RateLimitError: RateLimitError: OpenAIException - Slow."
NO_MODEL = 'OllamaException - {"error": "no model \'m\'"}'
TEMPERATURE = "BadRequestError: OpenAIException - temperature: at most 2"
OUTPUT_LIMIT = "`max_tokens` must be less than `99`, which is less than the `context_window`"
MEMORY = "model requires more system memory (9 GiB) than is available (2 GiB)"
PAGE = "<!doctype html><html>Bad gateway</html>"


PASSED_ON = r'{"error": {"message": "Provider returned error", "raw": "{\"message\": \"It was flagged as unsafe\"}"}}'


class APIConnectionError(ProviderError):
    """Named as litellm names it."""


NO_JSON = pytest.mark.parametrize(
    "error",
    [
        ProviderError(f"OpenAIException - Empty or invalid response from LLM endpoint. Received: {PAGE!r}", 500),
        ProviderError("OpenAIException - 'str' object has no attribute 'model_dump'", 500),
        APIConnectionError(f"CohereException - {PAGE}", 500),
    ],
    ids=["chat", "embed", "rerank"],
)


@pytest.mark.parametrize(
    ("error", "kind", "sentence"),
    [
        (ProviderError(WRONG_KEY, 401), InvalidApiKey, "The key for the model m is not accepted: wrong."),
        (ProviderError("No.", 403), InvalidApiKey, "The key may not be used for the model m: No."),
        (ProviderError("The api_key client option must be set", 500), InvalidApiKey, "No key is set for the model m."),
        (ProviderError(NO_CREDENTIALS, 500), InvalidApiKey, "No key is set for the model m."),
        (ProviderError("Missing Anthropic API Key", 401), InvalidApiKey, "No key is set for the model m."),
        (ProviderError(SLOW, 429), RateLimited, "The provider of the model m asks to slow down: Slow."),
        (ProviderError("Your current quota", 429), OutOfCredit, "The quota for the model m is used up: Your c"),
        (ProviderError("Insufficient Balance", 402), OutOfCredit, "The credit for the model m is used up: Insuf"),
        (ProviderError("Your credit balance is too low", 400), OutOfCredit, "The credit for the model m is used up"),
        (ProviderError(PAGE, 400), ModelUnavailable, "The model m is not working at the moment."),
        (ProviderError("locked", 423), ModelUnavailable, "The model m is not working at the moment: locked."),
        (ProviderError("maximum context length is 8192", 400), PromptTooLong, "The prompt is too long for the model m"),
        (ProviderError("prompt is too long", 400), PromptTooLong, "The prompt is too long for the model m"),
        (ContextWindowExceededError("?", 400), PromptTooLong, "The prompt is too long for the model m"),
        (ProviderError("Reduce the length of the messages", 400), PromptTooLong, "The prompt is too long for the mod"),
        (ProviderError("The maximum prompt length is 9", 400), PromptTooLong, "The prompt is too long for the model"),
        (ProviderError(OUTPUT_LIMIT, 400), BadModelSettings, "does not accept its settings: `max_tokens` must be less"),
        (ProviderError("API key not valid", 400), InvalidApiKey, "The key for the model m is not accepted: API key"),
        (ProviderError("Model Not Exist", 400), ModelNotFound, "The provider does not offer the model m: Model Not"),
        (ProviderError("Model is not found", 404), ModelNotFound, "The provider does not offer the model m"),
        (ProviderError("Method not allowed", 405), ModelNotFound, "The provider does not know the model m"),
        (ProviderError("The model has timed out", 424), ModelUnavailable, "The model m is not working at the moment"),
        (ProviderError("Input token count (9) exceeds the maximum", 400), PromptTooLong, "The prompt is too long"),
        (ProviderError(PASSED_ON, 400), ModelRefused, "The model m declined the request: It was flagged as unsafe."),
        (ProviderError("Key limit exceeded", 403), OutOfCredit, "The credit for the model m is used up: Key limit"),
        (ProviderError("credits are depleted", 429), OutOfCredit, "The quota for the model m is used up: credits are"),
        (ProviderError(MEMORY, 500), BadModelSettings, "does not accept its settings: model requires more system"),
        (ProviderError("body too large", 413), PromptTooLong, "The prompt is too long for the model m"),
        (
            ProviderError("Input length 9 exceeds the maximum length 8", 400),
            PromptTooLong,
            "The prompt is too long for",
        ),
        (ProviderError("CUDA out of memory", 400), ModelUnavailable, "The model m is not working at the moment"),
        (ProviderError("Context length exceeded; use another model", 400), PromptTooLong, "The prompt is too long for"),
        (ProviderError("No sound here; use another model", 400), ModelNotFound, "The provider does not know the model"),
        (
            ProviderError("Odd output: try again or use another model", 400),
            RequestRejected,
            "rejected the request: Odd",
        ),
        (ProviderError("our content policy", 400), ModelRefused, "The model m declined the request: our content pol"),
        (ProviderError(TEMPERATURE, 400), BadModelSettings, "does not accept its settings: temperature: at most 2."),
        (ProviderError("Something is odd", 400), RequestRejected, "rejected the request: Something is odd."),
        (ProviderError(NO_MODEL, 404), ModelNotFound, "The provider does not know the model m: no model 'm'."),
        (ProviderError("LLM Provider NOT provided. Learn …", 400), ModelNotFound, "“m” does not name a known"),
        (ProviderError("busy", 503), ModelUnavailable, "The model m is not working at the moment: busy."),
        (ProviderError("refused connection", 500), ModelUnavailable, "The model m is not working at the moment"),
        (ProviderError("broken pipe"), ModelUnavailable, "The model m is not working at the moment"),
        (ProviderError(PAGE, 502), ModelUnavailable, "The model m is not working at the moment."),
        (ProviderError("litellm.Timeout: Timed out.", 408), ModelTimeout, "The model m did not answer in time."),
        (TimeoutError(), ModelTimeout, "The model m did not answer in time."),
        (ConnectionResetError("peer"), ModelUnavailable, "The connection to the model m was lost."),
    ],
)
def test_a_failure_has_a_kind_and_a_sentence_in_plain_words(
    error: Exception, kind: type[ModelError], sentence: str
) -> None:
    mapped = map_error(error, "m", NOW)
    assert type(mapped) is kind
    assert sentence in str(mapped)
    assert str(mapped).endswith(".")
    assert mapped.hint
    assert not re.search(r"litellm|\w(Error|Exception)\b|[{}]", str(mapped), re.IGNORECASE)


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def connection_error(cause: Exception) -> Exception:
    """A failed connection as litellm reports it: as a 500, and only the causes say what happened."""
    error = ProviderError("litellm.InternalServerError: OpenAIException - Connection error.", 500)
    return caused(error, caused(ConnectError("All connection attempts failed"), cause))


REFUSED = ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed")


@NO_JSON
def test_a_web_page_instead_of_a_reply_points_to_the_address(error: Exception) -> None:
    mapped = map_error(error, "m", NOW)
    assert isinstance(mapped, ModelUnavailable)
    assert str(mapped) == "The server of the model m sent something else than a reply."
    assert "THREADLORE_LLM_API_BASE" in mapped.hint


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        (REFUSED, "connection refused"),
        (socket.gaierror(-2, "Name or service not known"), "its host name is unknown"),
        (OSError(errno.ENETUNREACH, "?"), "the network is unreachable"),
        (ssl.SSLCertVerificationError("self-signed"), "its certificate is not valid"),
        (ssl.SSLError("wrong version number"), "no secure connection; the server may use http, not https"),
        (ValueError("?"), "no connection"),
    ],
)
def test_an_unreachable_model_is_named_with_its_address_and_the_reason(cause: Exception, reason: str) -> None:
    mapped = map_error(connection_error(cause), "openai/x", NOW, "sk-1", "http://ada:pass@models.example:8080/v1")
    assert type(mapped) is ModelUnreachable
    assert str(mapped) == f"Cannot reach the model openai/x at models.example:8080: {reason}."
    assert "_API_BASE" in mapped.hint


def test_a_failure_of_an_earlier_call_is_ignored() -> None:
    busy = caused(ProviderError("busy", 503), map_error(connection_error(REFUSED), "m", NOW))
    assert str(map_error(busy, "m", NOW)) == "The model m is not working at the moment: busy."


def test_a_mapped_error_is_not_mapped_again() -> None:
    known = ModelRefused("as it was")
    assert map_error(known, "m", NOW) is known


def test_messages_are_one_short_line_without_the_key() -> None:
    assert "sk-1" not in str(map_error(ProviderError("wrong key sk-1", 401), "m", NOW, "sk-1"))
    assert "1 token of none" in str(map_error(ProviderError("1 token of none", 500), "m", NOW, "to"))
    message = str(map_error(ProviderError("a\nb " * 1000, 500), "m", NOW))
    assert "\n" not in message
    assert len(message) < 400


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": format_datetime(MONDAY_NOON + timedelta(hours=10), usegmt=True)}, 36_000),
        ({"retry-after": "soon"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_the_wait_that_a_provider_asks_for_is_read(headers: dict[str, str] | None, wait: float | None) -> None:
    found = map_error(ProviderError("slow", 429, headers), "m", NOW).retry_after
    assert found == wait


@pytest.mark.parametrize(("status", "expected"), [(400, True), (429, False), (500, False), (401, False), (None, False)])
def test_only_a_rejected_response_format_is_worth_plain_text(status: int | None, *, expected: bool) -> None:
    message = "'response_format.type' must be json_schema or text"
    error = map_error(ProviderError(message, status), "m", NOW)
    assert (isinstance(error, RequestRejected) and error.parameter == RESPONSE_FORMAT) == expected
