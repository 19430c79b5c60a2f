"""Read from the settings which platforms people can log in with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from adapters.web.oauth.providers import LoginProvider, OAuthClient, build_providers
from adapters.web.pages.session import is_loopback_host
from bot.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.settings import Settings
    from engine import Clock

PARTS = 3  # of a client: its platform, id and secret


@dataclass(frozen=True, slots=True)
class LoginOptions:
    """The providers of logins by name, and the application as each knows it."""

    clients: Mapping[str, OAuthClient] = field(default_factory=dict)
    providers: Mapping[str, LoginProvider] = field(default_factory=dict)


def read_login_options(settings: Settings, clock: Clock) -> LoginOptions:
    """The logins that the settings name; none without an address of the page. Raises BadSetting."""
    words = settings.web_login_clients.get_secret_value().split(",")
    found = [word.strip().split(":") for word in words if word.strip()]
    if not found:
        return LoginOptions()
    providers = build_providers(clock)
    if any(len(parts) != PARTS or parts[0] not in providers or not all(parts) for parts in found):
        raise BadSetting(
            "THREADLORE_WEB_LOGIN_CLIENTS cannot be used.",
            hint=f"Write PLATFORM:CLIENT_ID:CLIENT_SECRET, separated by commas; platforms: {', '.join(providers)}.",
        )
    base = check_url(settings.web_url)
    return LoginOptions(
        {name: OAuthClient(id_, secret, f"{base}/login/{name}/callback") for name, id_, secret in found}, providers
    )


def check_url(url: str) -> str:
    """The address of the page without a slash at its end. Raises BadSetting unless it is safe to log in there."""
    try:
        parts = urlsplit(url)
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback_host(parts.netloc))
        is_origin = bool(parts.hostname) and not (parts.path.strip("/") or parts.query or parts.fragment)
    except ValueError:
        is_safe = is_origin = False
    if not (is_safe and is_origin) or "@" in parts.netloc:
        raise BadSetting(
            "Logins need the address of the page in THREADLORE_WEB_URL.",
            hint="Write https://HOST, or http://localhost:PORT on this machine.",
        )
    return f"{parts.scheme}://{parts.netloc}"
