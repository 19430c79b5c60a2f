"""Permission bits, and what a member may do in a channel: roles, then overwrites, then what is implied."""

from __future__ import annotations

from enum import IntFlag
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.discord_server.model import Channel, Guild, Member


class Permission(IntFlag):
    """The bits that matter to a bot in text channels."""

    ADMINISTRATOR = 1 << 3
    MANAGE_CHANNELS = 1 << 4
    MANAGE_GUILD = 1 << 5
    ADD_REACTIONS = 1 << 6
    VIEW_CHANNEL = 1 << 10
    SEND_MESSAGES = 1 << 11
    MANAGE_MESSAGES = 1 << 13
    EMBED_LINKS = 1 << 14
    ATTACH_FILES = 1 << 15
    READ_MESSAGE_HISTORY = 1 << 16
    MENTION_EVERYONE = 1 << 17
    CONNECT = 1 << 20
    MANAGE_ROLES = 1 << 28
    USE_APPLICATION_COMMANDS = 1 << 31
    MANAGE_THREADS = 1 << 34
    CREATE_PUBLIC_THREADS = 1 << 35
    CREATE_PRIVATE_THREADS = 1 << 36
    SEND_MESSAGES_IN_THREADS = 1 << 38


NOTHING = Permission(0)
ALL = Permission(-1 & sum(Permission))
MANAGING = (
    Permission.ADMINISTRATOR
    | Permission.MANAGE_CHANNELS
    | Permission.MANAGE_GUILD
    | Permission.MANAGE_MESSAGES
    | Permission.MANAGE_ROLES
    | Permission.MANAGE_THREADS
)
EVERYONE = ALL & ~MANAGING
"""What @everyone may do in a new guild."""

VOICE = 2
NEEDS_CONNECTING = Permission.SEND_MESSAGES | Permission.READ_MESSAGE_HISTORY
NEEDS_SENDING = Permission.MENTION_EVERYONE | Permission.ATTACH_FILES | Permission.EMBED_LINKS


def guild_permissions(guild: Guild, member: Member) -> Permission:
    """What the roles of a member allow, before the overwrites of a channel."""
    if guild.owner.id == member.user.id:
        return ALL
    allowed = guild.roles[guild.id].permissions
    for role in member.roles:
        allowed |= guild.roles[role].permissions
    return ALL if Permission.ADMINISTRATOR in allowed else allowed


def channel_permissions(guild: Guild, member: Member, channel: Channel) -> Permission:
    """What a member may do in a channel; a thread has the overwrites of its parent."""
    allowed = guild_permissions(guild, member)
    if Permission.ADMINISTRATOR in allowed:
        return ALL
    overwrites = (channel.parent or channel).overwrites
    of_roles = [overwrites[role] for role in member.roles if role in overwrites]
    denied_by_roles = reduce(or_, (deny for _, deny in of_roles), NOTHING)
    allowed_by_roles = reduce(or_, (allow for allow, _ in of_roles), NOTHING)
    of_everyone, own = (overwrites.get(ident, (NOTHING, NOTHING)) for ident in (guild.id, member.user.id))
    for allow, deny in (of_everyone, (allowed_by_roles, denied_by_roles), own):
        allowed = (allowed & ~deny) | allow
    if Permission.VIEW_CHANNEL not in allowed:
        return NOTHING
    if channel.kind == VOICE and Permission.CONNECT not in allowed:
        allowed &= ~NEEDS_CONNECTING
    if channel.thread is None and Permission.SEND_MESSAGES not in allowed:
        allowed &= ~NEEDS_SENDING
    return allowed
