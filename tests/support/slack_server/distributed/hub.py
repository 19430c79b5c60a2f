"""Several workspaces of one app behind one address: a call goes to the workspace of its token."""

from __future__ import annotations

import base64
import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Self
from urllib.parse import parse_qs, urlencode, urlsplit

from aiohttp import web

from tests.support.clock import ShiftedClock
from tests.support.slack_server.app import App
from tests.support.slack_server.distributed.grants import Grants, Organization
from tests.support.slack_server.fake_slack import FakeSlack
from tests.support.slack_server.methods import files
from tests.support.slack_server.methods.call import RateSettings, RecordedCall, read_arguments
from tests.support.slack_server.socket import Socket, Timing
from tests.support.slack_server.state import SlackError, User

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.slack_server.people import Person
    from tests.support.slack_server.state import JSON

CLIENT_ID, CLIENT_SECRET = "1000.2000", "5ecret0fTheApp"
# With the token of an organization, these need the workspace (docs.slack.dev, developing for Enterprise).
NEED_TEAM = frozenset({"users.list", "users.conversations", "usergroups.list", "usergroups.users.list"})


class Hub:
    """`async with Hub() as hub: ours = hub.workspace("T0URS", "Ours")`. `redirect_url`: where codes are sent."""

    def __init__(self, app: App, *, timing: Timing | None = None, rotates: bool = False) -> None:
        self.app = replace(app, bot_token="")
        self.clock = ShiftedClock()
        self.socket = Socket(self.clock, timing or Timing(), self._changed)
        self.grants = Grants(self.clock, rotates=rotates)
        self.redirect_url = ""
        self.members: dict[str, FakeSlack] = {}
        self.calls: list[RecordedCall] = []  # of methods that belong to no workspace
        self.port = 0
        self._runner: web.AppRunner | None = None

    def _changed(self) -> None:
        for member in self.members.values():
            member._changed()

    def workspace(self, team: str, name: str, *, rates: RateSettings | None = None) -> FakeSlack:
        """A workspace in which the app is not installed yet."""
        made = FakeSlack(self.app, team=team, shared=(self.clock, self.socket), rates=rates or RateSettings(on=False))
        made.space.name, made.space.domain, made.space.revoked = name, name.lower(), "invalid_auth"
        made.port, made.space.base = self.port, self.url
        self.members[team] = made
        return made

    def organization(self, id_: str, name: str, *members: FakeSlack) -> Organization:
        """An organization of workspaces; the app's bot has one user id in all of them."""
        bot = members[0].space.bot
        for member in members:
            member.space.organization = id_
            del member.space.users[member.space.bot.id]
            member.space.bot = member.space.users[bot.id] = User(
                bot.id, bot.name, member.space.team, bot_id=bot.bot_id, app_id=bot.app_id
            )
        return Organization(id_, name, list(members))

    async def __aenter__(self) -> Self:
        server = web.Application()
        server.router.add_route("*", "/api/{method}", self._serve_call)
        server.router.add_get("/link/", self.socket.connect)
        server.router.add_post("/hooks/{hook}", self._serve_hook)
        server.router.add_post("/upload/v1/{file}", self._serve_upload)
        server.router.add_get("/files-pri/{file}/{path:.*}", self._serve_file)
        self._runner = web.AppRunner(server, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port = self._runner.addresses[0][1]
        for member in self.members.values():
            member.port, member.space.base = self.port, self.url
        return self

    async def __aexit__(self, *_: object) -> None:
        for member in self.members.values():
            member.faults.closing.set()
        await self.socket.close()
        assert self._runner is not None
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    # People who install the app.

    def approve(self, url: str, target: FakeSlack | Organization, installer: Person) -> str:
        """Allow the installation on Slack's page; gives the address to which the browser is sent."""
        query = self._read_authorize_url(url)
        code = self.grants.issue_code(target, installer.id)
        return f"{self.redirect_url}?{urlencode({'code': code, 'state': query['state'][0]})}"

    def cancel(self, url: str) -> str:
        """Refuse the installation on Slack's page."""
        state = self._read_authorize_url(url)["state"][0]
        return f"{self.redirect_url}?{urlencode({'error': 'access_denied', 'state': state})}"

    def _read_authorize_url(self, url: str) -> dict[str, list[str]]:
        parts = urlsplit(url)
        query = parse_qs(parts.query)
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{self.url}/oauth/v2/authorize"
        assert query["client_id"] == [CLIENT_ID]
        assert set(query["scope"][0].split(",")) == self.app.scopes
        return query

    # Calls.

    async def _serve_call(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["method"]
        args, token = await read_arguments(request)
        organization = self.grants.organizations.get(token)
        try:
            if name == "oauth.v2.access":
                return self._answer(name, args, lambda: self._exchange(request, args))
            if organization is not None and name in ORG_METHODS:
                return self._answer(name, args, lambda: ORG_METHODS[name](organization))
            return await self._find_member(name, args, token, organization).serve_call(request)
        except SlackError as refused:
            return web.json_response(refused.body, status=refused.status, headers=refused.headers)

    def _answer(self, name: str, args: JSON, run: Callable[[], JSON]) -> web.Response:
        recorded = RecordedCall(name, args, self.clock.time(), done=True)
        self.calls.append(recorded)
        try:
            body, recorded.outcome = run(), "ok"
        except SlackError as refused:
            recorded.outcome = refused.error
            raise
        return web.json_response({"ok": True, **body})

    def _exchange(self, request: web.Request, args: JSON) -> JSON:
        kind, _, credentials = request.headers.get("Authorization", "").partition(" ")
        client, _, secret = base64.b64decode(credentials).decode().partition(":") if kind == "Basic" else ("", "", "")
        if client != CLIENT_ID:
            raise SlackError("invalid_client_id")
        if secret != CLIENT_SECRET:
            raise SlackError("bad_client_secret")
        return self.grants.exchange(args)

    def _find_member(self, name: str, args: JSON, token: str, organization: Organization | None) -> FakeSlack:
        if token == self.app.app_token:
            return next(iter(self.members.values()))
        if organization is None:
            found = next((each for each in self.members.values() if token in each.space.tokens), None)
            if found is None:
                raise SlackError("invalid_auth" if token else "not_authed")
            return found
        team = str(args.get("team_id") or "")
        if name in NEED_TEAM and not team:
            raise SlackError("missing_argument", "team_id is required")
        member = self.members[team] if team else self._find_by_channel(args, organization)
        if member not in organization.approved:
            raise SlackError("team_access_not_granted")
        return member

    def _find_by_channel(self, args: JSON, organization: Organization) -> FakeSlack:
        channel = args.get("channel") or args.get("channel_id")
        owners = [member for member in organization.members if channel in member.space.channels]
        return owners[0] if owners else organization.members[0]

    async def _serve_hook(self, request: web.Request) -> web.Response:
        hook = request.match_info["hook"]
        owner = next(member for member in self.members.values() if hook in member.interactions.hooks)
        return await owner.interactions.answer(request)

    async def _serve_upload(self, request: web.Request) -> web.Response:
        file = request.match_info["file"]
        return await files.receive(next(member for member in self.members.values() if file in member.uploads), request)

    async def _serve_file(self, request: web.Request) -> web.Response:
        return await files.download(self.members[request.match_info["file"].partition("-")[0]], request)

    # Organizations.

    def grant_access(self, organization: Organization, workspace: FakeSlack) -> None:
        """Add the app of an organization to one of its workspaces."""
        organization.approved.append(workspace)
        workspace.space.revoked = ""
        workspace.changes.emit("team_access_granted", {"team_ids": [workspace.space.team]})

    def revoke_access(self, organization: Organization, workspace: FakeSlack) -> None:
        """Remove the app of an organization from one of its workspaces."""
        with contextlib.suppress(ValueError):
            organization.approved.remove(workspace)
        workspace.changes.emit("team_access_revoked", {"team_ids": [workspace.space.team]})
        workspace.space.revoked = "team_access_not_granted"


def _list_teams(organization: Organization) -> JSON:
    teams = [{"id": slack.space.team, "name": slack.space.name} for slack in organization.approved]
    return {"teams": teams, "response_metadata": {"next_cursor": ""}}


def _identify(organization: Organization) -> JSON:
    bot = organization.members[0].space.bot
    body = {"url": f"https://{organization.name.lower()}.enterprise.slack.com/", "team": organization.name}
    body |= {"team_id": organization.id, "enterprise_id": organization.id, "user": bot.name, "user_id": bot.id}
    return body | {"bot_id": bot.bot_id, "is_enterprise_install": True}


ORG_METHODS: dict[str, Callable[[Organization], JSON]] = {"auth.teams.list": _list_teams, "auth.test": _identify}
