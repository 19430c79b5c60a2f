"""Who is let in: how many at once, in total and by key, whose request it is, and which host it names. Pure."""

from __future__ import annotations

import ipaddress
import re
import resource
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from yarl import URL

from bot.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Network = ipaddress.IPv4Network | ipaddress.IPv6Network


Holder = TypeVar("Holder")
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
HEAD_SECONDS = 10.0  # for the head of a request, and for which a connection may be idle


@dataclass(frozen=True, slots=True)
class Budget:
    """How many there are at once: in `total`, and of one key, such as an address (its `share`)."""

    total: int
    share: int


class Admission(Generic[Holder]):
    """The holders of a budget: connections, or requests.

    A holder waits for its client (for a head or a body), or works. A newcomer is never refused for the sake of somebody
    who keeps the server waiting: the one gives way that has waited longest of the key with the most holders. Who works
    never gives way. The key "" stands for many people, such as those behind a proxy, and has no share.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._keys: dict[Holder, str] = {}
        self._counts: dict[str, int] = {}
        self._waiting: dict[str, OrderedDict[Holder, None]] = {}  # by key, those first that have waited longest

    def __len__(self) -> int:
        return len(self._keys)

    def enter(self, holder: Holder, key: str) -> Holder | None:
        """Let a newcomer in, which waits for its client at first.

        Returns who is not in any more: the holder that gave way, or the newcomer itself if nobody does.
        """
        count = self._counts.get(key, 0)
        if key and count >= self._budget.share:
            leaving = self._find_longest_waiting([key])
        elif len(self._keys) >= self._budget.total:
            heavier = (each for each, held in self._counts.items() if held > count or each == key)
            leaving = self._find_longest_waiting(sorted(heavier, key=self._counts.__getitem__, reverse=True))
        else:
            self._add(holder, key)
            return None
        if leaving is None:
            return holder
        self.leave(leaving)
        self._add(holder, key)
        return leaving

    def wait(self, holder: Holder) -> None:
        """A holder waits for its client from now on."""
        if (key := self._keys.get(holder)) is not None:
            self._waiting.setdefault(key, OrderedDict()).setdefault(holder)

    def work(self, holder: Holder) -> None:
        """A holder has all that it needs from its client."""
        if (key := self._keys.get(holder)) is not None:
            self._stop_waiting(holder, key)

    def leave(self, holder: Holder) -> None:
        """A holder is done; one that is not in is ignored."""
        if (key := self._keys.pop(holder, None)) is None:
            return
        self._stop_waiting(holder, key)
        self._counts[key] -= 1
        if not self._counts[key]:
            del self._counts[key]

    def _add(self, holder: Holder, key: str) -> None:
        self._keys[holder] = key
        self._counts[key] = self._counts.get(key, 0) + 1
        self.wait(holder)

    def _stop_waiting(self, holder: Holder, key: str) -> None:
        if (waiting := self._waiting.get(key)) is None:
            return
        waiting.pop(holder, None)
        if not waiting:
            del self._waiting[key]

    def _find_longest_waiting(self, keys: Iterable[str]) -> Holder | None:
        return next((next(iter(self._waiting[key])) for key in keys if key in self._waiting), None)


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


def plan_connections(wanted: int, part: float) -> Budget:
    """A budget of connections: at most `wanted`, and at most this part of the files that the process may open.

    One address has half of them.
    """
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    total = wanted if files == resource.RLIM_INFINITY else max(1, min(wanted, int(files * part)))
    return Budget(total, max(1, total // 2))
