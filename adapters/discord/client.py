"""The gateway client: translates Discord's events into events of bot.platform.events, and skips unreadable ones.

Without the guard such an event would end the connection, and each would cost one of the day's new sessions.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import discord
import structlog
from discord.gateway import KeepAliveHandler

from adapters.discord.calls import build_rate_limit_trace, call_with_retries
from adapters.discord.gateway import build_intents
from adapters.discord.guild.permissions import (
    build_invite_url,
    can_roles_change_access,
    find_announcement_channel,
    has_same_readers,
    list_missing_permissions,
)
from adapters.discord.guild.reload import GuildReloads
from adapters.discord.interactions.command_sync import sync_commands
from adapters.discord.interactions.commands import build_command_tree
from adapters.discord.interactions.interactions import InteractionHandler
from adapters.discord.platform import DiscordPlatform
from adapters.discord.reconciliation import SessionReconciliation
from adapters.discord.replies.buttons import ActionButton
from adapters.discord.settings import DiscordSettings
from adapters.discord.translate import NAME, fingerprint, is_user_message, location_of, message_of, thread_location
from bot.platform.events import (
    ChannelRemoved,
    MessageEdited,
    MessageReceived,
    MessagesDeleted,
    VisibilityChanged,
    WorkspaceJoined,
    WorkspaceLeft,
    message_event_key,
)
from bot.platform.models import Location

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.discord.shards.shard import Shard
    from bot.bot import Bot
    from bot.platform.events import PlatformEvent
    from bot.settings import Settings


log = structlog.get_logger(__name__)

GUILD_READY_TIMEOUT = 1.0  # seconds without another GUILD_CREATE until startup counts as complete
LOG_INTERVAL = 60.0  # seconds between two lines about events of one name
SESSION_EVENTS = frozenset({"READY", "RESUMED"})  # without these there is no session
GUILD_ID_EVENTS = frozenset({"GUILD_CREATE", "GUILD_UPDATE", "GUILD_DELETE"})  # their id is the server's
# Losing one of these leaves no wrong access data and no deleted text.
HARMLESS_EVENTS = frozenset(
    {
        "GUILD_MEMBERS_CHUNK",  # the members are then not loaded, and requested again
        "INTERACTION_CREATE",
        "MESSAGE_CREATE",
        "MESSAGE_REACTION_ADD",
        "MESSAGE_REACTION_REMOVE",
        "MESSAGE_UPDATE",
        "PRESENCE_UPDATE",
        "TYPING_START",
    }
)


class DiscordClient(discord.Client):
    """Receives the events of a shard. The bot's own messages and system messages are ignored."""

    def __init__(self, bot: Bot, settings: Settings, shard: Shard) -> None:
        super().__init__(
            shard_id=shard.number,
            shard_count=shard.count,
            intents=build_intents(),
            allowed_mentions=discord.AllowedMentions.none(),
            http_trace=build_rate_limit_trace(),
            enable_debug_events=True,  # include heartbeats
            guild_ready_timeout=GUILD_READY_TIMEOUT,
            chunk_guilds_at_startup=False,  # a thousand servers would take nine minutes
        )
        self.has_servers = False  # whether a session has begun
        self._bot = bot
        self._shard = shard
        self._reconciliation = SessionReconciliation(self, bot, shard)
        self._token = DiscordSettings.load(settings).bot_token.get_secret_value()
        self._tree = build_command_tree(self)
        self.platform = DiscordPlatform(self, settings, bot.clock)
        self.interactions = InteractionHandler(bot, self.platform)
        self._reloads = GuildReloads(self, bot)
        DispatchGuard(self, bot, self._reloads.start)

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        """Drop what the library's tasks report after the end of the connection."""
        if not self.is_closed():
            super().dispatch(event, *args, **kwargs)

    async def close(self) -> None:
        """End the connection, and what was being read."""
        await self._reloads.close()
        await self._close_unbegun()
        await super().close()

    async def _close_unbegun(self) -> None:
        """Close a connection whose session has not begun: the library knows only those that have one.

        Its thread would go on to send heartbeats, also to a loop that has ended.
        """
        for thread in threading.enumerate():
            if not isinstance(thread, KeepAliveHandler) or thread.ws is self.ws:
                continue
            if thread.ws._connection is self._connection:  # noqa: SLF001  - the library has no public API for it
                await thread.ws.close(1000)

    async def log_in(self) -> None:
        """Look up the bot's user, and prepare the connection. Raises the library's errors."""
        await self.login(self._token)

    async def setup_hook(self) -> None:
        """Prepare the connection: buttons of earlier runs, and commands, which belong to the first shard."""
        self.add_dynamic_items(ActionButton)
        if self._shard.number == 0:
            name = f"commands {discord.http.Route.BASE} {self.application_id}"
            await sync_commands(self._tree, self._bot.store.adapter_state, name)

    async def before_identify_hook(self, _: int | None, *, initial: bool = False) -> None:
        """Wait until the session may begin."""
        await self._shard.begin_session(is_first=initial)

    async def handle_button(self, interaction: discord.Interaction[Any], action: str, value: str) -> None:
        """Handle a pressed button."""
        await self.interactions.handle_button(interaction, action, value)

    async def on_interaction(self, interaction: discord.Interaction[Any]) -> None:
        """Handle a submitted form, also one that was opened before a restart."""
        if interaction.type is discord.InteractionType.modal_submit:
            await self.interactions.handle_form(interaction)

    async def on_connect(self) -> None:
        """Suspend visibility when a session starts: changes since the last one are unknown."""
        self.platform.record_connect()
        self._reconciliation.suspend()

    async def on_ready(self) -> None:
        """Reconcile after a new session: events before it are lost."""
        log.info("discord.connected", platform=NAME, shard=self._shard.number, guilds=len(self.guilds))
        if self.application_id is not None and self._shard.number == 0:
            log.info("discord.invite_link_created", link=build_invite_url(self.application_id))
        self.has_servers = True
        self._shard.record_ready()
        await self._reconciliation.run()
        for guild in self.guilds:  # the bot may have been added while offline
            await self._emit_installed(guild)

    async def on_disconnect(self) -> None:
        self.platform.record_disconnect()

    async def on_resumed(self) -> None:
        self.platform.record_connect()

    async def on_socket_raw_receive(self, _: object) -> None:
        self._bot.record_activity(NAME)

    async def on_message(self, message: discord.Message) -> None:
        if self._is_own(message) or not is_user_message(message):
            return
        received = message_of(message, await self._resolve_location(message), self._me)
        await self._bot.receive(MessageReceived(received, received.addressed), message_event_key(received))

    async def on_raw_message_edit(self, event: discord.RawMessageUpdateEvent) -> None:
        message = event.message
        if self._is_own(message) or not is_user_message(message):
            return
        edited = message_of(message, await self._resolve_location(message), self._me)
        await self._emit(MessageEdited(edited), f"edit:{message.id}:{fingerprint(edited)}")

    async def on_raw_message_delete(self, event: discord.RawMessageDeleteEvent) -> None:
        location = await self.platform.channel_lookup.resolve_location(event.guild_id, event.channel_id)
        await self._emit(MessagesDeleted(location, (str(event.message_id),)), f"delete:{event.message_id}")

    async def on_raw_bulk_message_delete(self, event: discord.RawBulkMessageDeleteEvent) -> None:
        location = await self.platform.channel_lookup.resolve_location(event.guild_id, event.channel_id)
        ids = tuple(map(str, sorted(event.message_ids)))
        await self._emit(
            MessagesDeleted(location, ids), f"deletes:{event.channel_id}:{ids[0] if ids else ''}:{len(ids)}"
        )

    async def on_thread_join(self, thread: discord.Thread) -> None:
        self.platform.channel_lookup.remember_channel(thread)

    async def on_thread_create(self, thread: discord.Thread) -> None:
        self.platform.channel_lookup.remember_channel(thread)

    async def on_raw_thread_update(self, event: discord.RawThreadUpdateEvent) -> None:
        private = event.thread_type is discord.ChannelType.private_thread
        location = thread_location(event.guild_id, event.thread_id, event.parent_id, private=private)
        self.platform.channel_lookup.remember_thread(event.thread_id, location)

    async def on_thread_update(self, before: discord.Thread, after: discord.Thread) -> None:
        """Report a renamed forum post as an edit of its first message."""
        if before.name == after.name or not isinstance(after.parent, discord.ForumChannel):
            return
        first = await call_with_retries("to read a post", lambda: after.fetch_message(after.id))
        edited = message_of(first, location_of(after), self._me)
        await self._emit(MessageEdited(edited), f"edit:{first.id}:{fingerprint(edited)}")

    async def on_raw_thread_delete(self, event: discord.RawThreadDeleteEvent) -> None:
        private = event.thread_type is discord.ChannelType.private_thread
        location = thread_location(event.guild_id, event.thread_id, event.parent_id, private=private)
        self.platform.channel_lookup.forget_thread(event.thread_id)
        await self._emit(ChannelRemoved(location.without_thread if private else location), f"gone:{event.thread_id}")

    async def on_thread_remove(self, thread: discord.Thread) -> None:
        """Report that the bot was removed from a private thread, or that the thread was archived."""
        if thread.is_private():
            await self._emit_changed(location_of(thread).without_thread)

    async def on_raw_thread_member_remove(self, event: discord.RawThreadMembersUpdate) -> None:
        location = await self.platform.channel_lookup.resolve_location(event.guild_id, event.thread_id)
        await self._emit_changed(location.without_thread)

    async def on_guild_channel_update(self, before: discord.abc.GuildChannel, after: discord.abc.GuildChannel) -> None:
        if has_same_readers(before, after):
            return
        await self._emit_changed(location_of(after))
        for thread in getattr(after, "threads", ()):
            if thread.is_private():
                await self._emit_changed(location_of(thread).without_thread)

    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        await self._emit(ChannelRemoved(location_of(channel)), f"gone:{channel.id}")

    async def on_guild_role_update(self, before: discord.Role, after: discord.Role) -> None:
        if before.permissions != after.permissions:
            await self._emit_changed(_guild_location(after.guild))

    async def on_guild_role_delete(self, role: discord.Role) -> None:
        await self._emit_changed(_guild_location(role.guild))

    async def on_guild_update(self, before: discord.Guild, after: discord.Guild) -> None:
        if before.owner_id != after.owner_id:
            await self._emit_changed(_guild_location(after))

    async def on_member_update(self, before: discord.Member, after: discord.Member) -> None:
        if can_roles_change_access(after.guild, {*before.roles} ^ {*after.roles}):
            await self._emit_changed(_guild_location(after.guild))

    async def on_raw_member_remove(self, event: discord.RawMemberRemoveEvent) -> None:
        await self._emit_changed(Location(NAME, str(event.guild_id), ""))

    async def on_guild_join(self, guild: discord.Guild) -> None:
        await self._emit_installed(guild)

    async def on_guild_remove(self, guild: discord.Guild) -> None:
        await self._emit(WorkspaceLeft(NAME, str(guild.id), "removed from the server"), f"ended:{uuid4()}")

    async def on_error(self, event: str, /, *_args: Any, **_kwargs: Any) -> None:
        """Log a failed event handler without the event and the error, which may contain message text."""
        log.error("discord.event_handler_failed", event_name=event, error=type(sys.exception()).__name__)

    async def _emit_installed(self, guild: discord.Guild) -> None:
        if guild.unavailable:
            return
        channel = find_announcement_channel(guild)
        location = location_of(channel) if channel is not None else _guild_location(guild)
        since = guild.me.joined_at.isoformat() if guild.me.joined_at else ""
        await self._emit(
            WorkspaceJoined(location, list_missing_permissions(guild)),
            f"installed:{guild.id}:{location.channel}:{since}",
        )

    async def _emit_changed(self, location: Location) -> None:
        await self._emit(VisibilityChanged(location), f"changed:{uuid4()}")

    async def _emit(self, event: PlatformEvent, key: str) -> None:
        await self._bot.receive(event, f"{NAME}:{key}")

    async def _resolve_location(self, message: discord.Message) -> Location:
        if isinstance(message.channel, discord.PartialMessageable):
            return await self.platform.channel_lookup.resolve_location(message.channel.guild_id, message.channel.id)
        return self.platform.channel_lookup.remember_channel(message.channel)

    def _is_own(self, message: discord.Message) -> bool:
        return message.author.id == self._me.id

    @property
    def _me(self) -> discord.ClientUser:
        if self.user is None:
            raise RuntimeError("an event arrived before the connection was ready")
        return self.user


