"""What all replies of a workspace share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.scheduling.supervisor import Supervisor

if TYPE_CHECKING:
    import asyncio

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.api.rate_limits import Pace
    from adapters.slack.identity import Us
    from adapters.slack.replies.sender import Letters
    from adapters.slack.replies.streaming import Streams
    from adapters.slack.workspace.users import People


@dataclass(frozen=True, slots=True)
class Study:
    """`reader` repeats a call that failed, `writer` never does.

    `supervisor` runs what goes on in the background, and `tasks` are those of it that belong to replies. `taken` are
    the messages of replies that are being written, `begun` their marks by answer.
    """

    reader: AsyncWebClient
    writer: AsyncWebClient
    us: Us
    pace: Pace
    people: People
    letters: Letters
    streams: Streams
    supervisor: Supervisor = field(default_factory=Supervisor)
    taken: set[str] = field(default_factory=set)
    begun: dict[str, str] = field(default_factory=dict)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
