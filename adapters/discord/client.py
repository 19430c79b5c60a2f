"""The connection: what Discord reports becomes events of bot/platform/events.py, which the bot keeps before it acts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import discord
import structlog

from adapters.discord.api.calls import patiently, watching
from adapters.discord.api.dispatches import guard
from adapters.discord.api.endpoints import find_gateway
from adapters.discord.api.intents import wanted
from adapters.discord.guild.permissions import invitation, lacking, roles_matter, same_readers, speaking_place
from adapters.discord.interactions.buttons import Pressed
from adapters.discord.interactions.command_sync import sync
from adapters.discord.interactions.commands import tree_of
from adapters.discord.interactions.interactions import Interactions
from adapters.discord.platform import Discord
from adapters.discord.translate import NAME, fingerprint, message_of, place_of, spoken, thread_place
from bot.platform.events import Changed, Deleted, Edited, Ended, Gone, Heard, Installed
from bot.platform.models import Place

if TYPE_CHECKING:
    from adapters.discord.interactions.interactions import Ear
    from bot.platform.events import Happening
    from bot.settings import Settings

log = structlog.get_logger(__name__)

QUIET = 1.0  # seconds without another server until all are taken to be there


class Chat(discord.Client):
    """Discord's events, translated. What is its own, and what Discord says itself, is left out."""

    def __init__(self, ear: Ear, settings: Settings) -> None:
        super().__init__(
            intents=wanted(),
            allowed_mentions=discord.AllowedMentions.none(),
            http_trace=watching(),
            enable_debug_events=True,  # tells of heartbeats too
            guild_ready_timeout=QUIET,
        )
        self._ear = ear
        self._settings = settings
        self._tree = tree_of(self)
        self.platform = Discord(self, settings)
        self.interactions = Interactions(ear, self.platform)
        guard(self)

    async def setup_hook(self) -> None:
        """Before the connection: buttons of former runs, commands, and the gateway's address."""
        self.add_dynamic_items(Pressed)
        await sync(self._tree, self._settings.root, f"{discord.http.Route.BASE} {self.application_id}")
        await find_gateway(self, self._settings)

    async def pressed(self, interaction: discord.Interaction[Any], action: str, value: str) -> None:
        """A button was pressed."""
        await self.interactions.pressed(interaction, action, value)

    async def on_ready(self) -> None:
        """The connection is new: what was said before it is to be caught up on."""
        log.info("connected", platform=NAME, servers=len(self.guilds))
        if self.application_id is not None:
            log.info("discord.invite_link", link=invitation(self.application_id))
        self._ear.attach(self.platform)
        await self._ear.catch_up(NAME)
        for guild in self.guilds:  # perhaps it was added while it was away
            await self._installed(guild)

    async def on_disconnect(self) -> None:
        self.platform.disconnected()

    async def on_connect(self) -> None:
        """A session begins: what happened since the last one is not told."""
        self.platform.lost = None
        self._ear.doubt(NAME)

    async def on_resumed(self) -> None:
        self.platform.lost = None

    async def on_socket_raw_receive(self, _: object) -> None:
        self._ear.alive(NAME)

    async def on_message(self, message: discord.Message) -> None:
        if self._own(message) or not spoken(message):
            return
        heard = message_of(message, await self._place(message), self._me)
        await self._tell(Heard(heard, heard.addressed), f"message:{message.id}")

    async def on_raw_message_edit(self, event: discord.RawMessageUpdateEvent) -> None:
        message = event.message
        if self._own(message) or not spoken(message):
            return
        edited = message_of(message, await self._place(message), self._me)
        await self._tell(Edited(edited), f"edit:{message.id}:{fingerprint(edited)}")

    async def on_raw_message_delete(self, event: discord.RawMessageDeleteEvent) -> None:
        place = await self.platform.whereabouts.place(event.guild_id, event.channel_id)
        await self._tell(Deleted(place, (str(event.message_id),)), f"delete:{event.message_id}")

    async def on_raw_bulk_message_delete(self, event: discord.RawBulkMessageDeleteEvent) -> None:
        place = await self.platform.whereabouts.place(event.guild_id, event.channel_id)
        ids = tuple(map(str, sorted(event.message_ids)))
        await self._tell(Deleted(place, ids), f"deletes:{event.channel_id}:{ids[0] if ids else ''}:{len(ids)}")

    async def on_thread_join(self, thread: discord.Thread) -> None:
        self.platform.whereabouts.note(thread)

    async def on_thread_create(self, thread: discord.Thread) -> None:
        self.platform.whereabouts.note(thread)

    async def on_raw_thread_update(self, event: discord.RawThreadUpdateEvent) -> None:
        private = event.thread_type is discord.ChannelType.private_thread
        place = thread_place(event.guild_id, event.thread_id, event.parent_id, private=private)
        self.platform.whereabouts.remember(event.thread_id, place)

    async def on_thread_update(self, before: discord.Thread, after: discord.Thread) -> None:
        """Another title of a post is an edit of its first message."""
        if before.name == after.name or not isinstance(after.parent, discord.ForumChannel):
            return
        first = await patiently("to read a post", lambda: after.fetch_message(after.id))
        edited = message_of(first, place_of(after), self._me)
        await self._tell(Edited(edited), f"edit:{first.id}:{fingerprint(edited)}")

    async def on_raw_thread_delete(self, event: discord.RawThreadDeleteEvent) -> None:
        private = event.thread_type is discord.ChannelType.private_thread
        place = thread_place(event.guild_id, event.thread_id, event.parent_id, private=private)
        self.platform.whereabouts.deleted(event.thread_id)
        await self._tell(Gone(place.main if private else place), f"gone:{event.thread_id}")

    async def on_thread_remove(self, thread: discord.Thread) -> None:
        """The bot is not in a thread any more, or it was archived."""
        if thread.is_private():
            await self._changed(place_of(thread).main)

    async def on_raw_thread_member_remove(self, event: discord.RawThreadMembersUpdate) -> None:
        place = await self.platform.whereabouts.place(event.guild_id, event.thread_id)
        await self._changed(place.main)

    async def on_guild_channel_update(self, before: discord.abc.GuildChannel, after: discord.abc.GuildChannel) -> None:
        if same_readers(before, after):
            return
        await self._changed(place_of(after))
        for thread in getattr(after, "threads", ()):
            if thread.is_private():
                await self._changed(place_of(thread).main)

    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        await self._tell(Gone(place_of(channel)), f"gone:{channel.id}")

    async def on_guild_role_update(self, before: discord.Role, after: discord.Role) -> None:
        if before.permissions != after.permissions:
            await self._changed(_guild(after.guild))

    async def on_guild_role_delete(self, role: discord.Role) -> None:
        await self._changed(_guild(role.guild))

    async def on_guild_update(self, before: discord.Guild, after: discord.Guild) -> None:
        if before.owner_id != after.owner_id:
            await self._changed(_guild(after))

    async def on_member_update(self, before: discord.Member, after: discord.Member) -> None:
        if roles_matter(after.guild, {*before.roles} ^ {*after.roles}):
            await self._changed(_guild(after.guild))

    async def on_raw_member_remove(self, event: discord.RawMemberRemoveEvent) -> None:
        await self._changed(Place(NAME, str(event.guild_id), ""))

    async def on_guild_join(self, guild: discord.Guild) -> None:
        await self._installed(guild)

    async def on_guild_remove(self, guild: discord.Guild) -> None:
        await self._tell(Ended(NAME, str(guild.id), "removed from the server"), f"ended:{uuid4()}")

    async def on_error(self, event: str, /, *_args: Any, **_kwargs: Any) -> None:
        """Say in the log that something went wrong, and nothing of the event or the error: texts may stand in them."""
        log.error("event_not_taken", event_name=event, error=type(sys.exception()).__name__)

    async def _installed(self, guild: discord.Guild) -> None:
        if guild.unavailable:
            return
        speaking = speaking_place(guild)
        place = place_of(speaking) if speaking is not None else _guild(guild)
        since = guild.me.joined_at.isoformat() if guild.me.joined_at else ""
        await self._tell(Installed(place, lacking(guild)), f"installed:{guild.id}:{place.channel}:{since}")

    async def _changed(self, place: Place) -> None:
        await self._tell(Changed(place), f"changed:{uuid4()}")

    async def _tell(self, happening: Happening, key: str) -> None:
        await self._ear.hear(happening, f"{NAME}:{key}")

    async def _place(self, message: discord.Message) -> Place:
        if isinstance(message.channel, discord.PartialMessageable):
            return await self.platform.whereabouts.place(message.channel.guild_id, message.channel.id)
        return self.platform.whereabouts.note(message.channel)

    def _own(self, message: discord.Message) -> bool:
        return message.author.id == self._me.id

    @property
    def _me(self) -> discord.ClientUser:
        if self.user is None:
            raise RuntimeError("an event came before the connection was ready")
        return self.user


def _guild(guild: discord.Guild) -> Place:
    return Place(NAME, str(guild.id), "")
