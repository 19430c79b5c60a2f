"""Find out which workspaces the stored installations give access to, with valid tokens."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog
from slack_sdk.errors import SlackApiError, SlackTokenRotationError

from adapters.slack.context import BotIdentity
from adapters.slack.errors import SETUP_ERRORS, SLACK_ERRORS, error_code, next_cursor

if TYPE_CHECKING:
    from slack_sdk.oauth.installation_store import Installation
    from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator

    from adapters.slack.clients import ClientFactory
    from adapters.slack.install.store import InstallationStore, StoredInstallation
    from engine import Clock
    from engine.scheduling.processes import Processes

log = structlog.get_logger(__name__)

ROTATE_BEFORE_MINUTES = 120  # before a token expires, which is after twelve hours
ROTATE_RETRY_SECONDS = 300.0  # after a failure
TEAMS_SECONDS = 600.0  # for which the workspaces of an organization are cached; changes arrive as events
PAGE_SIZE = 1000


@dataclass(frozen=True, slots=True)
class Access:
    """The token for a workspace, and the id of its installation. `identity`: only within an organization.

    `organization`: the id of the one that the workspace is a part of, "" for none. `installer`: who installed the app.
    """

    installation: str
    token: str
    identity: BotIdentity | None = None
    organization: str = ""
    installer: str = ""


class Accesses:
    """The workspaces of all installations. An own installation of a workspace wins over that of its organization."""

    def __init__(
        self,
        store: InstallationStore,
        rotator: AsyncTokenRotator,
        clients: ClientFactory,
        processes: Processes,
        clock: Clock,
    ) -> None:
        self._store = store
        self._clock = clock
        self._processes = processes
        self._rotator = rotator
        self._clients = clients
        self._failed_at: dict[str, float] = {}  # times of failed rotations
        self._teams: dict[str, tuple[float, frozenset[str]]] = {}  # by organization, with the time of the listing

    def invalidate_organizations(self) -> None:
        """List the workspaces of organizations again."""
        self._teams = {key: (-TEAMS_SECONDS, teams) for key, (_, teams) in self._teams.items()}

    async def list_all(self) -> dict[str, Access]:
        """The accesses by workspace; tokens that expire soon are rotated first. Raises StoreError."""
        stored = await self._store.list_all()
        found = await asyncio.gather(*(self._list_of(installation) for installation in stored))
        own_last = sorted(
            (item for result in found for item in result.items()), key=lambda item: item[1].identity is None
        )
        return dict(own_last)

    async def _list_of(self, stored: StoredInstallation) -> dict[str, Access]:
        installation, key = await self._rotate(stored), stored.record.workspace
        token = installation.bot_token or ""
        if not installation.is_enterprise_install:
            return {key: Access(key, token, None, *_list_origin(installation))}
        return {
            team: Access(key, token, _build_identity(team, installation), *_list_origin(installation))
            for team in await self._list_teams(key, token)
        }

    async def _rotate(self, stored: StoredInstallation) -> Installation:
        """Renew a token that expires soon; one process does, because a refresh token can be used once."""
        key = stored.record.workspace
        if not self._expires_soon(stored.installation):
            return stored.installation
        async with self._processes.lease(f"slack token {key}"):
            listed = await self._store.list_all()
            current = next((access for access in listed if access.record.workspace == key), stored)
            is_old = self._expires_soon(current.installation)
            return await self._renew(key, current) if is_old else current.installation

    def _expires_soon(self, installation: Installation) -> bool:
        expires_at = installation.bot_token_expires_at
        return expires_at is not None and expires_at < self._clock.time() + 60 * ROTATE_BEFORE_MINUTES

    async def _renew(self, key: str, stored: StoredInstallation) -> Installation:
        """Renew a token. A failure is logged; until the token expires, it is tried again."""
        now = self._clock.monotonic()
        if now - self._failed_at.get(key, -ROTATE_RETRY_SECONDS) < ROTATE_RETRY_SECONDS:
            return stored.installation
        try:
            renewed = await self._rotator.perform_token_rotation(
                installation=stored.installation, minutes_before_expiration=ROTATE_BEFORE_MINUTES
            )
        except (SlackTokenRotationError, *SLACK_ERRORS) as error:
            cause = error.api_error if isinstance(error, SlackTokenRotationError) else error
            log.warning("slack.token_rotation_failed", workspace=key, error=error_code(cause))
            self._failed_at[key] = now
            return stored.installation
        if renewed is None or not await self._store.replace(stored, renewed):
            return stored.installation
        log.info("slack.token_rotated", workspace=key)
        return renewed

    async def _list_teams(self, organization: str, token: str) -> frozenset[str]:
        """The workspaces that an organization's installation may enter; the last known ones if Slack fails."""
        listed_at, teams = self._teams.get(organization, (-TEAMS_SECONDS, frozenset[str]()))
        if self._clock.monotonic() - listed_at < TEAMS_SECONDS:
            return teams
        try:
            teams = await self._fetch_teams(token)
        except SLACK_ERRORS as error:
            log.warning("slack.teams_list_failed", organization=organization, error=error_code(error))
            if isinstance(error, SlackApiError) and error_code(error) in SETUP_ERRORS:
                self._teams.pop(organization, None)
                return frozenset()
            return teams
        self._teams[organization] = self._clock.monotonic(), teams
        return teams

    async def _fetch_teams(self, token: str) -> frozenset[str]:
        client, teams, cursor = self._clients.build(token), set[str](), ""
        while True:
            page = await client.auth_teams_list(limit=PAGE_SIZE, cursor=cursor or None)
            teams.update(str(team["id"]) for team in page.get("teams") or ())
            cursor = next_cursor(page)
            if not cursor:
                return frozenset(teams)


def _list_origin(installation: Installation) -> tuple[str, str]:
    """The organization of an installation, and who installed the app."""
    return installation.enterprise_id or "", installation.user_id or ""


def _build_identity(team: str, installation: Installation) -> BotIdentity:
    url = installation.enterprise_url or "https://app.slack.com/"
    return BotIdentity(
        team, installation.bot_user_id or "", installation.bot_id or "", url if url.endswith("/") else url + "/"
    )
