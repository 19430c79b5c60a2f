"""State and clients shared by all replies of a workspace."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine import Supervisor

if TYPE_CHECKING:
    import asyncio

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.api.rate_limits import RateLimits
    from adapters.slack.identity import BotIdentity
    from adapters.slack.replies.sender import MessageSender
    from adapters.slack.replies.streaming import MessageStreams
    from adapters.slack.workspace.users import UserDirectory


@dataclass(frozen=True, slots=True)
class SlackContext:
    """Shared state of a workspace.

    `idempotent_client` retries failed calls, `write_client` never does. `supervisor` runs background tasks, `tasks`
    are those that belong to replies. `active_messages` are ids (ts) of messages of replies in progress,
    `refs_by_answer` their reply references by answer id.
    """

    idempotent_client: AsyncWebClient
    write_client: AsyncWebClient
    identity: BotIdentity
    rate_limits: RateLimits
    users: UserDirectory
    sender: MessageSender
    streams: MessageStreams
    supervisor: Supervisor = field(default_factory=Supervisor)
    active_messages: set[str] = field(default_factory=set)
    refs_by_answer: dict[str, str] = field(default_factory=dict)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
