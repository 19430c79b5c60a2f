"""Decide whether a request may use a page without a login, and whether it comes from the page itself. Pure.

A login is not needed by a browser on the machine of the server: it names the server by a loopback name, and no proxy
stands between. Any other name may be one of a foreign site (DNS rebinding), and needs a login.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.listeners.addresses import is_proxied, parse_host, parse_origin

if TYPE_CHECKING:
    from collections.abc import Mapping

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
API_PREFIXES = ("/api/", "/v1/", "/mcp")  # these take a token from a header, which no browser sends by itself


def is_api_path(path: str) -> bool:
    """Whether a path belongs to an API, and not to a page."""
    return path.startswith(API_PREFIXES)


def is_loopback_host(text: str) -> bool:
    """Whether a host, with or without a port, is a loopback name."""
    host = parse_host(text)
    return host is not None and host.is_loopback


def is_local_browser(headers: Mapping[str, str], http_version: str) -> bool:
    """Whether a request comes from a browser on this machine, without a proxy; proxies may speak HTTP/1.0.

    A page of another site may lead to a page here, but load nothing: how long that takes could tell what is found.
    """
    if is_proxied(headers, http_version):
        return False
    if headers.get("sec-fetch-site", "none") not in {"same-origin", "none"} and (
        headers.get("sec-fetch-dest") != "document"
    ):
        return False
    return is_loopback_host(headers.get("host", ""))


def is_same_origin(headers: Mapping[str, str]) -> bool:
    """Whether a browser sent a request from a page of this server. Not if the browser does not say."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site != "same-origin":
        return False
    if origin is None:
        return site is not None
    return names_host(origin, headers.get("host", ""))


def names_host(origin: str, host: str) -> bool:
    """Whether an origin is that of a page of a host."""
    found = parse_origin(origin)
    return found is not None and found == parse_host(host)


def is_allowed(method: str, path: str, headers: Mapping[str, str]) -> bool:
    """Whether a request may be handled: one that changes something on a page comes from a page."""
    return method in SAFE_METHODS or is_api_path(path) or is_same_origin(headers)


def to_local_path(text: str) -> str:
    """A path of this server to which a login leads; the first page for anything else."""
    plain = text.isprintable() and "\\" not in text
    return text if plain and text.startswith("/") and not text.startswith("//") else "/"
