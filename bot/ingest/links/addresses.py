"""Which addresses may be fetched: of pages in messages, and of the servers that their names lead to. Pure."""

from __future__ import annotations

import re
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from bot.errors import PageNotRead

MAX_LENGTH = 2048
DEFAULT_PORTS = {"http": 80, "https": 443}
_URL = re.compile(r"https?://[^\s<>|\"'`\[\]{}\\^]+", re.IGNORECASE)
_PUNCTUATION = ".,;:!?*_~’”»"
_NAME = re.compile(r"(?=.{1,253}\Z)(?!.*\.[0-9]+\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}\Z")
# Only addresses in 2000::/3 are assigned to the public internet. Some of it is not public, or contains an IPv4 address.
_PUBLIC_IPV6 = IPv6Network("2000::/3")
_EXCLUDED_IPV6 = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))
_EXCLUDED_IPV4 = tuple(map(IPv4Network, ("192.0.0.0/24", "192.88.99.0/24", "100.64.0.0/10", "198.18.0.0/15")))


class PageUrl(NamedTuple):
    """The parts of an address that may be fetched, as far as its name tells."""

    scheme: str
    host: str
    port: int

    @property
    def origin(self) -> str:
        """The server, such as `https://town.example:443`."""
        return f"{self.scheme}://{self.host}:{self.port}"


def find_urls(text: str, most: int) -> tuple[str, ...]:
    """The first web addresses in a plain text, each once, without punctuation at their ends and without fragments."""
    found: dict[str, None] = {}
    for match in _URL.finditer(text):
        if len(match[0]) > MAX_LENGTH:
            continue
        url = match[0].rstrip(_PUNCTUATION)
        while url.endswith(")") and url.count("(") < url.count(")"):
            url = url[:-1].rstrip(_PUNCTUATION)
        found.setdefault(url.partition("#")[0])
        if len(found) == most:
            break
    return tuple(found)


def parse_url(url: str, ports: frozenset[int] = frozenset(DEFAULT_PORTS.values())) -> PageUrl:
    """The parts of an address. Raises PageNotRead unless it is a web address with a name, without credentials."""
    try:
        parts = urlsplit(url)
        port = parts.port or DEFAULT_PORTS.get(parts.scheme, 0)
        host = (parts.hostname or "").rstrip(".").encode("idna").decode("ascii").lower()
    except ValueError as error:
        raise PageNotRead("The address is not valid.") from error
    if (
        parts.scheme not in DEFAULT_PORTS
        or len(url) > MAX_LENGTH
        or any(character <= " " or character == "\x7f" for character in url)
    ):
        raise PageNotRead("It is not a web address.")
    if "@" in parts.netloc or "\\" in url:
        raise PageNotRead("The address contains credentials.")
    if port not in ports:
        raise PageNotRead("The address names an unusual port.")
    if not _NAME.match(host):
        raise PageNotRead("The address does not name a public host.")
    return PageUrl(parts.scheme, host, port)


def join_url(url: str, location: str) -> str:
    """The address to which a redirect leads. Raises PageNotRead."""
    try:
        return urljoin(url, location)
    except ValueError as error:
        raise PageNotRead("The redirect is not valid.") from error


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet, so that no service of a private network answers there."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        return (
            found.scope_id is None and found in _PUBLIC_IPV6 and not any(found in network for network in _EXCLUDED_IPV6)
        )
    excluded = found.is_multicast or found.is_reserved or any(found in network for network in _EXCLUDED_IPV4)
    return found.is_global and not excluded
