"""What all replies of a workspace share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.buckets import Pace
    from adapters.slack.identity import Us
    from adapters.slack.letters import Letters
    from adapters.slack.people import People
    from adapters.slack.streams import Streams


@dataclass(frozen=True, slots=True)
class Study:
    """`reader` repeats a call that failed, `writer` never does.

    `taken` are the messages of replies that are being written, `begun` their marks by answer, `tasks` what is going
    on in the background.
    """

    reader: AsyncWebClient
    writer: AsyncWebClient
    us: Us
    pace: Pace
    people: People
    letters: Letters
    streams: Streams
    taken: set[str] = field(default_factory=set)
    begun: dict[str, str] = field(default_factory=dict)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
