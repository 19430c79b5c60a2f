"""Building and changing guilds: channels, roles, people, overwrites; every change is told as the platform tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.discord_server.actions import build_message, post_message, post_system_message
from tests.support.discord_server.channel_routes import delete_guild_channel
from tests.support.discord_server.drafts import Draft
from tests.support.discord_server.model import (
    Channel,
    ChannelType,
    Guild,
    Member,
    Message,
    MessageType,
    Overwrite,
    Role,
    User,
)
from tests.support.discord_server.payloads import (
    channel_json,
    guild_create_json,
    member_json,
    role_json,
    thread_json,
    thread_member_json,
    user_json,
)
from tests.support.discord_server.people import Person
from tests.support.discord_server.permissions import EVERYONE, NOTHING, Permission
from tests.support.discord_server.threads import delete_thread, emit_thread_updated, remove_members, unarchive

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.support.discord_server.world import World

GUILDS, MEMBERS = 1 << 0, 1 << 1
KINDS = {
    "text": ChannelType.TEXT,
    "forum": ChannelType.FORUM,
    "news": ChannelType.NEWS,
    "voice": ChannelType.VOICE,
    "category": ChannelType.CATEGORY,
}
BOT = EVERYONE | Permission.MANAGE_MESSAGES


class GuildAdmin:
    """What an admin of guilds does."""

    def __init__(self, world: World) -> None:
        self.world = world

    def user(self, name: str, *, bot: bool = False) -> User:
        """Somebody who is in no guild yet."""
        user = User(self.world.ids.next(), name, bot=bot)
        self.world.users[user.id] = user
        return user

    def guild(self, name: str, *, bot: Permission | None = BOT) -> Guild:
        """A fresh guild with its owner; the app is invited with these permissions, or not at all (None)."""
        world = self.world
        ident, now = world.ids.next(), world.clock.now()
        guild = Guild(ident, name, self.user(f"{name} owner"), now)
        guild.roles[ident] = Role(ident, "@everyone", EVERYONE, position=0)
        guild.members[guild.owner.id] = Member(guild.owner, now)
        world.guilds[ident] = guild
        if bot is not None:
            self.invites(guild, bot)
        return guild

    def invites(self, guild: Guild, powers: Permission = BOT) -> None:
        """The app comes into a guild, with a role of its own."""
        role = Role(self.world.ids.next(), self.world.app.name, powers, managed=True)
        guild.roles[role.id] = role
        guild.joined = self.world.clock.now()
        guild.members[self.world.app.id] = Member(self.world.app, guild.joined, {role.id})
        came = guild_create_json(guild, self.world)
        del came["unavailable"]  # that is told of guilds which come back
        self.world.emit("GUILD_CREATE", came, GUILDS)

    def channel(
        self,
        guild: Guild,
        name: str,
        kind: str = "text",
        *,
        only: Iterable[Role | Person] | None = None,
        nsfw: bool = False,
        topic: str = "",
    ) -> Channel:
        """A channel; `only`: hidden from @everyone, open to these roles and people (and the app)."""
        channel = Channel(self.world.ids.next(), KINDS[kind], name, guild, nsfw=nsfw, topic=topic)
        channel.position = len(guild.channels)
        if only is not None:
            self._set_roles(channel, guild.roles[guild.id], NOTHING, Permission.VIEW_CHANNEL)
            for one in (*only, self.bot(guild)):
                self._set_roles(channel, one, Permission.VIEW_CHANNEL, NOTHING)
        guild.channels[channel.id] = self.world.channels[channel.id] = channel
        self.world.emit("CHANNEL_CREATE", channel_json(channel, self.world.app.id), GUILDS)
        return channel

    def role(self, guild: Guild, name: str, permissions: Permission = NOTHING, *, mentionable: bool = False) -> Role:
        role = Role(self.world.ids.next(), name, permissions, len(guild.roles), mentionable)
        guild.roles[role.id] = role
        self.world.emit("GUILD_ROLE_CREATE", {"guild_id": guild.id, "role": role_json(role)}, GUILDS)
        return role

    def member(self, guild: Guild, who: str | User, *, roles: Iterable[Role] = (), bot: bool = False) -> Person:
        """Somebody joins a guild: a new person by name, or one who is known."""
        user = self.user(who, bot=bot) if isinstance(who, str) else who
        member = Member(user, self.world.clock.now(), {role.id for role in roles})
        guild.members[user.id] = member
        if self.world.app.id in guild.members:
            self.world.emit("GUILD_MEMBER_ADD", member_json(member) | {"guild_id": guild.id}, MEMBERS)
        return Person(self.world, user, guild)

    def bot(self, guild: Guild) -> Person:
        """The app as a member of a guild."""
        return Person(self.world, self.world.app, guild)

    def webhook_says(self, channel: Channel, name: str, text: str) -> Message:
        """An integration posts under a name of its own: its author is no member."""
        hook = User(self.world.ids.next(), name, bot=True)
        message = build_message(self.world, channel, hook)
        message.webhook = hook.id
        return post_message(self.world, message, Draft(content=text))

    # What changes later.

    def overwrites(
        self, channel: Channel, who: Role | Person, *, allow: Permission = NOTHING, deny: Permission = NOTHING
    ) -> None:
        """What a channel allows and denies a role or a person, in place of what it said before; nothing: removed."""
        saw = self.world.can_view(self.world.app, channel)
        self._set_roles(channel, who, allow, deny)
        self.world.emit("CHANNEL_UPDATE", channel_json(channel, self.world.app.id), GUILDS)
        if not saw and self.world.can_view(self.world.app, channel):
            self._sync_threads(channel)

    def renames(self, channel: Channel, name: str) -> None:
        channel.name = name
        if channel.thread is not None:
            emit_thread_updated(self.world, channel)
            post_system_message(
                self.world, channel, MessageType.RENAMED, self.world.users[channel.thread.owner], text=name
            )
            return
        self.world.emit("CHANNEL_UPDATE", channel_json(channel, self.world.app.id), GUILDS)

    def restricts_age(self, channel: Channel, *, nsfw: bool = True) -> None:
        channel.nsfw = nsfw
        self.world.emit("CHANNEL_UPDATE", channel_json(channel, self.world.app.id), GUILDS)

    def removes_channel(self, channel: Channel) -> None:
        (delete_guild_channel if channel.thread is None else delete_thread)(self.world, channel)

    def gives(self, person: Person, role: Role) -> None:
        person.member.roles.add(role.id)
        self._emit_member(person)

    def revokes(self, person: Person, role: Role) -> None:
        person.member.roles.discard(role.id)
        self._emit_member(person)

    def changes_role(self, guild: Guild, role: Role, permissions: Permission) -> None:
        role.permissions = permissions
        self.world.emit("GUILD_ROLE_UPDATE", {"guild_id": guild.id, "role": role_json(role)}, GUILDS)

    def removes_role(self, guild: Guild, role: Role) -> None:
        del guild.roles[role.id]
        for member in guild.members.values():
            member.roles.discard(role.id)
        for channel in guild.channels.values():
            channel.overwrites.pop(role.id, None)
        self.world.emit("GUILD_ROLE_DELETE", {"guild_id": guild.id, "role_id": role.id}, GUILDS)

    def removes(self, person: Person) -> None:
        """Somebody leaves the guild, or is put out of it; of the app: GUILD_DELETE."""
        guild = person.guild
        for thread in list(self.world.threads(guild)):
            if thread.thread is not None and person.user.id in thread.thread.members and person.user != self.world.app:
                remove_members(self.world, thread, [person.user.id])
        del guild.members[person.user.id]
        if person.user is self.world.app:
            self.world.emit("GUILD_DELETE", {"id": guild.id}, GUILDS)
        else:
            self.world.emit("GUILD_MEMBER_REMOVE", {"guild_id": guild.id, "user": user_json(person.user)}, MEMBERS)

    def outage(self, guild: Guild) -> None:
        """The guild becomes unavailable, which is no leaving."""
        guild.available = False
        self.world.emit("GUILD_DELETE", {"id": guild.id, "unavailable": True}, GUILDS)

    def recovers(self, guild: Guild) -> None:
        guild.available = True
        self.world.emit("GUILD_CREATE", guild_create_json(guild, self.world), GUILDS)

    def archives(self, thread: Channel, *, locked: bool = False) -> None:
        assert thread.thread is not None
        thread.thread.archived, thread.thread.locked = True, locked
        thread.thread.archived_at = self.world.clock.now()
        emit_thread_updated(self.world, thread)

    def unarchives(self, thread: Channel) -> None:
        unarchive(self.world, thread)

    def _set_roles(self, channel: Channel, who: Role | Person, allow: Permission, deny: Permission) -> None:
        ident, kind = (who.id, 0) if isinstance(who, Role) else (who.user.id, 1)
        if allow or deny:
            channel.overwrites[ident] = Overwrite(ident, kind, allow, deny)
        else:
            channel.overwrites.pop(ident, None)

    def _emit_member(self, person: Person) -> None:
        data = member_json(person.member) | {"guild_id": person.guild.id}
        self.world.emit("GUILD_MEMBER_UPDATE", data, GUILDS if person.user is self.world.app else MEMBERS)

    def _sync_threads(self, channel: Channel) -> None:
        """Who gains access to a channel learns of its active threads."""
        assert channel.guild is not None
        me = self.world.app.id
        active = [
            thread
            for thread in self.world.threads(channel.guild)
            if thread.parent is channel and thread.thread is not None and not thread.thread.archived
            if self.world.can_view(self.world.app, thread)
        ]
        mine = [
            thread_member_json(one, me, one.thread.members[me])
            for one in active
            if one.thread is not None and me in one.thread.members
        ]
        data = {
            "guild_id": channel.guild.id,
            "channel_ids": [channel.id],
            "threads": [thread_json(thread, me) for thread in active],
            "members": mine,
        }
        self.world.emit("THREAD_LIST_SYNC", data, GUILDS)
