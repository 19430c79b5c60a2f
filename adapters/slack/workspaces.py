"""The workspaces that are served: each has its clients, caches, rate limits and listener."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from adapters.slack.context import NAME, BotIdentity, SlackContext, fetch_identity
from adapters.slack.delivery_watch import DeliveryWatch
from adapters.slack.events.listener import WorkspaceListener
from adapters.slack.platform import SlackPlatform
from adapters.slack.replies.sender import MessageSender
from adapters.slack.replies.streaming import MessageStreams
from adapters.slack.retries import MethodPauses, RateLimits, idempotent_handlers
from adapters.slack.settings import TRAITS
from adapters.slack.workspace.users import UserDirectory
from bot.commands.table import list_commands
from bot.platform.models import Location
from engine.scheduling.supervisor import Supervisor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from adapters.slack.clients import ClientFactory, WorkspaceClients
    from bot.bot import Bot

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Workspace:
    """One workspace. `watch` notices missed deliveries; None with a socket, which shows that it was lost."""

    context: SlackContext
    platform: SlackPlatform
    listener: WorkspaceListener
    watch: DeliveryWatch | None

    @property
    def team(self) -> str:
        """The workspace's id."""
        return self.context.identity.team

    def start(self) -> None:
        """Reconcile: events may have been lost before."""
        self.listener.handle_reconnect()
        if self.watch is not None:
            self.watch.start()

    async def close(self) -> None:
        """End all background tasks."""
        if self.watch is not None:
            await self.watch.close()
        await self.listener.close()


@dataclass(frozen=True, slots=True)
class WorkspaceFactory:
    """Opens workspaces. `over_http`: Slack posts their events to a URL."""

    bot: Bot
    clients: ClientFactory
    over_http: bool

    async def open(self, token: str, identity: BotIdentity | None = None) -> Workspace:
        """Open a workspace by its bot token, or by that of its organization: then the identity must be given.

        Raises SetupError if Slack refuses the token, and PlatformError.
        """
        team_option = identity.team if identity is not None else ""
        identity = identity or await fetch_identity(self.clients.build(token, handlers=idempotent_handlers()))
        self.bot.report_lacking(NAME, identity.team, identity.lacking)
        limits, clock = self.bot.processes.call_limits, self.bot.clock
        clients = self.clients.build_set(token, MethodPauses(identity.team, limits, clock), team_option)
        context = build_context(clients, identity, RateLimits(clock, identity.team, limits), self.bot.supervisor)
        platform = SlackPlatform(context, self.bot.settings.membership_cache_seconds)
        listener = WorkspaceListener(self.bot, platform, context, list_commands(TRAITS))
        watch = DeliveryWatch(self.bot, listener, identity.team) if self.over_http else None
        return Workspace(context, platform, listener, watch)


def build_context(
    clients: WorkspaceClients, identity: BotIdentity, rate_limits: RateLimits, supervisor: Supervisor | None = None
) -> SlackContext:
    """Build what the replies in a workspace share."""
    users = UserDirectory(clients.idempotent, identity, rate_limits.clock)
    sender = MessageSender(clients.write, rate_limits)
    streams = MessageStreams(clients.write, rate_limits, users, sender)
    supervisor = supervisor or Supervisor(rate_limits.clock)
    return SlackContext(clients, identity, rate_limits, users, sender, streams, supervisor)


class Workspaces:
    """The workspaces by id. `expected`: those that the app is installed in, but that were not reached yet.

    `is_single`: the app is installed in one workspace alone, so that all requests are for it.
    """

    def __init__(self, bot: Bot, *, is_single: bool = False) -> None:
        self._bot = bot
        self._is_single = is_single
        self._by_team: dict[str, Workspace] = {}
        self._is_connected = False
        self.expected: set[str] = set()

    def __iter__(self) -> Iterator[Workspace]:
        return iter(tuple(self._by_team.values()))

    def get(self, team: str) -> Workspace | None:
        """The workspace with this id, if it is served."""
        return self._by_team.get(team)

    def find(self, teams: Iterable[str]) -> Workspace | None:
        """The first of these workspaces that is served."""
        found = self if self._is_single else (self._by_team.get(team) for team in teams)
        return next((workspace for workspace in found if workspace is not None), None)

    async def list_sharing(self, channel: str, known: Workspace | None) -> list[Workspace]:
        """The workspaces besides `known` whose bot is in a channel; Slack Connect gives it one id in all of them."""
        others = [workspace for workspace in self if workspace is not known]
        return [other for other in others if await self._is_joined(Location(NAME, other.team, channel))]

    async def _is_joined(self, channel: Location) -> bool:
        return await self._bot.store.channels.get_name(channel.room) is not None

    def add(self, workspace: Workspace) -> None:
        """Serve a workspace from now on; its audiences are unknown until it is reconciled."""
        self._bot.suspend_visibility(NAME, workspace.team)
        self._by_team[workspace.team] = workspace
        self.expected.discard(workspace.team)
        if self._is_connected:
            workspace.start()

    async def remove(self, team: str) -> None:
        """Stop to serve a workspace: nothing is answered from its shared space, and its token is not used again."""
        self.expected.discard(team)
        workspace = self._by_team.pop(team, None)
        if workspace is not None:
            self._bot.suspend_visibility(NAME, team)
            workspace.context.clients.set_token("")
            await workspace.close()

    def handle_connect(self) -> None:
        """Slack's events arrive from now on, or again."""
        self._is_connected = True
        for workspace in self:
            workspace.start()

    async def close(self) -> None:
        """End all background tasks."""
        for workspace in self:
            await workspace.close()