def _guild_location(guild: discord.Guild) -> Location:
    return Location(NAME, str(guild.id), "")


class DispatchGuard:
    """Wraps the parsers of a client. `reload` receives the id of a server of which an event was lost."""

    def __init__(self, client: discord.Client, bot: Bot, reload: Callable[[int], None]) -> None:
        self._bot = bot
        self._reload = reload
        self._logged_at: dict[str, float] = {}
        parsers = client._connection.parsers  # noqa: SLF001  - the library has no public API for it
        for event in parsers.keys() - SESSION_EVENTS:
            parsers[event] = self._guard(event, parsers[event])

    def _guard(self, event: str, parse: Callable[[Any], None]) -> Callable[[Any], None]:
        def guarded(data: Any) -> None:
            try:
                parse(data)
            except Exception as error:
                self._record(event, error)
                if event in HARMLESS_EVENTS:
                    return
                guild = find_guild_id(event, data)
                if guild is None:  # it may concern any server: only a new session tells the state of all
                    raise
                self._reload(guild)

        return guarded

    def _record(self, event: str, error: Exception) -> None:
        """Count an event, and log it unless one of its name was logged a moment ago."""
        self._bot.record_skipped_event(NAME, event)
        now = self._bot.clock.monotonic()
        if now - self._logged_at.get(event, float("-inf")) >= LOG_INTERVAL:
            self._logged_at[event] = now
            log.warning("discord.dispatch_parse_failed", event_name=event, error=type(error).__name__)


def find_guild_id(event: str, data: Any) -> int | None:
    """The server of an event, None if the event names none."""
    found = data.get("id" if event in GUILD_ID_EVENTS else "guild_id") if isinstance(data, dict) else None
    return int(found) if isinstance(found, str) and found.isdecimal() and found.isascii() else None
