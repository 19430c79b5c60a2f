"""OAuth v2: codes for people who install the app, tokens for the codes, and new tokens for refresh tokens.

The shapes are those of docs.slack.dev: oauth.v2.access, using token rotation, deploying apps to organizations.
"""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.support.slack_server.state import SlackError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.clock import ShiftedClock
    from tests.support.slack_server.fake_slack import FakeSlack
    from tests.support.slack_server.state import JSON

CODE_SECONDS, TOKEN_SECONDS = 600.0, 43_200.0


@dataclass(slots=True, eq=False)
class Organization:
    """An Enterprise organization; its bot has one user id in all workspaces. `approved`: those the app may enter."""

    id: str
    name: str
    members: list[FakeSlack]
    approved: list[FakeSlack] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Grant:
    """What a code or a refresh token is for."""

    target: FakeSlack | Organization
    installer: str
    expires_at: float = math.inf

    @property
    def workspaces(self) -> Sequence[FakeSlack]:
        """The workspaces that a token works in."""
        return self.target.approved if isinstance(self.target, Organization) else (self.target,)

    @property
    def some_workspace(self) -> FakeSlack:
        return self.target.members[0] if isinstance(self.target, Organization) else self.target


class Grants:
    """Codes and tokens of an app. `rotates`: tokens expire after 12 hours."""

    def __init__(self, clock: ShiftedClock, *, rotates: bool) -> None:
        self.clock = clock
        self.rotates = rotates
        self.codes: dict[str, Grant] = {}
        self.used_codes: set[str] = set()
        self.refresh_tokens: dict[str, Grant] = {}
        self.organizations: dict[str, Organization] = {}  # by token

    def issue_code(self, target: FakeSlack | Organization, installer: str) -> str:
        """A code for an installation that a person allowed."""
        code = secrets.token_hex(16)
        self.codes[code] = Grant(target, installer, self.clock.time() + CODE_SECONDS)
        return code

    def exchange(self, args: JSON) -> JSON:
        """The answer of oauth.v2.access."""
        if args.get("grant_type") == "refresh_token":
            grant = self.refresh_tokens.pop(str(args.get("refresh_token")), None)
            if grant is None:
                raise SlackError("invalid_refresh_token")
            return self._issue_token(grant)
        code = str(args.get("code"))
        if code in self.used_codes:
            raise SlackError("code_already_used")
        grant = self.codes.pop(code, None)
        if grant is None or self.clock.time() >= grant.expires_at:
            raise SlackError("invalid_code")
        self.used_codes.add(code)
        for workspace in grant.workspaces:
            workspace.space.revoked = ""
        return self._issue_token(grant)

    def _issue_token(self, grant: Grant) -> JSON:
        """A new token; the older ones work until they expire."""
        prefix = "xoxe.xoxb" if self.rotates else "xoxb"
        token, expires_at = f"{prefix}-{secrets.token_hex(12)}", math.inf
        body: JSON = {"access_token": token, "token_type": "bot"}
        if self.rotates:
            refresh, expires_at = f"xoxe-1-{secrets.token_hex(12)}", self.clock.time() + TOKEN_SECONDS
            self.refresh_tokens[refresh] = grant
            body |= {"refresh_token": refresh, "expires_in": int(TOKEN_SECONDS)}
        space, target = grant.some_workspace.space, grant.target
        body |= {"scope": ",".join(sorted(space.app.scopes)), "bot_user_id": space.bot.id, "app_id": space.app.id}
        body |= {"team": None, "enterprise": None, "authed_user": {"id": grant.installer}}
        if isinstance(target, Organization):
            self.organizations[token] = target
            body |= {"enterprise": {"id": target.id, "name": target.name}, "is_enterprise_install": True}
            for member in target.members:
                member.space.tokens[token], member.space.is_org_install = expires_at, True
            return body
        space.tokens[token] = expires_at
        return body | {"team": {"id": space.team, "name": space.name}, "is_enterprise_install": False}
