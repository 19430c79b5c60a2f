"""A channel's past together with that of its threads, newest first: message ids are times, so they merge."""

from __future__ import annotations

import heapq
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

import discord
import structlog

from adapters.discord.api.calls import UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, Missing, patiently, told
from adapters.discord.translate import message_of, place_of, spoken
from bot.errors import PlatformError
from bot.platform.ports import Listing

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence

    from adapters.discord.guild.channels import Whereabouts
    from bot.platform.models import Message, Place

log = structlog.get_logger(__name__)

PAGE = 100  # what Discord gives at once

Parent: TypeAlias = discord.TextChannel | discord.ForumChannel
Readable: TypeAlias = (
    discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread | discord.DMChannel
)
PARENT = (discord.TextChannel, discord.ForumChannel)
READABLE = (discord.TextChannel, discord.VoiceChannel, discord.StageChannel, discord.Thread, discord.DMChannel)


class Stream:
    """The messages of one channel or thread, newest first, fetched when they are needed."""

    def __init__(self, channel: Readable, since: int, before: int) -> None:
        self.channel = channel
        self.since = since
        self.before = before
        self.found: list[discord.Message] = []
        # Nothing newer than this is to come; of a thread that is known before anything was fetched.
        newest = getattr(channel, "last_message_id", None) if isinstance(channel, discord.Thread) else None
        self.edge = min(before - 1, newest) if newest else before - 1

    def __lt__(self, other: Stream) -> bool:
        return self.edge > other.edge

    async def fill(self) -> None:
        """Fetch the next page, and learn how new its first message is; `edge` falls below `since` at the end."""
        self.found = await patiently("to read the history of a channel", self._page)
        self.found.reverse()
        self.edge = self.found[-1].id if self.found else 0

    async def _page(self) -> list[discord.Message]:
        before = discord.Object(self.before)
        return [message async for message in self.channel.history(limit=PAGE, before=before, oldest_first=False)]

    def take(self) -> discord.Message:
        """The newest one that was fetched."""
        message = self.found.pop()
        self.before = message.id
        self.edge = self.found[-1].id if self.found else message.id - 1
        return message

    @property
    def over(self) -> bool:
        """Whether all that is asked for was taken."""
        return self.edge < self.since


async def merged(streams: Sequence[Stream]) -> AsyncGenerator[discord.Message]:
    """The messages of all streams, newest first."""
    heap = [stream for stream in streams if not stream.over]
    heapq.heapify(heap)
    while heap:
        stream = heapq.heappop(heap)
        if stream.found:
            yield stream.take()
        else:
            await stream.fill()
        if not stream.over:
            heapq.heappush(heap, stream)


async def pages(streams: Sequence[Stream], me: discord.abc.Snowflake) -> AsyncIterator[Sequence[Message]]:
    """What was said in all streams, in pages, newest first; `me` is the bot."""
    page: list[Message] = []
    async with aclosing(merged(streams)) as messages:
        async for message in messages:
            if spoken(message):
                page.append(message_of(message, place_of(message.channel), me))
            if len(page) >= PAGE:
                yield page
                page = []
    if page:
        yield page


async def threads(channel: Parent, since: datetime) -> list[discord.Thread]:
    """Its public threads, also archived ones in which something may have been said since then.

    Those that the bot may not list are left out, and the log says so.
    """
    active = await patiently("to list the threads of a guild", channel.guild.active_threads)
    found = [thread for thread in active if thread.parent_id == channel.id and not thread.is_private()]
    try:
        with told("to list the archived threads of a channel"):
            async for thread in channel.archived_threads(limit=None):
                if thread.archive_timestamp < since:
                    break
                found.append(thread)
    except PlatformError as error:
        log.warning("archived_threads_unknown", channel=channel.id, error=type(error).__name__)
    return list({thread.id: thread for thread in found}.values())


def newest() -> int:
    """An id that is above that of every message so far."""
    return discord.utils.time_snowflake(datetime.now(UTC) + timedelta(hours=1))


async def thread(whereabouts: Whereabouts, place: Place, limit: int) -> Listing:
    """The newest messages of a thread, oldest first.

    If there is room, the message that it began on is before them, and before that the one to which that replied;
    a thread that was not begun yet has these alone.
    """
    there = True
    try:
        inside = whereabouts.messages(place, await whereabouts.thread(place))
        found = await patiently("to read a thread", lambda: _newest(inside, limit))
    except Missing as error:
        if error.code != UNKNOWN_CHANNEL:
            raise
        found, there = [], False
    whole = len(found) < limit  # what Discord itself says in a thread takes room too
    if whole and place.thread != place.channel and not whereabouts.is_forum(place):
        found = [*await _beginning(whereabouts, place), *found][-limit:]
    said = [message_of(each, _within(each, place), whereabouts.me) for each in found if spoken(each)]
    return Listing(said, whole, there)


async def message(whereabouts: Whereabouts, place: Place, id_: str) -> Message | None:
    """A message as it is now; None if Discord says that it, or its thread, was deleted."""
    await whereabouts.inside(place)
    channel = whereabouts.messages(place, whereabouts.of_message(place, id_))
    try:
        found = await patiently("to read a message", lambda: channel.fetch_message(int(id_)))
    except Missing as error:
        if error.code == UNKNOWN_MESSAGE or (place.thread and error.code == UNKNOWN_CHANNEL):
            return None
        raise
    return message_of(found, place, whereabouts.me)


async def _newest(channel: discord.PartialMessageable, limit: int) -> list[discord.Message]:
    return [each async for each in channel.history(limit=limit, oldest_first=False)][::-1]


async def _beginning(whereabouts: Whereabouts, place: Place) -> list[discord.Message]:
    """The message that a thread began on, behind the one to which it replied."""
    parent = whereabouts.messages(place, int(place.channel))
    try:
        first = await patiently("to read a message", lambda: parent.fetch_message(int(place.thread)))
    except PlatformError:
        return []
    replied = first.reference.resolved if first.type is discord.MessageType.reply and first.reference else None
    return [replied, first] if isinstance(replied, discord.Message) else [first]


def _within(message: discord.Message, place: Place) -> Place:
    """The place of a message that belongs to a thread: inside of it, or in the channel before it."""
    return place if str(message.channel.id) == place.thread else place.main
