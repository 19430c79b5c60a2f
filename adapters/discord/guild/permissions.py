"""Who can read a channel, from its overwrites and the members' roles. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import discord

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

GuildChannel: TypeAlias = discord.abc.GuildChannel

_READ = discord.Permissions(view_channel=True, read_message_history=True)
_READ_AND_CONNECT = discord.Permissions(view_channel=True, read_message_history=True, connect=True)
# What the bot is invited with, in the words of Discord's settings.
REQUIRED_PERMISSIONS = {
    "View Channels": discord.Permissions(view_channel=True),
    "Send Messages": discord.Permissions(send_messages=True),
    "Send Messages in Threads": discord.Permissions(send_messages_in_threads=True),
    "Create Public Threads": discord.Permissions(create_public_threads=True),
    "Read Message History": discord.Permissions(read_message_history=True),
    "Add Reactions": discord.Permissions(add_reactions=True),
    "Attach Files": discord.Permissions(attach_files=True),
}
INVITE_PERMISSIONS = discord.Permissions(sum(each.value for each in REQUIRED_PERMISSIONS.values()))
# Permissions that decide, given by a role, what somebody reads or manages.
_ACCESS_PERMISSIONS = _READ_AND_CONNECT | discord.Permissions(
    administrator=True, manage_guild=True, manage_threads=True
)


def build_invite_url(application: int) -> str:
    """The address at which somebody with Manage Server lets the bot in, with what it needs."""
    return discord.utils.oauth_url(application, permissions=INVITE_PERMISSIONS, scopes=("bot", "applications.commands"))


def read_permissions(channel: GuildChannel) -> discord.Permissions:
    """What reading its messages takes; the text of a voice channel is for those who may connect to it."""
    return _READ_AND_CONNECT if isinstance(channel, discord.VoiceChannel | discord.StageChannel) else _READ


def is_open(channel: GuildChannel) -> bool:
    """Whether every member of the guild can read it: everyone is allowed to, and nobody is denied it."""
    required = read_permissions(channel)
    if not required <= channel.permissions_for(channel.guild.default_role):
        return False
    others = (rules for target, rules in channel.overwrites.items() if target.id != channel.guild.id)
    return not any(rules.pair()[1].value & required.value for rules in others)


def list_channel_readers(channel: GuildChannel, *, extra: discord.Permissions | None = None) -> frozenset[str]:
    """The members who can read it, and have these other permissions there too."""
    required = read_permissions(channel) | extra if extra else read_permissions(channel)
    named_members = {target.id for target in channel.overwrites if not isinstance(target, discord.Role)}
    named_members.add(channel.guild.owner_id or 0)
    allowed: dict[tuple[int, ...], bool] = {}
    found = []
    for member in channel.guild.members:
        # Members with the same roles can do the same, unless the channel names one of them.
        roles = (member.id,) if member.id in named_members else tuple(sorted(role.id for role in member.roles))
        if roles not in allowed:
            allowed[roles] = required <= channel.permissions_for(member)
        if allowed[roles]:
            found.append(str(member.id))
    return frozenset(found)


def list_thread_readers(parent: GuildChannel, members: Iterable[int]) -> frozenset[str]:
    """Who can read a private thread: its members and those who manage threads, if they still see the channel."""
    thread_members = frozenset(map(str, members)) & list_channel_readers(parent)
    return thread_members | list_channel_readers(parent, extra=discord.Permissions(manage_threads=True))


def is_age_restricted(channel: GuildChannel) -> bool:
    """Whether it is age-restricted."""
    return bool(getattr(channel, "nsfw", False))


def can_open_threads(channel: object) -> bool:
    """Whether the bot may begin a thread on a message there, and write in it."""
    if not isinstance(channel, discord.TextChannel):
        return False
    permissions = channel.permissions_for(channel.guild.me)
    return permissions.create_public_threads and permissions.send_messages_in_threads


def can_read_history(channel: object) -> bool:
    """Whether the bot is shown what was said there before: without the permission Discord gives an empty history."""
    if isinstance(channel, discord.Thread):
        channel = channel.parent
    if not isinstance(channel, discord.abc.GuildChannel):
        return isinstance(channel, discord.abc.PrivateChannel)
    return read_permissions(channel) <= channel.permissions_for(channel.guild.me)


def find_announcement_channel(guild: discord.Guild) -> discord.TextChannel | None:
    """A channel in which the bot may write to everybody: that of the server's own messages, or the first one."""
    everyone = guild.default_role

    def fits(channel: discord.TextChannel) -> bool:
        permissions = channel.permissions_for(guild.me)
        return permissions.view_channel and permissions.send_messages

    found = [each for each in (guild.system_channel, *guild.text_channels) if each is not None and fits(each)]
    seen = [each for each in found if each.permissions_for(everyone).view_channel]
    return next(iter(seen or found), None)


def list_missing_permissions(guild: discord.Guild) -> tuple[str, ...]:
    """The permissions that the bot needs and that its roles do not give it, in Discord's words."""
    permissions = guild.me.guild_permissions
    return tuple(name for name, each in REQUIRED_PERMISSIONS.items() if not each <= permissions)


def has_same_readers(before: GuildChannel, after: GuildChannel) -> bool:
    """Whether an update of a channel left alone who reads it, what it is called, and whether it is age-restricted."""
    return (before.name, before.overwrites, is_age_restricted(before)) == (
        after.name,
        after.overwrites,
        is_age_restricted(after),
    )


def can_roles_change_access(guild: discord.Guild, roles: Collection[discord.Role]) -> bool:
    """Whether having these roles or not can decide what somebody may read or manage."""
    if any(role.permissions.value & _ACCESS_PERMISSIONS.value for role in roles):
        return True
    named = {target.id for channel in guild.channels for target in channel.overwrites} if roles else set()
    return any(role.id in named for role in roles)
