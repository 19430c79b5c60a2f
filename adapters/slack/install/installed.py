"""Serve the workspaces that the app is installed in: open new ones, close those that it was removed from."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import structlog

from adapters.slack.context import NAME
from adapters.slack.install.withheld import WithheldWorkspaces
from bot.errors import PlatformError, SetupError
from bot.platform.events import WorkspaceLeft
from engine.scheduling.supervisor import backoff_seconds, cancel_tasks

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from slack_bolt.async_app import AsyncBoltContext
    from slack_sdk.oauth.installation_store import Installation

    from adapters.slack.install.accesses import Access, Accesses
    from adapters.slack.install.store import InstallationStore
    from adapters.slack.install.withheld import Ownership
    from adapters.slack.workspaces import WorkspaceFactory, Workspaces

log = structlog.get_logger(__name__)

EVENTS = frozenset({"app_uninstalled", "tokens_revoked", "team_access_granted", "team_access_revoked"})
TASK = "slack installations"  # also the topic by which processes tell each other of changes
UPDATE_SECONDS = 30.0  # between two looks at the database, should a notification be lost
MIN_UPDATE_SECONDS = 1.0
ABSENT_SECONDS = 5.0  # for which a workspace without an installation is not looked for again
MAX_CONCURRENT_OPENINGS = 16
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 1.0, 300.0  # before a workspace is opened again; doubled after each failure
FIRST_REFUSAL_SECONDS, MAX_REFUSAL_SECONDS = 60.0, 3600.0  # the same after Slack refused its token


class InstalledWorkspaces:
    """Keeps the served workspaces in step with the stored installations. `events`: the types that it handles."""

    events = EVENTS

    def __init__(
        self,
        accesses: Accesses,
        store: InstallationStore,
        factory: WorkspaceFactory,
        workspaces: Workspaces,
        ownership: Ownership,
    ) -> None:
        self._bot = bot = factory.bot
        self._ownership = ownership
        self.withheld = WithheldWorkspaces(bot, factory.clients)
        self._store = store
        self._accesses = accesses
        self._factory = factory
        self._workspaces = workspaces
        self._current: dict[str, Access] = {}
        self._refused: dict[str, Access] = {}
        self._openings: dict[str, asyncio.Task[None]] = {}
        self._semaphore = asyncio.Semaphore(MAX_CONCURRENT_OPENINGS)
        self._changed = asyncio.Event()
        self._lock, self._lookup_lock = asyncio.Lock(), asyncio.Lock()
        self._removals = 0
        self._sought = set[str]()  # workspaces that may have been installed by another process
        self._absent_since: dict[str, float] = {}
        bot.supervisor.add_problem_source(self._describe_refusals)

    def update_soon(self) -> None:
        """Look at the installations again: an unknown workspace sent an event."""
        self._changed.set()

    def announce_change(self) -> None:
        """Let all processes look at the installations again: one was added or removed."""
        self._bot.processes.notify(TASK)

    def _look_again(self) -> None:
        self._accesses.invalidate_organizations()
        self.update_soon()

    def is_absent(self, team: str) -> bool:
        """Whether a workspace that is not served had no installation seconds ago; else it is looked for soon."""
        if self._bot.clock.monotonic() - self._absent_since.get(team, -ABSENT_SECONDS) < ABSENT_SECONDS:
            return True
        self._sought.add(team)
        self.update_soon()
        return False

    async def look_for(self, teams: Collection[str]) -> None:
        """Look for installations that another process stored since the last look. Raises StoreError."""
        async with self._lookup_lock:
            unknown = {team for team in teams if not self.is_absent(team)}
            if unknown:
                await self.update()

    async def run(self) -> None:
        """Follow the installations until cancelled."""
        self._bot.processes.subscribe(TASK, self._look_again)
        try:
            while True:
                with suppress(TimeoutError):
                    async with asyncio.timeout(UPDATE_SECONDS):
                        await self._changed.wait()
                self._changed.clear()
                await self.update()
                self._bot.supervisor.record_success(TASK)
                await asyncio.sleep(MIN_UPDATE_SECONDS)
        finally:
            self._bot.processes.unsubscribe(TASK, self._look_again)

    async def update(self) -> None:
        """Open, close and renew workspaces as the installations say. Raises StoreError."""
        sought = frozenset(self._sought)
        if sought:
            self._accesses.invalidate_organizations()
        removals, wanted = self._removals, await self._accesses.list_all()
        async with self._lock:
            if self._removals != removals:  # what was listed is out of date
                self.update_soon()
                return
            for team in [team for team in self._current if team not in wanted]:
                await self._close(team)
            for team, access in wanted.items():
                await self._apply(team, access)
            await self.withheld.update_stored()
            self._sought -= sought
            now = self._bot.clock.monotonic()
            recent = {team: at for team, at in self._absent_since.items() if now - at < ABSENT_SECONDS}
            found = recent | dict.fromkeys(sought, now)
            self._absent_since = {team: at for team, at in found.items() if team not in wanted}

    def is_own(self, team: str) -> bool:
        """Whether a workspace belongs to whoever runs the bot."""
        return self._ownership.is_own(team, self._current.get(team))

    async def close(self) -> None:
        """Stop opening workspaces."""
        await cancel_tasks(*self._openings.values())

    async def _apply(self, team: str, access: Access) -> None:
        before = self._current.get(team)
        if not self._ownership.may_store(team, access):
            if team not in self.withheld:  # it may be served until now
                await self._close(team)
            self._current[team] = access
            self.withheld.hold(team, access)
            return
        self._current[team] = access
        if team in self.withheld:
            self.withheld.release(team)
            before = None
        workspace = self._workspaces.get(team)
        if workspace is not None and before is not None and before.installation == access.installation:
            workspace.context.clients.set_token(access.token)
        elif before != access:
            await self._workspaces.remove(team)
            await cancel_tasks(*filter(None, [self._openings.pop(team, None)]))
            self._refused.pop(team, None)
            self._workspaces.expected.add(team)
            self._openings[team] = self._bot.supervisor.spawn("open slack workspace", self._open(team, access))

    async def _open(self, team: str, access: Access) -> None:
        """Open a workspace; failures are retried without a limit, refusals ever more rarely: they may be mistaken."""
        failures = refusals = 0
        while True:
            try:
                async with self._semaphore:
                    workspace = await self._factory.open(access.token, access.identity)
                break
            except SetupError as error:
                self._refuse(team, access, str(error))
                refusals += 1
                await asyncio.sleep(backoff_seconds(refusals, FIRST_REFUSAL_SECONDS, MAX_REFUSAL_SECONDS))
            except PlatformError as error:
                failures += 1
                log.warning("slack.workspace_unreachable", workspace=team, error=str(error))
                await asyncio.sleep(backoff_seconds(failures, FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS))
        if workspace.team != team:
            self._refuse(team, access, f"The token is that of the workspace {workspace.team}.")
            return
        self._refused.pop(team, None)
        self._workspaces.add(workspace)

    def _refuse(self, team: str, access: Access, reason: str) -> None:
        """Wait no more for a workspace whose token Slack refuses; its installation stays until it is replaced."""
        log.error("slack.workspace_refused", workspace=team, reason=reason, hint="Install the app there again.")
        self._workspaces.expected.discard(team)
        self._refused[team] = access

    async def _close(self, team: str) -> None:
        """Stop to serve a workspace."""
        self._current.pop(team, None)
        self._refused.pop(team, None)
        self.withheld.release(team)
        await cancel_tasks(*filter(None, [self._openings.pop(team, None)]))
        await self._workspaces.remove(team)

    def _describe_refusals(self) -> Sequence[str]:
        names = ", ".join(sorted(self._refused))
        return [f"Slack refuses the token of these workspaces: {names}. Install the app there again."] if names else []

    # Events about the installations.

    async def handle_event(self, body: Mapping[str, Any], context: AsyncBoltContext) -> None:
        """Handle one of EVENTS; what it ends has ended when this returns."""
        event = body.get("event") or {}
        reason, organization = str(event.get("type")), context.enterprise_id or ""
        async with self._lock:
            if reason == "team_access_revoked":
                await self._leave([str(text) for text in event.get("team_ids") or ()], body)
            for stored in await self._store.list_all() if reason in ("app_uninstalled", "tokens_revoked") else ():
                key = stored.record.workspace
                is_meant = key in (context.team_id, organization if _is_for_organization(context) else "")
                if is_meant and is_removal(body, stored.installation):
                    await self._leave(self._list_teams(key), body, key)
        self.announce_change()

    def _list_teams(self, installation: str) -> list[str]:
        """The workspaces that an installation gives access to."""
        return [team for team, access in self._current.items() if access.installation == installation]

    async def _leave(self, teams: Collection[str], body: Mapping[str, Any], installation: str = "") -> None:
        """Report that the app was removed from workspaces, delete their installation, and close them."""
        for team in teams:
            key = f"{NAME}:left:{team}:{body.get('event_id')}"
            left = WorkspaceLeft(NAME, team, str(body["event"]["type"]), purge=self._is_purged(team))
            await self._bot.receive(left, key)
            self._absent_since[team] = self._bot.clock.monotonic()
        if installation:
            await self._store.delete(installation)
        self._removals += 1
        for team in teams:
            await self._close(team)

    def _is_purged(self, team: str) -> bool:
        """Whether the data of a workspace goes with the app: that of others, unless a setting says something else."""
        return not self.is_own(team) and self._bot.settings.delete_data_on_uninstall is not False


def is_removal(body: Mapping[str, Any], installation: Installation) -> bool:
    """Whether an event ends an installation: not if it is older, or about tokens of people alone. Pure."""
    event, event_time = body["event"], body.get("event_time")
    if isinstance(event_time, int) and event_time < int(installation.installed_at):
        return False  # Slack delivered it late, and the app was installed again
    revoked = (event.get("tokens") or {}).get("bot") or ()
    return event["type"] == "app_uninstalled" or installation.bot_user_id in revoked


def _is_for_organization(context: AsyncBoltContext) -> bool:
    """Whether an event is about the installation in a whole organization."""
    return bool(context.is_enterprise_install) or context.team_id in (None, "", context.enterprise_id)
