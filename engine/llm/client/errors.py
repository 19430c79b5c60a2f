"""Map litellm's exceptions to the engine's errors, with a readable message.

The exception class is not reliable (a 401 may come as a BadRequestError, a refused connection as a 500), so the status
decides.
"""

from __future__ import annotations

import errno
import re
import socket
import ssl
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from engine.errors import (
    BadModelSettings,
    EngineError,
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
from engine.llm.wire.rejections import (
    ANY_PARAMETER,
    SERVER_ERRORS,
    Rejection,
    advises_other_model,
    find_parameter,
    own_words,
    read_rejection,
)
from engine.text.patterns import compile_late

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_TOO_LONG = compile_late(
    r"context.?(length|window)|maximum context|too many (input )?tokens|(prompt|input|request|string) is too long"
    r"|string too long|exceeds?.{0,40}(context|token|configured) (limit|length|size)|(?<!max_)tokens? exceed"
    r"|longer than (the )?(model|max|allowed)|exceeds? .{0,30}\b(context|window)\b"
    r"|reduce (the length of )?(the|your) (message|prompt|input|request)"
    r"|tokens?( count)?( \(\d+\))? exceeds? the maximum"
    r"|tokens? in the (prompt|request|input)s? (can|must|may) ?not exceed"
    r"|exceeds? (the )?max(imum)?( allowed)? (number|amount) of (input |prompt )?tokens|total tokens.{0,60}exceeds?"
    r"|(input|prompt|sequence|context) (length|size)[\w ]{0,20} (exceeds?|is (too|larger|longer))"
    r"|inputs?\W+tokens \+|inputs\W+must have less than|maximum prompt length|payload size exceeds",
    re.IGNORECASE,
)
_OUTPUT_LIMIT = compile_late(r"max_\w*tokens\W{1,3}must be (less|at most|between|smaller)", re.IGNORECASE)
# A request at which nothing is wrong: the server has no time for it yet.
_NOT_READY = compile_late(
    r"\b(has |request )?timed out\b|(is|are) (currently |still |being )*(unloaded|loading|starting|warming up)\b"
    r"|\b(not ready|temporarily unavailable|overloaded|out of memory)\b|try again (later|shortly|in a)",
    re.IGNORECASE,
)
_NO_KEY = compile_late(
    r"api_key client option must be set|missing (api key|credentials)|missing \w+ api key", re.IGNORECASE
)
_NO_PROVIDER = "LLM Provider NOT provided"
# What litellm says of a reply with status 200 that is no JSON.
_NO_JSON = compile_late(r"Empty or invalid response from LLM endpoint|'str' object has no attribute", re.IGNORECASE)
_CONNECTION_LOST = (
    "ReadError",
    "WriteError",
    "RemoteProtocolError",
    "ServerDisconnected",
    "ClientPayload",
    "ConnectionReset",
)

BAD_REQUEST, UNAUTHORIZED, PAYMENT_REQUIRED, FORBIDDEN, NOT_FOUND, NO_METHOD = 400, 401, 402, 403, 404, 405
REQUEST_TIMEOUT, TOO_MANY = 408, 429
TEXT_STATUSES = frozenset({BAD_REQUEST, NOT_FOUND, NO_METHOD, 412, 415, 422, 424, 451})  # the request may be at fault
_CREDENTIALS_HINT = (
    "Set the variables of the provider's own credentials (AWS_…, GOOGLE_APPLICATION_CREDENTIALS, AZURE_…);"
    " docs/models.md shows them."
)
_NOT_FOUND_HINT = "Check the model's name and address; addresses of OpenAI-compatible servers usually end with /v1."
_THINKING_HINT = "Raise THREADLORE_LLM_THINKING_TIMEOUT_SECONDS, or lower the model's reasoning effort in its settings."
NO_API_HINT = (
    "Something else than a model's API may answer there, such as a web page or a proxy: check the address of the model"
    " (THREADLORE_LLM_API_BASE); it usually ends with /v1."
)

MAX_MESSAGE_LENGTH = 300
MIN_SECRET_LENGTH, MIN_HIDDEN_LENGTH = 12, 4  # characters of a key

# "litellm.RateLimitError: RateLimitError: OpenAIException - Slow down", "Error code: 429 - {…}".
_ERROR_PREFIXES = compile_late(
    r"^(?:(?:litellm\.)?\w*(?:Error|Exception)\s*(?::|-\s)\s*|Error code: \d+ - |Message: )+"
)
_ERROR_SUFFIXES = compile_late(
    r"(?<!\s)\s*+(?:\.? ?Handle with `litellm|Original exception:|Learn more: https://docs\.litellm|LiteLLM Retried"
    r"|, Metadata: |(?:Received|Available) Model Group|Fallbacks=|For more information check:).*",
    re.DOTALL,
)
_MESSAGE_FIELD = compile_late(r"""['"](?:message|error)['"]:\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")""")
# What a provider says that passes a request on, and where it repeats what the other said.
_PASSED_ON = compile_late(r"(the )?(provider|upstream)[\w ]{0,30} error|upstream error[\w ]{0,40}", re.IGNORECASE)
_INNER_MESSAGE_FIELD = compile_late(r'\\"(?:message|detail|msg)\\":\s{0,4}\\"((?:[^"\\]|\\(?!"))*+)\\"')
_HTML_PAGE = compile_late(r"<(?:!doctype|html|head|body)\b", re.IGNORECASE)
_INVALID_ADDRESS_ERRORS = frozenset({"InvalidURL", "InvalidUrlClientError", "UnsupportedProtocol"})
_CONNECT_ERRORS = ("ConnectError", "ConnectTimeout", "ClientConnector")
_ERRNO_REASONS = {
    errno.ECONNREFUSED: "connection refused",
    errno.EHOSTUNREACH: "no route to the host",
    errno.ENETUNREACH: "the network is unreachable",
    errno.ETIMEDOUT: "the connection timed out",
}


def map_error(error: Exception, model: str, now: float, key: str = "", base: str = "") -> ModelError:
    """Map any exception of a call to a ModelError; the message never contains the key.

    `now`: the wall time. `base`: the address of the model in the settings.
    """
    if isinstance(error, ModelError):
        return error
    mapped = (
        _no_api_error(error, model)
        or _connection_error(error, model, base)
        or _rejection_error(error, model, provider_message(error, key))
    )
    return mapped.copy(retry_after=_retry_after(error, now))


def name_parameter(mapped: ModelError, error: Exception, sent: Collection[str]) -> ModelError:
    """The error with the parameter that it names among those which were sent."""
    if isinstance(mapped, RequestRejected) and mapped.parameter == ANY_PARAMETER:
        return mapped.copy(parameter=find_parameter(own_words(str(error)), sent) or ANY_PARAMETER)
    return mapped


def thinking_timeout_error(model: str, seconds: float) -> ModelError:
    """Error of a stream whose model thinks for longer than allowed."""
    return ModelTimeout(f"The model {model} thought for more than {seconds:.0f} seconds.", hint=_THINKING_HINT)


def _no_api_error(error: Exception, model: str) -> ModelError | None:
    """Error for a reply that says that all is well, but is no JSON."""
    text = str(error)
    is_page = type(error).__name__ == "APIConnectionError" and _HTML_PAGE.search(text)
    if not is_page and not _NO_JSON.search(text):
        return None
    return ModelUnavailable(f"The server of the model {model} sent something else than a reply.", hint=NO_API_HINT)


def _connection_error(error: Exception, model: str, base: str) -> ModelError | None:
    """Error for a call without a reply, or with half of one."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and 400 <= status < 500 and status != REQUEST_TIMEOUT:
        return None
    if reason := unreachable_reason(error):
        host = provider_host(error, base)
        return ModelUnreachable(f"Cannot reach the model {model}{f' at {host}' if host else ''}: {reason}.")
    names = [type(exception).__name__ for exception in exception_chain(error)]
    if status == REQUEST_TIMEOUT or any("Timeout" in name for name in names):
        return ModelTimeout(f"The model {model} did not answer in time.")
    if any(name.startswith(_CONNECTION_LOST) for name in names):
        return ModelUnavailable(f"The connection to the model {model} was lost.")
    return None


def _rejection_error(error: Exception, name: str, message: str) -> ModelError:
    """Error for a request that the provider rejected, in the provider's own words if there are any."""
    text = own_words(str(error))
    reason = f": {message}." if message else "."
    if _NO_PROVIDER in text:
        return ModelNotFound(f"“{name}” does not name a known provider.")
    status = getattr(error, "status_code", None)
    status = status if isinstance(status, int) else None
    kind = _error_class(error, status, text)
    rejection = _read_error(text, status, kind)
    if found := _named_error(name, rejection, reason, is_quota=status == TOO_MANY):
        return found
    if _NO_KEY.search(text):
        return InvalidApiKey(f"No key is set for the model {name}.")
    if status == FORBIDDEN:
        return InvalidApiKey(f"The key may not be used for the model {name}{reason}")
    if kind is RequestRejected and (status in {NOT_FOUND, NO_METHOD} or advises_other_model(text)):
        return ModelNotFound(f"The provider does not know the model {name}{reason}", hint=_NOT_FOUND_HINT)
    return kind(_ERROR_TEXTS[kind].format(model=name) + reason)


def _named_error(name: str, rejection: Rejection, reason: str, *, is_quota: bool) -> ModelError | None:
    """The error for a cause that the provider names."""
    match rejection.cause:
        case "credit":
            return OutOfCredit(f"The {'quota' if is_quota else 'credit'} for the model {name} is used up{reason}")
        case "credentials":
            return InvalidApiKey(f"No valid credentials are set for the model {name}{reason}", hint=_CREDENTIALS_HINT)
        case "model":
            return ModelNotFound(f"The provider does not offer the model {name}{reason}", hint=_NOT_FOUND_HINT)
        case "settings":
            return _settings_error(name, rejection, reason)
        case "content" | "key" as cause:
            kind = ModelRefused if cause == "content" else InvalidApiKey
            return kind(f"{_ERROR_TEXTS[kind].format(model=name)}{reason}")
    return None


def _read_error(text: str, status: int | None, kind: type[ModelError]) -> Rejection:
    """Why the provider rejected the request, as far as its status leaves that open."""
    if status == PAYMENT_REQUIRED:
        return Rejection("credit")
    found = read_rejection(text, status)
    if found.cause in {"credit", "credentials"} or found.package:
        return found
    names_cause = found.cause in {"content", "model"} or (status == FORBIDDEN and found.cause == "settings")
    is_server = status is not None and status >= SERVER_ERRORS
    of_server = kind is ModelUnavailable and (is_server or bool(found.parameter))
    is_open = kind is RequestRejected or names_cause or of_server
    return found if is_open and status not in {None, UNAUTHORIZED, TOO_MANY} else Rejection("")


def _settings_error(name: str, rejection: Rejection, reason: str) -> BadModelSettings:
    if rejection.package:
        package = _PACKAGES.get(rejection.package, rejection.package)
        hint = f"Install it: pip install {package}."
        return BadModelSettings(f"The package {package} that calls the model {name} is missing.", hint=hint)
    message = f"The provider of the model {name} does not accept its settings{reason}"
    return BadModelSettings(message, parameter=rejection.parameter, lasting=rejection.lasting)


_PACKAGES = {"google": "google-auth", "google.auth": "google-auth", "azure.identity": "azure-identity"}  # by module
_ERROR_TEXTS: Mapping[type[ModelError], str] = {
    InvalidApiKey: "The key for the model {model} is not accepted",
    RateLimited: "The provider of the model {model} asks to slow down",
    PromptTooLong: "The prompt is too long for the model {model}",
    ModelRefused: "The model {model} declined the request",
    RequestRejected: "The provider of the model {model} rejected the request",
    ModelUnavailable: "The model {model} is not working at the moment",
}


def _error_class(error: Exception, status: int | None, text: str) -> type[ModelError]:
    """What the status says."""
    class_by_status = {
        UNAUTHORIZED: InvalidApiKey,
        FORBIDDEN: InvalidApiKey,
        REQUEST_TIMEOUT: ModelUnavailable,
        409: ModelUnavailable,
        413: PromptTooLong,
        TOO_MANY: RateLimited,
        451: ModelRefused,
    }
    if status in class_by_status:
        return class_by_status[status]
    if status not in TEXT_STATUSES or (status == BAD_REQUEST and _HTML_PAGE.search(text)):
        return ModelUnavailable
    if _OUTPUT_LIMIT.search(text):
        return RequestRejected
    if type(error).__name__ == "ContextWindowExceededError" or _TOO_LONG.search(text):
        return PromptTooLong
    if type(error).__name__ == "ContentPolicyViolationError":
        return ModelRefused
    return ModelUnavailable if _NOT_READY.search(text) else RequestRejected


def _retry_after(error: BaseException, now: float) -> float | None:
    """Seconds that the provider asks to wait (Retry-After, seconds or a date), if any."""
    headers = _response_headers(error)
    with suppress(ValueError, TypeError):
        return (
            max(0.0, float(headers["retry-after-ms"]) / 1000)
            if "retry-after-ms" in headers
            else _parse_retry_after(headers, now)
        )
    return None


def _parse_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    value = headers.get("retry-after")
    if value is None:
        return None
    if value.strip().replace(".", "", 1).isdigit():
        return float(value)
    return max(0.0, parsedate_to_datetime(value).timestamp() - now)


def _response_headers(error: BaseException) -> Mapping[str, str]:
    """Headers of the reply from any place where the libraries keep them, by lower-case names."""
    sources = (getattr(error, "litellm_response_headers", None), getattr(error, "headers", None))
    reply = getattr(getattr(error, "response", None), "headers", None)
    return {str(name).lower(): str(value) for found in (*sources, reply) if found for name, value in found.items()}


def exception_chain(error: BaseException) -> list[BaseException]:
    """The error and its causes, the innermost last; errors of an earlier call are excluded."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain and not isinstance(cause, EngineError):
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    return chain


def unreachable_reason(error: BaseException) -> str:
    """Why the request could not be sent, "" if it was sent."""
    chain = exception_chain(error)
    if any(type(exception).__name__ in _INVALID_ADDRESS_ERRORS for exception in chain):
        return "the address is invalid; it must begin with http:// or https://"
    if not any(type(exception).__name__.startswith(_CONNECT_ERRORS) for exception in chain):
        return ""
    return next(filter(None, map(_connection_reason, reversed(chain))), "no connection")


def _connection_reason(error: BaseException) -> str:
    match error:
        case socket.gaierror():
            return "its host name is unknown"
        case ssl.SSLCertVerificationError():
            return "its certificate is not valid"
        case ssl.SSLError():
            return "no secure connection; the server may use http, not https"
        case OSError(errno=int(number)) if number in _ERRNO_REASONS:
            return _ERRNO_REASONS[number]
    return _ERRNO_REASONS[errno.ETIMEDOUT] if type(error).__name__ == "ConnectTimeout" else ""


def provider_host(error: BaseException, base: str) -> str:
    """The provider's host:port, from the library's error, else from the address in the settings."""
    for exception in exception_chain(error):
        name, port = getattr(exception, "host", None), getattr(exception, "port", None)
        if isinstance(name, str) and name:
            return f"{name}:{port}" if port else name
    return urlsplit(base).netloc.rpartition("@")[2] or base


def provider_message(error: BaseException, key: str = "") -> str:
    """The provider's own message on one line, without the key; "" if there is none."""
    text = hide_key(str(error), key)
    if field := _MESSAGE_FIELD.search(text):
        inner = _INNER_MESSAGE_FIELD.search(text)
        text = field[1] or field[2] or ""
        if inner and _PASSED_ON.fullmatch(text):
            text = inner[1]
    text = _ERROR_SUFFIXES.sub("", _ERROR_PREFIXES.sub("", " ".join(text.split())))
    text = "" if _HTML_PAGE.search(text) or "litellm" in text.casefold() else text.strip().rstrip(".")
    return text if len(text) <= MAX_MESSAGE_LENGTH else f"{text[:MAX_MESSAGE_LENGTH].rstrip()}…"


def hide_key(text: str, key: str) -> str:
    """A text without the key. A short one, such as “none” for a local server, is hidden only as a word with a digit."""
    if len(key) >= MIN_SECRET_LENGTH:
        return text.replace(key, "…")
    if len(key) < MIN_HIDDEN_LENGTH or key.isalpha():
        return text
    return re.sub(rf"(?<![\w-]){re.escape(key)}(?![\w-])", "…", text)
