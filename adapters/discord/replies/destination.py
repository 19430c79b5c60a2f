"""Choose where an answer is written: a thread of its question, the channel, or an interaction response."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import discord

from adapters.discord.calls import call_with_retries, map_errors
from adapters.discord.guild.permissions import can_open_threads
from adapters.discord.replies.channel_messages import ChannelSink
from adapters.discord.replies.interaction_responses import InteractionSink, PendingAcks
from adapters.discord.replies.refs import InteractionHandle, ReplyRef
from adapters.discord.replies.render import build_thread_title
from bot.errors import PlatformError

if TYPE_CHECKING:
    from adapters.discord.guild.channels import ChannelLookup
    from adapters.discord.replies.channel_messages import MessageSink
    from bot.platform.models import Location
    from bot.platform.ports import ReplyTarget
    from engine import Clock

MAX_FRESH_AGE = 5.0  # seconds; an earlier run may have started to answer an older question
SEARCH_LIMIT = 50  # messages after a question that are searched for its answer
THREAD_TIMEOUT = 5.0  # seconds to create a thread; Discord allows few of them per five minutes
DEFAULT_THREAD_NAME = "Question"
THREAD_EXISTS_CODE = 160004  # the message already has a thread


@dataclass(frozen=True, slots=True)
class ReplyChannels:
    """Resolves channels and threads to reply in."""

    client: discord.Client
    channel_lookup: ChannelLookup
    pending_acks: PendingAcks
    clock: Clock

    async def open_direct(self, person: str) -> str:
        """Open a direct message channel; gives its id. Raises PermissionDenied if the person accepts none."""
        channel = await call_with_retries(
            "to open a direct message channel", lambda: self.client.http.start_private_message(int(person))
        )
        return str(channel["id"])

    async def resolve_channel(self, location: Location, message: str) -> tuple[str, str]:
        """The id of the channel to post in, and of the message to reply to (empty in a thread started from it).

        Creates a thread from the message if there is none and the bot may.
        """
        if location.thread and location.thread != message:
            return str(self.channel_lookup.channel_of_message(location, "")), message
        if not location.workspace or not (location.thread or message):
            return location.channel, message
        return await self._resolve_thread(location, message or location.thread)

    async def _resolve_thread(self, location: Location, message: str) -> tuple[str, str]:
        if self.channel_lookup.get_cached_location(int(location.workspace), int(message)) is not None:
            return message, ""
        parent = self.client.get_channel(int(location.channel))
        if isinstance(parent, discord.TextChannel):
            exists = can_open_threads(parent) and await self._create_thread(parent, int(message))
        else:
            exists = await self._is_thread(int(message))
        return (message, "") if exists else (location.channel, message)

    async def _is_thread(self, thread: int) -> bool:
        try:
            self.channel_lookup.remember_channel(await self.channel_lookup.fetch_channel(thread))
        except PlatformError:
            return False
        return True

    async def _create_thread(self, parent: discord.TextChannel, message: int) -> bool:
        question = parent.get_partial_message(message)
        name = await self._thread_name(question)
        try:
            async with asyncio.timeout(THREAD_TIMEOUT):
                self.channel_lookup.remember_channel(
                    await call_with_retries("to create a thread", lambda: _create_named_thread(question, name))
                )
        except _ThreadExistsError:
            return True
        except (PlatformError, TimeoutError):
            return (
                self.channel_lookup.get_cached_location(question.guild.id if question.guild else None, message)
                is not None
            )
        return True

    async def _thread_name(self, question: discord.PartialMessage) -> str:
        cached = discord.utils.get(self.client.cached_messages, id=question.id)
        if cached is None:
            try:
                cached = await call_with_retries("to read a question", question.fetch)
            except PlatformError:
                return DEFAULT_THREAD_NAME
        return build_thread_title(cached.content) or DEFAULT_THREAD_NAME


class _ThreadExistsError(Exception):
    pass


async def _create_named_thread(question: discord.PartialMessage, name: str) -> discord.Thread:
    try:
        return await question.create_thread(name=name)
    except discord.HTTPException as error:
        if error.code == THREAD_EXISTS_CODE:
            raise _ThreadExistsError from None
        raise


class DestinationFinder:
    """Finds the sink for the answer to one target."""

    def __init__(self, reply_channels: ReplyChannels, target: ReplyTarget) -> None:
        self._reply_channels = reply_channels
        self._target = target
        self._handle = InteractionHandle.parse(target.handle)

    @property
    def is_private(self) -> bool:
        """Whether only one person sees the answer."""
        return self._handle.is_private if self._handle else self._target.private

    async def find(self) -> tuple[MessageSink, ReplyRef]:
        """The sink, and the messages written to it before."""
        ref = ReplyRef.parse(self._target.reply_ref)
        if self._handle is not None:
            channels = self._reply_channels
            if self._handle.expires_at <= channels.clock.time():
                return await self.find_fallback(ref)
            sink = InteractionSink(channels.client, self._handle, channels.pending_acks, channels.clock)
            return sink, await self._with_followups(ref)
        if ref.messages:
            return self._build_sink(ref.channel, self._target.message), ref
        return await self._find_by_message()

    async def find_fallback(self, ref: ReplyRef) -> tuple[MessageSink, ReplyRef]:
        """The sink after the interaction expired: the channel, or for private answers a new direct message."""
        target = self._target
        if self.is_private and target.location.workspace:
            return self._build_sink(await self._reply_channels.open_direct(target.person)), ReplyRef("", ())
        original = ref.messages[0] if ref.messages else ""
        return self._build_sink(ref.channel or target.location.thread or target.location.channel, original), ref

    async def _find_by_message(self) -> tuple[MessageSink, ReplyRef]:
        target = self._target
        if target.private:
            return self._build_sink(await self._reply_channels.open_direct(target.person)), ReplyRef("", ())
        channel, quoted_message = await self._reply_channels.resolve_channel(target.location, target.message)
        return self._build_sink(channel, quoted_message), await self._find_posted(channel, quoted_message)

    def _build_sink(self, channel: str, quoted_message: str = "") -> ChannelSink:
        return ChannelSink(self._reply_channels.client.http, channel, self._target.answer, quoted_message)

    async def _find_posted(self, channel: str, quoted_message: str) -> ReplyRef:
        """Find unrecorded messages of an earlier run: the bot's own messages after the question."""
        me, found = self._reply_channels.client.user, list[str]()
        if me is None or not self._target.message or not self._is_old():
            return ReplyRef(channel, ())
        for message in await self._fetch_after(int(channel), int(self._target.message)):
            own = message.author.id == me.id and not message.is_system()
            if found and not (own and message.reference is None):
                break
            if own and (found or _is_reply_to(message, quoted_message)):
                found.append(str(message.id))
        return ReplyRef(channel, tuple(found))

    def _is_old(self) -> bool:
        """Whether an earlier run may have started to answer."""
        asked = self._target.asked_at
        return asked is not None and (self._reply_channels.clock.now() - asked).total_seconds() > MAX_FRESH_AGE

    async def _with_followups(self, ref: ReplyRef) -> ReplyRef:
        """Add unrecorded follow-up messages of an earlier run."""
        if not ref.messages or self.is_private or self._handle is None or self._handle.is_button:
            return ref
        original = int(ref.messages[0])
        followups = [
            str(message.id)
            for message in await self._fetch_after(int(ref.channel), original)
            if message.interaction_metadata is not None
            and message.interaction_metadata.original_response_message_id == original
        ]
        return ReplyRef(ref.channel, (ref.messages[0], *(followups or ref.messages[1:])))

    async def _fetch_after(self, channel: int, message: int) -> list[discord.Message]:
        """Fetch the messages after one, oldest first; empty if they may not be read."""
        partial_channel = self._reply_channels.client.get_partial_messageable(channel)
        try:
            with map_errors("to search for its own messages"):
                return [
                    posted
                    async for posted in partial_channel.history(limit=SEARCH_LIMIT, after=discord.Object(message))
                ]
        except PlatformError:
            return []


def _is_reply_to(message: discord.Message, quoted_message: str) -> bool:
    reference = message.reference.message_id if message.reference else None
    return str(reference or "") == quoted_message
