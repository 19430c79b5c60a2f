"""Slack's and Discord's servers for logins: each code works once, with the address and the secrets of its attempt."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from aiohttp import web

from adapters.web.oauth import DiscordLogin, OAuthClient, SlackLogin
from engine import Clock
from engine.clock import SYSTEM_CLOCK
from tests.support.loopback import listening

CLIENT = ("client1", "client-secret")


@dataclass(slots=True)
class LoginServer:
    """The server. `claims` replace those of ID tokens; `guilds` are those of everybody; `status` of all replies.

    A browser that opens the page of a platform is that of `visitor` of `team`, who permits the login by a link.
    """

    clock: Clock = SYSTEM_CLOCK
    claims: dict[str, Any] = field(default_factory=dict)
    guilds: Any = field(default_factory=lambda: [{"id": "1"}, {"id": "2"}])
    status: int = 200
    visitor: str = "U1"
    team: str = "T1"
    port: int = 0
    grants: dict[str, dict[str, str]] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def slack(self) -> SlackLogin:
        return SlackLogin(self.clock, f"{self.base}/slack/authorize", f"{self.base}/slack/api")

    @property
    def discord(self) -> DiscordLogin:
        return DiscordLogin(f"{self.base}/discord/authorize", f"{self.base}/discord/api")

    def client(self, provider: str, base: str = "http://testserver") -> OAuthClient:
        return OAuthClient(*CLIENT, f"{base}/login/{provider}/callback")

    def permit(self, url: str, person: str, team: str = "T1") -> str:
        """A person permits the login on the platform's page; returns the address to which it sends the browser."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert url.startswith(self.base)
        assert (asked["client_id"], asked["response_type"]) == (CLIENT[0], "code")
        code = secrets.token_urlsafe(8)
        self.grants[code] = {**asked, "person": person, "team": team}
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if self.status != 200:
            return web.Response(status=self.status, headers={"Location": "http://127.0.0.1:1/"})
        if request.path.endswith("/authorize"):
            link = escape(self.permit(f"{self.base}{request.raw_path}", self.visitor, self.team))
            return web.Response(text=f'<a href="{link}">Allow</a>', content_type="text/html")
        form = {name: str(value) for name, value in (await request.post()).items()}
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if request.path == "/slack/api/openid.connect.token":
            return web.json_response(self._exchange_slack(form))
        if request.path == "/discord/api/oauth2/token":
            return self._exchange_discord(form)
        if bearer not in self.tokens:
            return web.json_response({"message": "401: Unauthorized"}, status=401)
        is_list = request.path.endswith("/guilds")
        return web.json_response(self.guilds if is_list else {"id": self.tokens[bearer], "username": "name"})

    def _take_grant(self, form: Mapping[str, str]) -> dict[str, str] | None:
        grant = self.grants.pop(form.get("code", ""), None)
        fits = grant is not None and (form["client_id"], form["client_secret"]) == CLIENT
        return grant if grant and fits and form["redirect_uri"] == grant["redirect_uri"] else None

    def _exchange_discord(self, form: Mapping[str, str]) -> web.Response:
        grant = self._take_grant(form)
        hashed = base64.urlsafe_b64encode(sha256(form["code_verifier"].encode()).digest()).rstrip(b"=").decode()
        if grant is None or grant["code_challenge"] != hashed:
            return web.json_response({"error": "invalid_grant"}, status=400)
        self.tokens[token := secrets.token_urlsafe(8)] = grant["person"]
        return web.json_response({"access_token": token, "token_type": "Bearer", "scope": grant["scope"]})

    def _exchange_slack(self, form: Mapping[str, str]) -> dict[str, Any]:
        if (grant := self._take_grant(form)) is None:
            return {"ok": False, "error": "invalid_code"}
        claims = {"iss": "https://slack.com", "aud": CLIENT[0], "nonce": grant["nonce"], "exp": self.clock.time() + 300}
        claims |= {"https://slack.com/user_id": grant["person"], "https://slack.com/team_id": grant["team"]}
        body = base64.urlsafe_b64encode(json.dumps({**claims, **self.claims}).encode()).rstrip(b"=").decode()
        return {"ok": True, "access_token": "xoxp-1", "id_token": f"e30.{body}.c2ln"}


@asynccontextmanager
async def open_login_server(clock: Clock = SYSTEM_CLOCK) -> AsyncIterator[LoginServer]:
    """Run the server on a free port of the loopback device."""
    server = LoginServer(clock)
    async with listening(server.handle) as server.port:
        yield server
