"""State and clients shared by all replies of a workspace, and the bot's identity there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from adapters.slack.errors import BOT_TOKEN, map_connect_errors
from adapters.slack.install.manifests import SCOPES_HINT, list_lacking_scopes
from bot.errors import PlatformUnavailable

if TYPE_CHECKING:
    import asyncio

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.clients import WorkspaceClients
    from adapters.slack.replies.sender import MessageSender
    from adapters.slack.replies.streaming import MessageStreams
    from adapters.slack.retries import RateLimits
    from adapters.slack.workspace.users import UserDirectory
    from engine import Clock
    from engine.scheduling.supervisor import Supervisor

log = structlog.get_logger(__name__)

NAME = "slack"


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """The workspace's id, the bot's user id and bot id there, and the workspace's URL, ending in "/".

    `lacking`: scopes that the app needs and has not.
    """

    team: str
    user: str
    bot: str
    url: str
    lacking: tuple[str, ...] = ()

    def is_author(self, user: str, bot: str) -> bool:
        """Whether an author with these ids is the bot itself."""
        return bool((user and user == self.user) or (bot and bot == self.bot))


async def fetch_identity(client: AsyncWebClient) -> BotIdentity:
    """Fetch the bot's identity in a workspace. Raises SetupError if the token is invalid, and PlatformError."""
    with map_connect_errors(BOT_TOKEN):
        response = await client.auth_test()
    if not (response.get("team_id") and response.get("user_id")):
        raise PlatformUnavailable("Slack did not identify the bot.")
    if lacking := list_lacking_scopes(response.headers):
        log.warning("slack.scopes_missing", scopes=lacking, hint=SCOPES_HINT)
    url = str(response.get("url") or "https://app.slack.com/")
    return BotIdentity(
        team=str(response.get("team_id") or ""),
        user=str(response.get("user_id") or ""),
        bot=str(response.get("bot_id") or ""),
        url=url if url.endswith("/") else url + "/",
        lacking=tuple(lacking),
    )


@dataclass(frozen=True, slots=True)
class SlackContext:
    """Shared state of a workspace.

    `supervisor` runs background tasks, `tasks` are those that belong to replies. `active_messages` are ids (ts) of
    messages of replies in progress, `refs_by_answer` their reply references by answer id.
    """

    clients: WorkspaceClients
    identity: BotIdentity
    rate_limits: RateLimits
    users: UserDirectory
    sender: MessageSender
    streams: MessageStreams
    supervisor: Supervisor
    active_messages: set[str] = field(default_factory=set)
    refs_by_answer: dict[str, str] = field(default_factory=dict)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def clock(self) -> Clock:
        """The clock by which the rate limits are kept."""
        return self.rate_limits.clock

    @property
    def idempotent_client(self) -> AsyncWebClient:
        """The client that retries failed calls."""
        return self.clients.idempotent

    @property
    def write_client(self) -> AsyncWebClient:
        """The client that never retries."""
        return self.clients.write
