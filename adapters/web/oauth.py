"""Logins by Slack and Discord: where they ask, whom they name, which are offered, and an attempt until it ends."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import re
import secrets
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlencode, urlsplit

import aiohttp

from adapters.web.pages.session import is_loopback_host
from bot.errors import BadSetting, NotAllowed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.settings import Settings
    from engine import Clock


TIMEOUT_SECONDS = 20.0
MAX_REPLY_BYTES = 1024 * 1024
MAX_CODE_CHARACTERS = 2000
SLACK_ISSUER = "https://slack.com"
_ID = re.compile(r"[A-Za-z0-9]{1,40}")
RANDOM_BYTES = 32
PARTS = 3  # of a client: its platform, id and secret


class LoginFailed(NotAllowed):
    """A login could not be completed."""

    hint = "Try again."


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """The application as a provider knows it."""

    id: str
    secret: str = field(repr=False)
    redirect_uri: str = ""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who logs in: a person and their workspaces. `with_guests`: the platform vouches for guests of them, too."""

    platform: str
    person: str
    workspaces: tuple[str, ...]
    with_guests: bool


class LoginProvider(Protocol):
    """A platform at which people log in."""

    @property
    def label(self) -> str:
        """The name of the provider."""

    def build_url(self, client: OAuthClient, attempt: LoginAttempt) -> str:
        """The address at which a person permits the login."""

    async def identify(self, client: OAuthClient, attempt: LoginAttempt, code: str) -> Identity:
        """Exchange a code for the person who permitted the login. Raises LoginFailed."""


@dataclass(frozen=True, slots=True)
class SlackLogin:
    """Sign in with Slack (OpenID Connect)."""

    clock: Clock
    page: str = "https://slack.com/openid/connect/authorize"
    api: str = "https://slack.com/api"
    label: str = "Slack"

    def build_url(self, client: OAuthClient, attempt: LoginAttempt) -> str:
        """The address at which a person permits the login."""
        team = {"team": attempt.workspace} if attempt.workspace else {}
        asked = {"scope": "openid profile", "nonce": attempt.nonce, **team}
        return _build_url(self.page, client, attempt, asked)

    async def identify(self, client: OAuthClient, attempt: LoginAttempt, code: str) -> Identity:
        """The user and the team of the ID token, which comes from Slack itself. Raises LoginFailed."""
        form = {**_build_form(client, code), "client_id": client.id, "client_secret": client.secret}
        reply = await _call(f"{self.api}/openid.connect.token", form=form)
        if reply.get("ok") is not True:
            raise LoginFailed("Slack did not accept the login.")
        claims = read_claims(str(reply.get("id_token")))
        check_claims(claims, client.id, attempt.nonce, self.clock.time())
        person, team = (_read_id(claims, f"{SLACK_ISSUER}/{name}_id") for name in ("user", "team"))
        return Identity("slack", person, _choose((team,), attempt), with_guests=True)


@dataclass(frozen=True, slots=True)
class DiscordLogin:
    """Discord's OAuth 2.0, with PKCE."""

    page: str = "https://discord.com/oauth2/authorize"
    api: str = "https://discord.com/api/v10"
    label: str = "Discord"

    def build_url(self, client: OAuthClient, attempt: LoginAttempt) -> str:
        """The address at which a person permits the login."""
        pkce = {"code_challenge": attempt.challenge, "code_challenge_method": "S256"}
        return _build_url(self.page, client, attempt, {"scope": "identify guilds", "prompt": "none", **pkce})

    async def identify(self, client: OAuthClient, attempt: LoginAttempt, code: str) -> Identity:
        """The user and their servers. Raises LoginFailed."""
        form = {**_build_form(client, code), "code_verifier": attempt.verifier}
        form |= {"client_id": client.id, "client_secret": client.secret}
        token = (await _call(f"{self.api}/oauth2/token", form=form)).get("access_token")
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise LoginFailed("Discord did not accept the login.")
        headers = {"Authorization": f"Bearer {token}"}
        user = await _call(f"{self.api}/users/@me", headers=headers)
        guilds = (await _call(f"{self.api}/users/@me/guilds", headers=headers)).get("items")
        servers = tuple(_read_id(guild, "id") for guild in guilds or () if isinstance(guild, dict))
        return Identity("discord", _read_id(user, "id"), _choose(servers, attempt), with_guests=False)


def build_providers(clock: Clock) -> Mapping[str, LoginProvider]:
    """The providers by the names of their platforms."""
    return {"slack": SlackLogin(clock), "discord": DiscordLogin()}


