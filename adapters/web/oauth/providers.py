"""Slack and Discord as providers of logins: where they ask, and whom they name."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlencode

import aiohttp

from bot.errors import NotAllowed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapters.web.oauth.attempt import LoginAttempt
    from engine import Clock

TIMEOUT_SECONDS = 20.0
MAX_REPLY_BYTES = 1024 * 1024
MAX_CODE_CHARACTERS = 2000
SLACK_ISSUER = "https://slack.com"
_ID = re.compile(r"[A-Za-z0-9]{1,40}")


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
