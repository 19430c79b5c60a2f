"""Who looks at a page: the holder of the access token in a cookie, or a person on this machine without a login.

A login is not needed by a browser on the machine of the server: it names the server by a loopback name, and no proxy
stands between. Any other name may be one of a foreign site (DNS rebinding), and needs a login.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import Depends, Request

from adapters.web.operations import Access, TerminalSpace, check_token
from bot.capabilities.caller import ALL_PERMISSIONS
from bot.errors import InvalidToken
from bot.listeners.admission import bracket_host, is_proxied, parse_host, parse_origin
from bot.texts.disclosure import Disclosure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fastapi import Response

    from bot.listeners.admission import TrustedProxies
    from bot.settings import Settings


COOKIE, SECURE_COOKIE = "threadlore", "__Host-threadlore"
COOKIE_SECONDS = 30 * 24 * 3600
ATTEMPT_SECONDS = 600
OPEN_HINT = "Everybody who can use this machine needs no login; THREADLORE_WEB_LOGIN=always demands one."
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
API_PREFIXES = ("/api/", "/v1/", "/mcp")  # these take a token from a header, which no browser sends by itself


@dataclass(frozen=True, slots=True)
class PageOptions:
    """How pages are served. `login`: "auto" needs none of a browser on this machine. `space`: what it then sees.

    `disclosure`: what the foot of every page says.
    """

    space: str = ""
    login: Literal["auto", "always"] = "always"
    disclosure: Disclosure = field(default_factory=Disclosure)

    @property
    def is_open(self) -> bool:
        """Whether everybody who can use this machine has all permissions without a login."""
        return self.login == "auto" and bool(self.space)


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks at a page. `can_leave`: whether there is a login to end; `login`: its opaque id."""

    name: str
    permissions: Sequence[str]
    can_leave: bool
    login: str


def read_page_options(settings: Settings) -> PageOptions:
    """How the settings say that pages are served; without a login on a loopback address at most.

    An address of the page elsewhere means a proxy, which need not show itself in what it passes on.
    """
    is_local = is_loopback_host(bracket_host(settings.web_host))
    if settings.web_url:
        is_local &= is_loopback_host(settings.web_url.partition("://")[2].partition("/")[0])
    disclosure = Disclosure(settings.privacy_url, settings.contact)
    return PageOptions(settings.space, settings.web_login if is_local else "always", disclosure)


def get_page_access(http: Request) -> Access:
    """The access of a request to a page. Raises InvalidToken if a login is needed."""
    if token := get_cookie(http):
        return token
    options: PageOptions = http.app.state.page_options
    if options.is_open and is_local_browser(http.headers, http.scope["http_version"]):
        return TerminalSpace(options.space)
    raise InvalidToken("Log in with an access token to see this page.")


PageAccess = Annotated[Access, Depends(get_page_access)]


async def get_viewer(http: Request, access: Access) -> Viewer:
    """Who looks at a page. Raises InvalidToken, StoreError."""
    if isinstance(access, TerminalSpace):
        return Viewer("This computer", ALL_PERMISSIONS, can_leave=False, login=hash_login(access.name))
    token = (await check_token(http, access)).token
    return Viewer(token.name, token.permissions, can_leave=True, login=hash_login(access))


def hash_login(secret: str) -> str:
    """An opaque id of a login, by which a browser keeps apart what it remembers of people who share it."""
    return hmac.new(secret.encode(), b"what a browser remembers", sha256).hexdigest()[:32]


def get_address(http: Request) -> str:
    """The address of a client, by which its requests and failed logins are counted."""
    proxies: TrustedProxies = http.app.state.proxies
    peer = http.client.host if http.client else ""
    return proxies.find_client(peer, ",".join(http.headers.getlist("x-forwarded-for")))


def get_cookie(http: Request) -> str:
    """The token in the cookie of a request; empty if there is none."""
    return http.cookies.get(get_cookie_name(http), "")


def set_cookie(http: Request, response: Response, token: str) -> None:
    """Remember a token in the browser, for requests of this site alone; over TLS unless it is on this machine."""
    response.set_cookie(
        get_cookie_name(http),
        token,
        max_age=COOKIE_SECONDS,
        httponly=True,
        samesite="strict",
        secure=_is_remote(http),
    )


def set_attempt_cookie(http: Request, response: Response, attempt: str) -> None:
    """Remember an attempt to log in, until the platform sends the browser back from its own site."""
    response.set_cookie(
        f"{get_cookie_name(http)}-login",
        attempt,
        max_age=ATTEMPT_SECONDS,
        httponly=True,
        samesite="lax",
        secure=_is_remote(http),
    )


def get_attempt_cookie(http: Request) -> str:
    """The attempt to log in that the browser remembers; empty if there is none."""
    return http.cookies.get(f"{get_cookie_name(http)}-login", "")


def delete_attempt_cookie(http: Request, response: Response) -> None:
    """Forget the attempt to log in."""
    name, is_remote = f"{get_cookie_name(http)}-login", _is_remote(http)
    response.delete_cookie(name, httponly=True, samesite="lax", secure=is_remote)


def delete_cookie(http: Request, response: Response) -> None:
    """Forget the token."""
    response.delete_cookie(get_cookie_name(http), httponly=True, samesite="strict", secure=_is_remote(http))


def _is_remote(http: Request) -> bool:
    return not is_loopback_host(http.headers.get("host", ""))


def get_cookie_name(http: Request) -> str:
    """The name of the cookie of this server; browsers send cookies to every port of a host."""
    name, host = SECURE_COOKIE if _is_remote(http) else COOKIE, parse_host(http.headers.get("host", ""))
    return f"{name}-{host.port}" if host and host.port else name


async def get_space(http: Request, access: Access) -> str:
    """The visitor's space of the terminal; empty for a person of a workspace."""
    return access.name if isinstance(access, TerminalSpace) else (await check_token(http, access)).token.subject.space


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
