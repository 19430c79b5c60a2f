"""Extract readable error messages of a provider or network from exceptions of libraries. Pure."""

from __future__ import annotations

import errno
import re
import socket
import ssl
from urllib.parse import urlsplit

from engine.errors import EngineError

MAX_MESSAGE_LENGTH = 300

# "litellm.RateLimitError: RateLimitError: OpenAIException - Slow down", "Error code: 429 - {…}".
_ERROR_PREFIXES = re.compile(r"^(?:(?:litellm\.)?\w*(?:Error|Exception)\s*(?::|-\s)\s*|Error code: \d+ - )+")
_ERROR_SUFFIXES = re.compile(
    r"(?<!\s)\s*+(?:\.? ?Handle with `litellm|Original exception:|Learn more: https://docs\.litellm|LiteLLM Retried"
    r"|(?:Received|Available) Model Group|Fallbacks=|For more information check:).*",
    re.DOTALL,
)
_MESSAGE_FIELD = re.compile(r"""['"](?:message|error)['"]:\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")""")
_HTML_PAGE = re.compile(r"<(?:!doctype|html|head|body)\b", re.IGNORECASE)
_INVALID_ADDRESS_ERRORS = frozenset({"InvalidURL", "InvalidUrlClientError", "UnsupportedProtocol"})
_CONNECT_ERRORS = ("ConnectError", "ConnectTimeout", "ClientConnector")
_ERRNO_REASONS = {
    errno.ECONNREFUSED: "connection refused",
    errno.EHOSTUNREACH: "no route to the host",
    errno.ENETUNREACH: "the network is unreachable",
    errno.ETIMEDOUT: "the connection timed out",
}


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
    if any(type(each).__name__ in _INVALID_ADDRESS_ERRORS for each in chain):
        return "the address is invalid; it must begin with http:// or https://"
    if not any(type(each).__name__.startswith(_CONNECT_ERRORS) for each in chain):
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
    for each in exception_chain(error):
        name, port = getattr(each, "host", None), getattr(each, "port", None)
        if isinstance(name, str) and name:
            return f"{name}:{port}" if port else name
    return urlsplit(base).netloc.rpartition("@")[2] or base


def provider_message(error: BaseException, key: str = "") -> str:
    """The provider's own message on one line, without the key; "" if there is none."""
    text = str(error).replace(key, "…") if key else str(error)
    if field := _MESSAGE_FIELD.search(text):
        text = field[1] or field[2] or ""
    text = _ERROR_SUFFIXES.sub("", _ERROR_PREFIXES.sub("", " ".join(text.split())))
    text = "" if _HTML_PAGE.search(text) or "litellm" in text.casefold() else text.strip().rstrip(".")
    return text if len(text) <= MAX_MESSAGE_LENGTH else f"{text[:MAX_MESSAGE_LENGTH].rstrip()}…"
