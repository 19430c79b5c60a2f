"""Creating and changing guilds, channels, roles, members and overwrites; every change sends its events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.discord_server import threads
from tests.support.discord_server.actions import build_message, post_message, post_system_message
from tests.support.discord_server.model import (
    Channel,
    ChannelType,
    Guild,
    Intent,
    Member,
    Message,
    MessageType,
    Role,
    User,
)
from tests.support.discord_server.payloads import (
    channel_json,
    guild_create_json,
    member_json,
    role_json,
    thread_member_json,
    user_json,
)
from tests.support.discord_server.people.person import Person
from tests.support.discord_server.permissions import EVERYONE, NOTHING, Permission
from tests.support.discord_server.routes.limits import Draft

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.support.discord_server.model import Json
    from tests.support.discord_server.world import World

KINDS = {"text": ChannelType.TEXT, "forum": ChannelType.FORUM, "voice": ChannelType.VOICE}
BOT = EVERYONE | Permission.MANAGE_MESSAGES


class GuildAdmin:
    """What the admins of guilds do."""

    def __init__(self, world: World) -> None:
        self.world = world

    def user(self, name: str, *, bot: bool = False) -> User:
        """A user who is in no guild."""
        user = User(self.world.ids.next(), name, bot=bot)
        self.world.users[user.id] = user
        return user

    def guild(self, name: str, *, bot: Permission | None = BOT) -> Guild:
        """A guild with an owner and the app, whose role has these permissions; None: without the app."""
        guild = Guild(self.world.ids.next(), name, self.user(f"{name} owner"))
        guild.roles[guild.id] = Role(guild.id, "@everyone", EVERYONE)
        self.world.guilds[guild.id] = guild
        self.member(guild, guild.owner)
        if bot is not None:
            role = Role(self.world.ids.next(), self.world.app.name, bot, bot=self.world.app.id)
            guild.roles[role.id] = role
            self.member(guild, self.world.app, roles=[role])
            self.world.emit("GUILD_CREATE", guild_create_json(guild, self.world), Intent.GUILDS)
        return guild

    def channel(
        self,
        guild: Guild,
        name: str,
        kind: str = "text",
        *,
        only: Iterable[Role | Person] | None = None,
        nsfw: bool = False,
    ) -> Channel:
        """A channel; `only`: hidden from @everyone, visible to these roles and people, and to the app."""
        channel = Channel(self.world.ids.next(), KINDS[kind], name, guild, nsfw=nsfw)
        if only is not None:
            self._set_overwrite(channel, guild.roles[guild.id], NOTHING, Permission.VIEW_CHANNEL)
            for one in (*only, self.bot(guild)):
                self._set_overwrite(channel, one, Permission.VIEW_CHANNEL, NOTHING)
        guild.channels[channel.id] = self.world.channels[channel.id] = channel
        self._emit_channel("CHANNEL_CREATE", channel)
        return channel

    def role(self, guild: Guild, name: str, permissions: Permission = NOTHING, *, mentionable: bool = False) -> Role:
        role = Role(self.world.ids.next(), name, permissions, mentionable)
        guild.roles[role.id] = role
        self._emit_guild("GUILD_ROLE_CREATE", guild, {"role": role_json(role)})
        return role

    def member(self, guild: Guild, who: str | User, *, roles: Iterable[Role] = (), bot: bool = False) -> Person:
        """Add a new person by name, or a known user, to a guild."""
        user = self.user(who, bot=bot) if isinstance(who, str) else who
        member = Member(user, self.world.clock.now(), {role.id for role in roles})
        guild.members[user.id] = member
        if self.world.app.id in guild.members and user is not self.world.app:
            self._emit_guild("GUILD_MEMBER_ADD", guild, member_json(member), Intent.MEMBERS)
        return Person(self.world, user, guild)

    def bot(self, guild: Guild) -> Person:
        """The app as a member of a guild."""
        return Person(self.world, self.world.app, guild)

    def webhook_says(self, channel: Channel, name: str, text: str) -> Message:
        """An integration posts under a name of its own; its author is no member."""
        hook = User(self.world.ids.next(), name, bot=True)
        message = build_message(self.world, channel, hook)
        message.webhook = hook.id
        return post_message(self.world, message, Draft(content=text))

    def overwrites(
        self, channel: Channel, who: Role | Person, *, allow: Permission = NOTHING, deny: Permission = NOTHING
    ) -> None:
        """Replace what a channel allows and denies a role or a person; neither: remove it."""
        saw = self.world.can_view(self.world.app, channel)
        self._set_overwrite(channel, who, allow, deny)
        self._emit_channel("CHANNEL_UPDATE", channel)
        if not saw and self.world.can_view(self.world.app, channel):
            self._sync_threads(channel)

    def renames(self, thread: Channel, name: str) -> None:
        thread.name = name
        threads.emit_thread_updated(self.world, thread)
        owner = self.world.users[thread.facts.owner]
        post_system_message(self.world, thread, MessageType.RENAMED, owner, text=name)

    def restricts_age(self, channel: Channel) -> None:
        channel.nsfw = True
        self._emit_channel("CHANNEL_UPDATE", channel)

    def removes_channel(self, channel: Channel) -> None:
        threads.delete_channel(self.world, channel)

    def gives(self, person: Person, role: Role) -> None:
        person.member.roles.add(role.id)
        self._emit_member(person)

    def revokes(self, person: Person, role: Role) -> None:
        person.member.roles.discard(role.id)
        self._emit_member(person)

    def changes_role(self, guild: Guild, role: Role, permissions: Permission) -> None:
        role.permissions = permissions
        self._emit_guild("GUILD_ROLE_UPDATE", guild, {"role": role_json(role)})

    def removes(self, person: Person) -> None:
        """Remove a person from the guild and its threads; for the app: GUILD_DELETE."""
        guild = person.guild
        for channel in guild.channels.values():
            if channel.thread is not None and person.user is not self.world.app:
                threads.remove_members(self.world, channel, [person.id])
        del guild.members[person.id]
        if person.user is self.world.app:
            self.world.emit("GUILD_DELETE", {"id": guild.id}, Intent.GUILDS)
        else:
            self._emit_guild("GUILD_MEMBER_REMOVE", guild, {"user": user_json(person.user)}, Intent.MEMBERS)

    def outage(self, guild: Guild) -> None:
        """Make a guild unavailable, which is no leaving."""
        guild.available = False
        self.world.emit("GUILD_DELETE", {"id": guild.id, "unavailable": True}, Intent.GUILDS)

    def recovers(self, guild: Guild) -> None:
        guild.available = True
        back = guild_create_json(guild, self.world) | {"unavailable": False}
        self.world.emit("GUILD_CREATE", back, Intent.GUILDS)

    def archives(self, thread: Channel, *, locked: bool = False) -> None:
        threads.set_archived(self.world, thread, locked=locked)

    def _set_overwrite(self, channel: Channel, who: Role | Person, allow: Permission, deny: Permission) -> None:
        channel.overwrites[who.id] = (allow, deny)
        if not (allow or deny):
            del channel.overwrites[who.id]

    def _emit_guild(self, name: str, guild: Guild, data: Json, intent: Intent = Intent.GUILDS) -> None:
        self.world.emit(name, data | {"guild_id": guild.id}, intent)

    def _emit_channel(self, name: str, channel: Channel) -> None:
        self.world.emit(name, channel_json(channel, self.world.app.id), Intent.GUILDS)

    def _emit_member(self, person: Person) -> None:
        intent = Intent.GUILDS if person.user is self.world.app else Intent.MEMBERS
        self._emit_guild("GUILD_MEMBER_UPDATE", person.guild, member_json(person.member), intent)

    def _sync_threads(self, channel: Channel) -> None:
        """Send the active threads of a channel that the app can see from now on."""
        me = self.world.app.id
        active = [thread for thread in self.world.threads(channel.server) if thread.parent is channel]
        mine = [thread_member_json(thread, me) for thread in active if me in thread.facts.members]
        found = {"threads": [channel_json(thread, me) for thread in active], "members": mine}
        self._emit_guild("THREAD_LIST_SYNC", channel.server, found | {"channel_ids": [channel.id]})
