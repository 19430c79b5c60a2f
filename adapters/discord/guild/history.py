"""Read the history of a channel merged with its threads, newest first; message ids order by time."""

from __future__ import annotations

import heapq
from contextlib import aclosing
from datetime import timedelta
from typing import TYPE_CHECKING, TypeAlias

import discord
import structlog

from adapters.discord.calls import UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, UnknownResource, call_with_retries, map_errors
from adapters.discord.translate import is_user_message, location_of, message_of
from bot.errors import PlatformError
from bot.platform.ports import ThreadPage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence
    from datetime import datetime

    from adapters.discord.guild.channels import ChannelLookup
    from bot.platform.models import Location, Message

log = structlog.get_logger(__name__)

PAGE_SIZE = 100  # Discord's maximum

ThreadParent: TypeAlias = discord.TextChannel | discord.ForumChannel
MessageChannel: TypeAlias = (
    discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread | discord.DMChannel
)
THREAD_PARENTS = (discord.TextChannel, discord.ForumChannel)
MESSAGE_CHANNELS = (discord.TextChannel, discord.VoiceChannel, discord.StageChannel, discord.Thread, discord.DMChannel)


class MessageStream:
    """The messages of one channel or thread, newest first, fetched page by page."""

    def __init__(self, channel: MessageChannel, since: int, before: int) -> None:
        self.channel = channel
        self.since = since
        self.before = before
        self.buffer: list[discord.Message] = []
        # No later message has a higher id; of a thread this is known before the first page.
        newest = getattr(channel, "last_message_id", None) if isinstance(channel, discord.Thread) else None
        self.upper_bound = min(before - 1, newest) if newest else before - 1

    def __lt__(self, other: MessageStream) -> bool:
        return self.upper_bound > other.upper_bound

    async def fetch_page(self) -> None:
        """Fetch the next page; `upper_bound` becomes the id of its newest message, 0 at the end."""
        self.buffer = await call_with_retries("to read the history of a channel", self._load_page)
        self.buffer.reverse()
        self.upper_bound = self.buffer[-1].id if self.buffer else 0

    async def _load_page(self) -> list[discord.Message]:
        before = discord.Object(self.before)
        return [message async for message in self.channel.history(limit=PAGE_SIZE, before=before, oldest_first=False)]

    def pop_newest(self) -> discord.Message:
        """Remove and return the newest buffered message."""
        message = self.buffer.pop()
        self.before = message.id
        self.upper_bound = self.buffer[-1].id if self.buffer else message.id - 1
        return message

    @property
    def is_exhausted(self) -> bool:
        """Whether no message after `since` is left."""
        return self.upper_bound < self.since


async def merge_streams(streams: Sequence[MessageStream]) -> AsyncGenerator[discord.Message]:
    """Merge streams into one, newest first."""
    heap = [stream for stream in streams if not stream.is_exhausted]
    heapq.heapify(heap)
    while heap:
        stream = heapq.heappop(heap)
        if stream.buffer:
            yield stream.pop_newest()
        else:
            await stream.fetch_page()
        if not stream.is_exhausted:
            heapq.heappush(heap, stream)


async def fetch_pages(streams: Sequence[MessageStream], me: discord.abc.Snowflake) -> AsyncIterator[Sequence[Message]]:
    """Yield the messages of all streams in pages, newest first; `me` is the bot."""
    page: list[Message] = []
    async with aclosing(merge_streams(streams)) as messages:
        async for message in messages:
            if is_user_message(message):
                page.append(message_of(message, location_of(message.channel), me))
            if len(page) >= PAGE_SIZE:
                yield page
                page = []
    if page:
        yield page


async def list_threads(channel: ThreadParent, since: datetime) -> list[discord.Thread]:
    """List a channel's public threads, including archived ones that may have messages after `since`.

    Archived threads that the bot may not list are left out and logged.
    """
    active = await call_with_retries("to list the threads of a guild", channel.guild.active_threads)
    found = [thread for thread in active if thread.parent_id == channel.id and not thread.is_private()]
    try:
        with map_errors("to list the archived threads of a channel"):
            async for thread in channel.archived_threads(limit=None):
                if thread.archive_timestamp < since:
                    break
                found.append(thread)
    except PlatformError as error:
        log.warning("discord.archived_threads_list_failed", channel=channel.id, error=type(error).__name__)
    return list({thread.id: thread for thread in found}.values())


def max_message_id(now: datetime) -> int:
    """An id above that of every existing message."""
    return discord.utils.time_snowflake(now + timedelta(hours=1))


async def fetch_thread(lookup: ChannelLookup, location: Location, limit: int) -> ThreadPage:
    """Fetch the newest messages of a thread, oldest first.

    If there is room, the message that started the thread precedes them, and before it the one that it replies to.
    A thread that does not exist yet has only these two.
    """
    exists = True
    try:
        channel = lookup.get_partial_channel(location, await lookup.resolve_thread_id(location))
        found = await call_with_retries("to read a thread", lambda: _fetch_newest(channel, limit))
    except UnknownResource as error:
        if error.code != UNKNOWN_CHANNEL:
            raise
        found, exists = [], False
    is_complete = len(found) < limit  # system messages count toward the limit
    if is_complete and location.thread != location.channel and not lookup.is_forum(location):
        found = [*await _fetch_thread_start(lookup, location), *found][-limit:]
    messages = [
        message_of(message, _message_location(message, location), lookup.me)
        for message in found
        if is_user_message(message)
    ]
    return ThreadPage(messages, is_complete, exists)


async def fetch_message(lookup: ChannelLookup, location: Location, message_id: str) -> Message | None:
    """Fetch a message; None if Discord reports that it or its thread was deleted."""
    await lookup.check_membership(location)
    channel = lookup.get_partial_channel(location, lookup.channel_of_message(location, message_id))
    try:
        found = await call_with_retries("to read a message", lambda: channel.fetch_message(int(message_id)))
    except UnknownResource as error:
        if error.code == UNKNOWN_MESSAGE or (location.thread and error.code == UNKNOWN_CHANNEL):
            return None
        raise
    return message_of(found, location, lookup.me)


async def _fetch_newest(channel: discord.PartialMessageable, limit: int) -> list[discord.Message]:
    return [message async for message in channel.history(limit=limit, oldest_first=False)][::-1]


async def _fetch_thread_start(lookup: ChannelLookup, location: Location) -> list[discord.Message]:
    """Fetch the message that started a thread, preceded by the one that it replies to."""
    parent = lookup.get_partial_channel(location, int(location.channel))
    try:
        first = await call_with_retries("to read a message", lambda: parent.fetch_message(int(location.thread)))
    except PlatformError:
        return []
    replied = first.reference.resolved if first.type is discord.MessageType.reply and first.reference else None
    return [replied, first] if isinstance(replied, discord.Message) else [first]


def _message_location(message: discord.Message, location: Location) -> Location:
    """The location of a thread's message: in the thread, or in its channel for the first ones."""
    return location if str(message.channel.id) == location.thread else location.without_thread