def read_claims(token: str) -> Mapping[str, Any]:
    """The claims of an ID token; its signature is not needed, as it came over TLS from its issuer.

    See OpenID Connect Core 1.0, section 3.1.3.7, number 6. Raises LoginFailed.
    """
    try:
        body = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    except (ValueError, IndexError, RecursionError) as error:
        raise LoginFailed("The ID token is not valid.") from error
    return claims if isinstance(claims, dict) else {}


def check_claims(claims: Mapping[str, Any], client_id: str, nonce: str, now: float) -> None:
    """Raise LoginFailed unless an ID token was made for this application and this attempt."""
    expires = claims.get("exp")
    is_current = isinstance(expires, int | float) and expires > now
    made_for = (claims.get("iss"), claims.get("aud"), claims.get("nonce"))
    if made_for != (SLACK_ISSUER, client_id, nonce) or not is_current:
        raise LoginFailed("The ID token belongs to another login.")


def _build_url(page: str, client: OAuthClient, attempt: LoginAttempt, asked: Mapping[str, str]) -> str:
    common = {"response_type": "code", "client_id": client.id, "redirect_uri": client.redirect_uri}
    return f"{page}?{urlencode({**common, 'state': attempt.state, **asked})}"


def _build_form(client: OAuthClient, code: str) -> dict[str, str]:
    if not 0 < len(code) <= MAX_CODE_CHARACTERS:
        raise LoginFailed("The login has no code.")
    return {"grant_type": "authorization_code", "code": code, "redirect_uri": client.redirect_uri}


def _choose(workspaces: tuple[str, ...], attempt: LoginAttempt) -> tuple[str, ...]:
    return tuple(workspace for workspace in workspaces if attempt.workspace in {"", workspace})


def _read_id(source: Mapping[str, Any], name: str) -> str:
    value = source.get(name)
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise LoginFailed("The platform names nobody.")
    return value


async def _call(
    url: str, *, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
) -> Mapping[str, Any]:
    """The JSON object of a reply; that of a list has it as `items`. Raises LoginFailed."""
    try:
        async with (
            asyncio.timeout(TIMEOUT_SECONDS),
            aiohttp.ClientSession() as session,
            session.request(
                "POST" if form else "GET", url, data=form, headers=headers, allow_redirects=False
            ) as response,
        ):
            body = await response.content.read(MAX_REPLY_BYTES)
            status = response.status
            while len(body) < MAX_REPLY_BYTES and (more := await response.content.read(MAX_REPLY_BYTES - len(body))):
                body += more
        found = json.loads(body) if status == 200 else None
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError, RecursionError) as error:
        raise LoginFailed("The platform of the login cannot be reached.") from error
    if isinstance(found, list):
        return {"items": found}
    if not isinstance(found, dict):
        raise LoginFailed("The platform did not accept the login.")
    return found


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """What was sent to a provider of logins, so that only this browser can complete it.

    `target`: the path to show afterwards; `workspace`: the only one to log in to, if it is given; `former`: the token
    of the login that the new one replaces, because the browser does not send its cookie on the way back.
    """

    provider: str
    target: str
    workspace: str
    state: str = field(repr=False)
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)
    former: str = field(repr=False)

    @property
    def challenge(self) -> str:
        """The hash of the verifier (PKCE, S256)."""
        return base64.urlsafe_b64encode(sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()

    def is_answered_by(self, provider: str, state: str) -> bool:
        """Whether a response of a provider belongs to this attempt."""
        return self.provider == provider and hmac.compare_digest(self.state.encode(), state.encode())


def start_attempt(provider: str, target: str, workspace: str, former: str = "") -> LoginAttempt:
    """A new attempt with random secrets."""
    state, nonce, verifier = (secrets.token_urlsafe(RANDOM_BYTES) for _ in range(3))
    return LoginAttempt(provider, target, workspace, state, nonce, verifier, former)


def encode_attempt(attempt: LoginAttempt) -> str:
    """The attempt as the value of a cookie."""
    return base64.urlsafe_b64encode(json.dumps(asdict(attempt)).encode()).decode()


def decode_attempt(cookie: str) -> LoginAttempt | None:
    """The attempt in a cookie; None if there is none."""
    try:
        found = json.loads(base64.urlsafe_b64decode(cookie))
        values = [found[member.name] for member in fields(LoginAttempt)]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return LoginAttempt(*values) if all(isinstance(value, str) and value.isprintable() for value in values) else None


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
