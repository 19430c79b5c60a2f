"""Determine who can read a channel, from its overwrites and the members' roles. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import discord

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

GuildChannel: TypeAlias = discord.abc.GuildChannel

_READ = discord.Permissions(view_channel=True, read_message_history=True)
_READ_AND_CONNECT = discord.Permissions(view_channel=True, read_message_history=True, connect=True)
# Permissions that the bot is invited with, by the names in Discord's settings.
REQUIRED_PERMISSIONS = {
    "View Channels": discord.Permissions(view_channel=True),
    "Send Messages": discord.Permissions(send_messages=True),
    "Send Messages in Threads": discord.Permissions(send_messages_in_threads=True),
    "Create Public Threads": discord.Permissions(create_public_threads=True),
    "Read Message History": discord.Permissions(read_message_history=True),
    "Add Reactions": discord.Permissions(add_reactions=True),
    "Attach Files": discord.Permissions(attach_files=True),
}
INVITE_PERMISSIONS = discord.Permissions(sum(permission.value for permission in REQUIRED_PERMISSIONS.values()))
# Permissions of a role that change what its members can read or manage.
_ACCESS_PERMISSIONS = _READ_AND_CONNECT | discord.Permissions(
    administrator=True, manage_guild=True, manage_threads=True
)


def build_invite_url(application: int) -> str:
    """Build the URL to invite the bot with the permissions it needs."""
    return discord.utils.oauth_url(application, permissions=INVITE_PERMISSIONS, scopes=("bot", "applications.commands"))


def read_permissions(channel: GuildChannel) -> discord.Permissions:
    """The permissions needed to read a channel; the text of a voice channel also needs Connect."""
    return _READ_AND_CONNECT if isinstance(channel, discord.VoiceChannel | discord.StageChannel) else _READ


def is_open(channel: GuildChannel) -> bool:
    """Whether every member of the guild can read a channel: @everyone may, and no overwrite denies it."""
    required = read_permissions(channel)
    if not required <= channel.permissions_for(channel.guild.default_role):
        return False
    others = (rules for target, rules in channel.overwrites.items() if target.id != channel.guild.id)
    return not any(rules.pair()[1].value & required.value for rules in others)


def list_channel_readers(channel: GuildChannel, *, extra: discord.Permissions | None = None) -> frozenset[str]:
    """The ids of members who can read a channel and have the `extra` permissions there."""
    required = read_permissions(channel) | extra if extra else read_permissions(channel)
    named_members = {target.id for target in channel.overwrites if not isinstance(target, discord.Role)}
    named_members.add(channel.guild.owner_id or 0)
    allowed: dict[tuple[int, ...], bool] = {}
    found = []
    for member in channel.guild.members:
        # Members with the same roles have the same permissions, unless the channel overwrites those of a member.
        roles = (member.id,) if member.id in named_members else tuple(sorted(role.id for role in member.roles))
        if roles not in allowed:
            allowed[roles] = required <= channel.permissions_for(member)
        if allowed[roles]:
            found.append(str(member.id))
    return frozenset(found)


def list_thread_readers(parent: GuildChannel, members: Iterable[int]) -> frozenset[str]:
    """The ids of readers of a private thread: its members and thread managers who can read its parent channel."""
    thread_members = frozenset(map(str, members)) & list_channel_readers(parent)
    return thread_members | list_channel_readers(parent, extra=discord.Permissions(manage_threads=True))


def is_age_restricted(channel: GuildChannel) -> bool:
    """Whether a channel is age-restricted."""
    return bool(getattr(channel, "nsfw", False))


def can_open_threads(channel: object) -> bool:
    """Whether the bot may create a thread from a message in a channel, and post in it."""
    if not isinstance(channel, discord.TextChannel):
        return False
    permissions = channel.permissions_for(channel.guild.me)
    return permissions.create_public_threads and permissions.send_messages_in_threads


def can_read_history(channel: object) -> bool:
    """Whether the bot may read a channel's history; without the permission Discord returns an empty one."""
    if isinstance(channel, discord.Thread):
        channel = channel.parent
    if not isinstance(channel, discord.abc.GuildChannel):
        return isinstance(channel, discord.abc.PrivateChannel)
    return read_permissions(channel) <= channel.permissions_for(channel.guild.me)


def find_announcement_channel(guild: discord.Guild) -> discord.TextChannel | None:
    """Find a channel for announcements: the system channel or the first text channel where the bot may post."""
    everyone = guild.default_role

    def fits(channel: discord.TextChannel) -> bool:
        permissions = channel.permissions_for(guild.me)
        return permissions.view_channel and permissions.send_messages

    found = [
        channel for channel in (guild.system_channel, *guild.text_channels) if channel is not None and fits(channel)
    ]
    seen = [channel for channel in found if channel.permissions_for(everyone).view_channel]
    return next(iter(seen or found), None)


def list_missing_permissions(guild: discord.Guild) -> tuple[str, ...]:
    """The names of required permissions that the bot's roles lack."""
    permissions = guild.me.guild_permissions
    return tuple(name for name, each in REQUIRED_PERMISSIONS.items() if not each <= permissions)


def has_same_readers(before: GuildChannel, after: GuildChannel) -> bool:
    """Whether an update left a channel's name, readers and age restriction unchanged."""
    return (before.name, before.overwrites, is_age_restricted(before)) == (
        after.name,
        after.overwrites,
        is_age_restricted(after),
    )


def can_roles_change_access(guild: discord.Guild, roles: Collection[discord.Role]) -> bool:
    """Whether gaining or losing one of these roles can change what a member may read or manage."""
    if any(role.permissions.value & _ACCESS_PERMISSIONS.value for role in roles):
        return True
    named = {target.id for channel in guild.channels for target in channel.overwrites} if roles else set()
    return any(role.id in named for role in roles)
