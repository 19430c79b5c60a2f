"""What all replies of a workspace share."""

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
    """`reader` repeats a call that failed, `writer` never does.

    `supervisor` runs what goes on in the background, and `tasks` are those of it that belong to replies. `taken` are
    the messages of replies that are being written, `begun` their marks by answer.
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
