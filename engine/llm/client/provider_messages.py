"""What a provider, or the way to it, complained of, in plain words: without what the libraries between us add. Pure."""

from __future__ import annotations

import errno
import re
import socket
import ssl
from urllib.parse import urlsplit

from engine.errors import EngineError

LONGEST = 300

# "litellm.RateLimitError: RateLimitError: OpenAIException - Slow down", "Error code: 429 - {…}".
_HEADS = re.compile(r"^(?:(?:litellm\.)?\w*(?:Error|Exception)\s*(?::|-\s)\s*|Error code: \d+ - )+")
_TAILS = re.compile(
    r"(?<!\s)\s*+(?:\.? ?Handle with `litellm|Original exception:|Learn more: https://docs\.litellm|LiteLLM Retried"
    r"|(?:Received|Available) Model Group|Fallbacks=|For more information check:).*",
    re.DOTALL,
)
_MESSAGE = re.compile(r"""['"](?:message|error)['"]:\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")""")
_PAGE = re.compile(r"<(?:!doctype|html|head|body)\b", re.IGNORECASE)
_NO_ADDRESS = frozenset({"InvalidURL", "InvalidUrlClientError", "UnsupportedProtocol"})
_CONNECTING = ("ConnectError", "ConnectTimeout", "ClientConnector")
_REASONS = {
    errno.ECONNREFUSED: "connection refused",
    errno.EHOSTUNREACH: "no route to the host",
    errno.ENETUNREACH: "the network is unreachable",
    errno.ETIMEDOUT: "the connection timed out",
}


def causes(error: BaseException) -> list[BaseException]:
    """The error and what led to it, the innermost last; what we told of an earlier call is no part of it."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain and not isinstance(cause, EngineError):
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    return chain


def unreachable(error: BaseException) -> str:
    """Why nothing could be sent at all, "" if something was."""
    chain = causes(error)
    if any(type(each).__name__ in _NO_ADDRESS for each in chain):
        return "this is no address; it begins with http:// or https://"
    if not any(type(each).__name__.startswith(_CONNECTING) for each in chain):
        return ""
    return next(filter(None, map(_reason, reversed(chain))), "no connection")


def _reason(error: BaseException) -> str:
    match error:
        case socket.gaierror():
            return "its name is not known"
        case ssl.SSLCertVerificationError():
            return "its certificate is not valid"
        case ssl.SSLError():
            return "no secure connection; perhaps it speaks http, not https"
        case OSError(errno=int(number)) if number in _REASONS:
            return _REASONS[number]
    return _REASONS[errno.ETIMEDOUT] if type(error).__name__ == "ConnectTimeout" else ""


def host(error: BaseException, base: str) -> str:
    """Where the provider was sought, as host:port: as the library tells it, else by the address in the settings."""
    for each in causes(error):
        name, port = getattr(each, "host", None), getattr(each, "port", None)
        if isinstance(name, str) and name:
            return f"{name}:{port}" if port else name
    return urlsplit(base).netloc.rpartition("@")[2] or base


def said(error: BaseException, key: str = "") -> str:
    """The provider's own words, on one line, without the key; "" if there are none."""
    text = str(error).replace(key, "…") if key else str(error)
    if found := _MESSAGE.search(text):
        text = found[1] or found[2] or ""
    text = _TAILS.sub("", _HEADS.sub("", " ".join(text.split())))
    text = "" if _PAGE.search(text) or "litellm" in text.casefold() else text.strip().rstrip(".")
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip()}…"
