"""Implements bot.platform.ports.WorkspacePlatform for the servers of one connection."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

import discord

from adapters.common.bounded_dict import BoundedDict
from adapters.common.download import Downloader, FileHosts
from adapters.common.reactions import StatusReactions
from adapters.discord.calls import TokenExpired, UnknownResource, call_with_retries
from adapters.discord.gateway import FILE_HOSTS, custom_file_origin, load_members
from adapters.discord.guild import history as histories
from adapters.discord.guild.channels import ChannelLookup, FetchedChannel, check_available
from adapters.discord.guild.markup import to_plain_text
from adapters.discord.guild.permissions import (
    can_read_history,
    is_age_restricted,
    is_open,
    list_channel_readers,
    list_thread_readers,
)
from adapters.discord.replies.channel_messages import ChannelSink, ForumPostSink, split_card
from adapters.discord.replies.destination import DestinationFinder, ReplyChannels
from adapters.discord.replies.interaction_responses import InteractionSink, PendingAcks
from adapters.discord.replies.posted_answers import DiscordPostedAnswers
from adapters.discord.replies.refs import InteractionHandle
from adapters.discord.replies.reply import DiscordReply, EditThrottle
from adapters.discord.translate import location_of, person_of
from bot.errors import PermissionDenied, PlatformError, PlatformUnavailable
from bot.platform.models import Channel, Location, Person

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from datetime import datetime

    from bot.platform.models import Card, ListedChannel, Message, Upload
    from bot.platform.ports import Reaction, Reply, ReplyTarget, ThreadPage
    from bot.settings import Settings
    from engine import Clock

REACTIONS: dict[Reaction, str] = {"working": "⏳", "done": "✅", "failed": "⚠️"}
MAX_OFFLINE_SECONDS = 60.0  # seconds without a connection for which cached state is trusted
MEMBERS_TIMEOUT = 10.0  # seconds to load the members of a guild


class DiscordPlatform:
    """The servers of a connected client. `client` must be logged in before any call."""

    def __init__(self, client: discord.Client, settings: Settings, clock: Clock) -> None:
        self.client = client
        self.channel_lookup = ChannelLookup(client)
        self.pending_acks = PendingAcks()
        self._clock = clock
        self._reply_channels = ReplyChannels(client, self.channel_lookup, self.pending_acks, clock)
        self.disconnected_at: float | None = None  # a monotonic time
        self._downloader = Downloader("Discord", FileHosts(FILE_HOSTS, custom_file_origin(settings)))
        self._responded: BoundedDict[str, None] = BoundedDict()  # commands whose first response was written
        self.locales: BoundedDict[str, str] = BoundedDict()  # of people's clients, as their last interactions said
        self._status_reactions = StatusReactions(self)

    def record_disconnect(self) -> None:
        """Record that the connection is lost; cached state is trusted for MAX_OFFLINE_SECONDS."""
        self.disconnected_at = self._clock.monotonic() if self.disconnected_at is None else self.disconnected_at

    def record_connect(self) -> None:
        """Record that the connection is there again."""
        self.disconnected_at = None

    async def fetch_channel(self, location: Location) -> Channel:
        """Fetch a channel; its readers follow from its overwrites and the members' roles."""
        found = await self.channel_lookup.get_channel(location)
        if isinstance(found, discord.Thread):
            return await self._thread_channel(location.without_thread, found)
        if isinstance(found, discord.DMChannel):
            return await self._direct_channel(location.without_thread, found)
        if not isinstance(found, discord.abc.GuildChannel):
            raise PlatformError("This kind of channel cannot be read.")
        await self._load_members(found.guild)
        if is_open(found):
            return Channel(location.without_thread, found.name, "open", adult=is_age_restricted(found))
        return Channel(
            location.without_thread, found.name, "closed", list_channel_readers(found), adult=is_age_restricted(found)
        )

    async def list_channels(self, workspace: str, person: str = "") -> Sequence[ListedChannel]:  # noqa: ARG002
        """Raise PlatformError: Discord tells of each change of a channel, so that no list is compared."""
        raise PlatformError("Discord channels cannot be listed.")

    async def _thread_channel(self, location: Location, thread: discord.Thread) -> Channel:
        parent = thread.parent
        if parent is None:
            raise PlatformError("The parent channel of the thread is unknown.")
        if not thread.is_private():
            return await self.fetch_channel(location_of(parent))
        await self._load_members(thread.guild)
        members = await call_with_retries("to list the members of a thread", thread.fetch_members)
        readers = list_thread_readers(parent, (member.id for member in members))
        return Channel(location, thread.name, "closed", readers, adult=is_age_restricted(parent))

    async def _direct_channel(self, location: Location, channel: discord.DMChannel) -> Channel:
        if not channel.recipient:
            fetched = await self.channel_lookup.fetch_channel(channel.id)
            channel = fetched if isinstance(fetched, discord.DMChannel) else channel
        if not channel.recipient:
            raise PlatformError("The other person of this direct message channel is unknown.")
        return Channel(location, channel.recipient.display_name, "direct", frozenset({str(channel.recipient.id)}))

    async def _load_members(self, guild: discord.Guild) -> None:
        """Load all members of a guild. Raises PlatformError: without them, readers cannot be determined."""
        self._check_connected()
        check_available(guild)
        if guild.chunked:
            return
        try:
            await load_members(guild, MEMBERS_TIMEOUT)
        except (OSError, discord.ClientException) as error:
            raise PlatformUnavailable("The members of this server are not loaded yet.") from error

    def _check_connected(self) -> None:
        """Raise PlatformUnavailable if changes of members and channels may have been missed."""
        since = self.disconnected_at
        if since is not None and self._clock.monotonic() - since > MAX_OFFLINE_SECONDS:
            raise PlatformUnavailable("The connection to Discord is lost.")

    async def fetch_person(self, workspace: str, person: str) -> Person:
        found = await self._fetch_user(workspace, person)
        has_left = bool(workspace) and found.is_guest  # guests of a server are those who are not members
        locale = self.locales.get(person) or self._guild_locale(workspace)
        return replace(found, locale=locale, is_deactivated=has_left)

    def _get_guild(self, workspace: str) -> discord.Guild | None:
        return self.client.get_guild(int(workspace)) if workspace else None

    def _guild_locale(self, workspace: str) -> str:
        """The language that a community server chose; other servers cannot choose one."""
        guild = self._get_guild(workspace)
        return str(guild.preferred_locale) if guild is not None and "COMMUNITY" in guild.features else ""

    async def _fetch_user(self, workspace: str, person: str) -> Person:
        guild = self._get_guild(workspace)
        self._check_connected()
        if guild is not None and (found := await self._fetch_member(guild, int(person))):
            return person_of(found)
        if user := self.client.get_user(int(person)):
            return person_of(user)
        try:
            return person_of(await call_with_retries("to fetch a user", lambda: self.client.fetch_user(int(person))))
        except UnknownResource:
            return Person(person, "unknown", is_guest=True)

    async def _fetch_member(self, guild: discord.Guild, person: int) -> discord.Member | None:
        if (found := guild.get_member(person)) or guild.chunked:
            return found
        try:
            return await call_with_retries("to fetch a member", lambda: guild.fetch_member(person))
        except UnknownResource:
            return None

    async def is_in_group(self, workspace: str, person: str, group: str) -> bool:
        """Whether a member has a role. Raises PermissionDenied if there is no such role."""
        guild = self._get_guild(workspace)
        self._check_connected()
        if guild is None or guild.get_role(int(group)) is None:
            raise PermissionDenied("There is no such role in this server.")
        member = await self._fetch_member(guild, int(person))
        return member is not None and member.get_role(int(group)) is not None

    async def open_direct(self, workspace: str, person: str) -> Location:  # noqa: ARG002
        return await self.channel_lookup.open_direct(person)

    async def to_plain_text(self, workspace: str, text: str) -> str:
        guild = self._get_guild(workspace)

        async def name(person: str) -> str:
            return (await self.fetch_person(workspace, person)).name

        return await to_plain_text(text, guild, name)

    def message_link(self, location: Location, message: str) -> str:
        channel = self.channel_lookup.channel_of_message(location, message)
        return f"https://discord.com/channels/{location.workspace or '@me'}/{channel}/{message}"

    async def history(self, location: Location, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        """Yield pages of a channel's messages including its public threads; of a private thread, its own messages."""
        found = await self._get_history_channel(location)
        channels: list[histories.MessageChannel] = []
        if isinstance(found, histories.MESSAGE_CHANNELS):
            channels.append(found)
        if isinstance(found, histories.THREAD_PARENTS):
            channels += await histories.list_threads(found, since)
        for channel in channels:
            self.channel_lookup.remember_channel(channel)
        end = int(before) if before else histories.max_message_id(self._clock.now())
        bounds = discord.utils.time_snowflake(since), end
        streams = [histories.MessageStream(channel, *bounds) for channel in channels]
        async for page in histories.fetch_pages(streams, self.channel_lookup.me):
            yield page

    async def _get_history_channel(self, location: Location) -> FetchedChannel:
        """Get the channel of a location. Raises PermissionDenied where Discord would return an empty history."""
        found = await self.channel_lookup.get_channel(location)
        if not can_read_history(found):
            raise PermissionDenied(
                "The history of this channel is hidden: Read Message History is missing.",
                permissions=("Read Message History",),
            )
        return found

    async def fetch_thread(self, location: Location, limit: int) -> ThreadPage:
        """Fetch the newest messages of a thread, oldest first, with its first message and what that replies to."""
        await self._get_history_channel(location)
        return await histories.fetch_thread(self.channel_lookup, location, limit)

    async def fetch_message(self, location: Location, message: str) -> Message | None:
        """Fetch a message; None if it was deleted."""
        return await histories.fetch_message(self.channel_lookup, location, message)

    async def fetch_file(self, location: Location, upload: Upload, limit: int) -> bytes:  # noqa: ARG002
        """Download a file of at most `limit` bytes. Its URL expires after about a day."""
        return (await self._downloader.download(upload, limit)).data

    async def set_reaction(self, location: Location, message: str, reaction: Reaction | None) -> None:
        """Replace the bot's reaction on a message."""
        await self._status_reactions.set(
            str(self.channel_lookup.channel_of_message(location, message)), message, reaction
        )

    async def add_reaction(self, channel: str, message: str, reaction: Reaction) -> None:
        """Add a reaction of the bot."""
        http = self.client.http
        await call_with_retries("to react", lambda: http.add_reaction(int(channel), int(message), REACTIONS[reaction]))

    async def remove_reaction(self, channel: str, message: str, reaction: Reaction) -> None:
        """Remove a reaction of the bot; one that is not there is ignored."""
        http = self.client.http
        with suppress(UnknownResource):
            await call_with_retries(
                "to remove a reaction",
                lambda: http.remove_own_reaction(int(channel), int(message), REACTIONS[reaction]),
            )

    async def post(self, location: Location, card: Card) -> str:
        """Post a card; gives the id of the first message."""
        channel, quoted_message = await self._reply_channels.resolve_channel(location, location.thread)
        found = self.client.get_channel(int(channel))
        if isinstance(found, discord.ForumChannel):
            sink: ChannelSink = ForumPostSink(self.client.http, found, uuid4().hex)
        else:
            sink = ChannelSink(self.client.http, channel, uuid4().hex, quoted_message)
        [first, *_] = await self._send_card(sink, card)
        return first

    async def send_private(self, target: ReplyTarget, card: Card) -> None:
        """Send a card to one person: as the response to their command, else in a direct message.

        A card that is not private is posted as a reply to their message, if there is one.
        """
        handle = InteractionHandle.parse(target.handle)
        try:
            if handle is not None:
                return await self._send_response(handle, card)
        except TokenExpired:
            pass
        if target.message and not target.private:
            channel = str(self.channel_lookup.channel_of_message(target.location, target.message))
            with suppress(PermissionDenied):
                await self._send_card(ChannelSink(self.client.http, channel, uuid4().hex, target.message), card)
                return None
        await self._send_card(
            ChannelSink(self.client.http, await self._reply_channels.open_direct(target.person), uuid4().hex), card
        )
        return None

    async def _send_card(self, sink: ChannelSink, card: Card) -> list[str]:
        return [(await sink.write_part(part, "", outgoing))[1] for part, outgoing in enumerate(split_card(card))]

    async def _send_response(self, handle: InteractionHandle, card: Card) -> None:
        sink = InteractionSink(self.client, handle, self.pending_acks, self._clock)
        first, *rest = split_card(card)
        if handle.is_button or handle.interaction in self._responded:
            await sink.send_followup(first)
        else:
            await sink.write_part(0, "", first)
            self._responded[handle.interaction] = None
        for outgoing in rest:
            await sink.send_followup(outgoing)

    async def replace_answer(self, target: ReplyTarget, text: str) -> None:
        """Replace a finished answer by `text`."""
        await DiscordPostedAnswers(self.client, self.pending_acks, self._clock).replace(target, text)

    async def delete_answer(self, target: ReplyTarget) -> None:
        """Delete a finished answer, and a thread created for it if it is otherwise empty."""
        await DiscordPostedAnswers(self.client, self.pending_acks, self._clock).delete(target)

    def start_reply(self, target: ReplyTarget) -> Reply:
        """Start an answer, or continue the one that `target.reply_ref` names."""
        destination = DestinationFinder(self._reply_channels, target)
        return DiscordReply(destination, EditThrottle(self._clock), target.reply_ref, target.progress_buttons)
