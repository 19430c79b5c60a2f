"""Decide whether a request may use a page without a login, and whether it comes from the page itself. Pure.

A login is not needed by a browser on the machine of the server: it names the server by a loopback name, and no proxy
stands between. Any other name may be one of a foreign site (DNS rebinding), and needs a login.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
API_PREFIXES = ("/api/", "/v1/", "/mcp")  # these take a token from a header, which no browser sends by itself
PROXY_HEADERS = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")


def is_api_path(path: str) -> bool:
    """Whether a path belongs to an API, and not to a page."""
    return path.startswith(API_PREFIXES)


def is_loopback_host(host: str) -> bool:
    """Whether a host, with or without a port, is a loopback name."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def is_local_browser(headers: Mapping[str, str], http_version: str) -> bool:
    """Whether a request comes from a browser on this machine, without a proxy; proxies may speak HTTP/1.0.

    A page of another site may lead to a page here, but load nothing: how long that takes could tell what is found.
    """
    if http_version == "1.0" or any(name in headers for name in PROXY_HEADERS):
        return False
    if headers.get("sec-fetch-site", "none") not in {"same-origin", "none"} and (
        headers.get("sec-fetch-dest") != "document"
    ):
        return False
    return is_loopback_host(headers.get("host", ""))


def find_client_address(peer: str, forwarded: str) -> str:
    """The address of a client: that of the peer, or what a proxy on this machine or its network says it is.

    `forwarded`: X-Forwarded-For, whose last part is from the proxy itself.
    """
    try:
        is_near = ipaddress.ip_address(peer).is_private
        return str(ipaddress.ip_address(forwarded.rpartition(",")[2].strip())) if is_near else peer
    except ValueError:
        return peer


def is_same_origin(headers: Mapping[str, str]) -> bool:
    """Whether a browser sent a request from a page of this server. Not if the browser does not say."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site != "same-origin":
        return False
    if origin is None:
        return site is not None
    try:
        return urlsplit(origin).netloc.lower() == headers.get("host", "").lower() != ""
    except ValueError:
        return False


def is_allowed(method: str, path: str, headers: Mapping[str, str]) -> bool:
    """Whether a request may be handled: one that changes something on a page comes from a page."""
    return method in SAFE_METHODS or is_api_path(path) or is_same_origin(headers)


def to_local_path(text: str) -> str:
    """A path of this server to which a login leads; the first page for anything else."""
    plain = text.isprintable() and "\\" not in text
    return text if plain and text.startswith("/") and not text.startswith("//") else "/"
