"""Read from the connection and the headers whose request it is, and which host it names. Pure."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yarl import URL

from bot.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Network = ipaddress.IPv4Network | ipaddress.IPv6Network

LOOPBACK = ("127.0.0.0/8", "::1")
IPV6_PREFIX = 64  # bits of an address that one subscriber has
HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[\w.~-]+)(:\d{1,5})?", re.ASCII)
# Headers that proxies, content networks and tunnels add; a browser sends none of them.
PROXY_HEADERS = frozenset({"forwarded", "via", "cdn-loop", "true-client-ip", "client-ip", "fastly-client-ip"})
PROXY_HEADERS |= {"front-end-https", "ngrok-skip-browser-warning"}
PROXY_PREFIXES = (
    *("x-forwarded", "x-original-", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "x-remote-", "x-proxy"),
    *("x-envoy-", "x-amzn-", "x-azure-", "x-appengine-", "x-cloud-trace-", "x-arr-", "x-rewrite-", "x-varnish"),
    *("cf-", "cloudfront-", "akamai-", "tailscale-", "x-akamai-", "x-vercel-", "x-nf-", "x-github-request", "fly-"),
)


@dataclass(frozen=True, slots=True)
class Host:
    """A host as a header or an address names it: a name or an address of IP, in lower case, and perhaps a port."""

    name: str
    port: int | None = None

    @property
    def is_loopback(self) -> bool:
        """Whether it is this machine, by a name that no other site can have."""
        address = _parse_address(self.name)
        return self.name == "localhost" or (address is not None and address.is_loopback)


def bracket_host(name: str) -> str:
    """A host as in an address of the web: one of IPv6 is in brackets."""
    return f"[{name}]" if ":" in name else name


def parse_host(text: str) -> Host | None:
    """A host, as in the header Host; None if it is none."""
    if not HOST.fullmatch(text):
        return None
    try:
        url = URL(f"http://{text}")
    except ValueError:
        return None
    return Host(url.host.lower(), url.explicit_port) if url.host else None


def parse_origin(text: str) -> Host | None:
    """The host of an origin, as in the header Origin; None if it is none."""
    scheme, separator, rest = text.partition("://")
    return parse_host(rest) if separator and scheme.lower() in {"http", "https"} else None


def is_proxied(headers: Iterable[str], http_version: str = "1.1") -> bool:
    """Whether a request came through a proxy, as the names of its headers (in lower case) or its version show."""
    return http_version == "1.0" or any(
        header in PROXY_HEADERS or header.startswith(PROXY_PREFIXES) for header in headers
    )


@dataclass(frozen=True, slots=True)
class TrustedProxies:
    """The proxies whose word about the address of a client counts."""

    networks: Sequence[Network] = tuple(map(ipaddress.ip_network, LOOPBACK))

    def trusts(self, peer: str) -> bool:
        """Whether an address is that of a proxy."""
        address = _parse_address(peer)
        return address is not None and any(address in network for network in self.networks)

    def find_client(self, peer: str, forwarded: str) -> str:
        """The address of a client: that of the peer, or what the proxies in front of it say.

        `forwarded`: X-Forwarded-For, at whose end each proxy adds the address of its own peer; what stands before the
        first one that is not trusted could be written by anybody.
        """
        found, before = peer, forwarded
        while before and self.trusts(found):
            before, _, last = before.rpartition(",")
            if (address := _parse_address(last.strip())) is None:
                break
            found = str(address)
        return found


def parse_proxies(text: str) -> TrustedProxies:
    """Proxies as a setting names them: addresses and networks, separated by commas. Raises BadSetting."""
    try:
        networks = [ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise BadSetting(
            f"THREADLORE_TRUSTED_PROXIES cannot be used: {error}.",
            hint="Write addresses and networks, such as 127.0.0.1, 172.18.0.0/16, separated by commas.",
        ) from error
    return TrustedProxies(networks)


def to_share_key(address: str) -> str:
    """The key of the share that a client takes: of IPv6, all addresses of one subscriber have one share."""
    found = _parse_address(address)
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, IPV6_PREFIX), strict=False))
    return address


def _parse_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An address; one of IPv4 within IPv6 as that of IPv4."""
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    return (found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None) or found
