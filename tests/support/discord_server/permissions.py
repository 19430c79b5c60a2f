"""Permission bits, and what somebody may do in a channel: roles, then overwrites, then what is implied."""

from __future__ import annotations

from enum import IntFlag
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support.discord_server.model import Channel, Guild, Member


class Permission(IntFlag):
    """The bits that matter to a bot in text channels."""

    KICK_MEMBERS = 1 << 1
    ADMINISTRATOR = 1 << 3
    MANAGE_CHANNELS = 1 << 4
    MANAGE_GUILD = 1 << 5
    ADD_REACTIONS = 1 << 6
    VIEW_CHANNEL = 1 << 10
    SEND_MESSAGES = 1 << 11
    SEND_TTS_MESSAGES = 1 << 12
    MANAGE_MESSAGES = 1 << 13
    EMBED_LINKS = 1 << 14
    ATTACH_FILES = 1 << 15
    READ_MESSAGE_HISTORY = 1 << 16
    MENTION_EVERYONE = 1 << 17
    USE_EXTERNAL_EMOJIS = 1 << 18
    CONNECT = 1 << 20
    SPEAK = 1 << 21
    MANAGE_ROLES = 1 << 28
    MANAGE_WEBHOOKS = 1 << 29
    USE_APPLICATION_COMMANDS = 1 << 31
    MANAGE_THREADS = 1 << 34
    CREATE_PUBLIC_THREADS = 1 << 35
    CREATE_PRIVATE_THREADS = 1 << 36
    SEND_MESSAGES_IN_THREADS = 1 << 38
    PIN_MESSAGES = 1 << 51


NOTHING = Permission(0)
READ = Permission.VIEW_CHANNEL | Permission.READ_MESSAGE_HISTORY

EVERYONE = (
    READ
    | Permission.ADD_REACTIONS
    | Permission.SEND_MESSAGES
    | Permission.EMBED_LINKS
    | Permission.ATTACH_FILES
    | Permission.MENTION_EVERYONE
    | Permission.USE_EXTERNAL_EMOJIS
    | Permission.CONNECT
    | Permission.SPEAK
    | Permission.USE_APPLICATION_COMMANDS
    | Permission.CREATE_PUBLIC_THREADS
    | Permission.CREATE_PRIVATE_THREADS
    | Permission.SEND_MESSAGES_IN_THREADS
)
"""What @everyone may do in a fresh guild."""

ALL = Permission(-1 & sum(Permission))
VOICE = 2
NEEDS_SENDING = (
    Permission.MENTION_EVERYONE | Permission.SEND_TTS_MESSAGES | Permission.ATTACH_FILES | Permission.EMBED_LINKS
)


def guild_permissions(guild: Guild, member: Member) -> Permission:
    """What the roles of somebody allow, before any channel has its say."""
    if guild.owner.id == member.user.id:
        return ALL
    allowed = guild.roles[guild.id].permissions
    for role in member.roles:
        allowed |= guild.roles[role].permissions
    return ALL if Permission.ADMINISTRATOR in allowed else allowed


def channel_permissions(guild: Guild, member: Member, channel: Channel) -> Permission:
    """What somebody may do in a channel; a thread takes its parent's overwrites."""
    allowed = guild_permissions(guild, member)
    if Permission.ADMINISTRATOR in allowed:
        return ALL
    place = channel.parent if channel.thread is not None and channel.parent is not None else channel
    if (everyone := place.overwrites.get(guild.id)) is not None:
        allowed = (allowed & ~everyone.deny) | everyone.allow
    of_roles = [place.overwrites[role] for role in member.roles if role in place.overwrites]
    for overwrite in of_roles:
        allowed &= ~overwrite.deny
    for overwrite in of_roles:
        allowed |= overwrite.allow
    if (own := place.overwrites.get(member.user.id)) is not None:
        allowed = (allowed & ~own.deny) | own.allow
    if Permission.VIEW_CHANNEL not in allowed:
        return NOTHING
    if channel.kind == VOICE and Permission.CONNECT not in allowed:
        allowed &= ~(Permission.SEND_MESSAGES | Permission.READ_MESSAGE_HISTORY)
    if channel.thread is None and Permission.SEND_MESSAGES not in allowed:
        allowed &= ~NEEDS_SENDING
    return allowed
