"""The records as the wire writes them: people, roles, channels, threads, guilds, files."""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.support.discord_server.ids import format_time
from tests.support.discord_server.model import (
    Attachment,
    Channel,
    ChannelType,
    Guild,
    Json,
    Member,
    Overwrite,
    Role,
    User,
)

if TYPE_CHECKING:
    from datetime import datetime

    from tests.support.discord_server.world import World

CDN_LIFE = 24 * 3600


def user_json(user: User) -> Json:
    name = user.name.lower().replace(" ", "_")
    return {
        "id": user.id,
        "username": name,
        "discriminator": "0",
        "global_name": None if user.bot else user.name,
        "avatar": None,
        "bot": user.bot,
        "system": False,
        "public_flags": 0,
        "avatar_decoration_data": None,
    } | ({"username": user.name} if user.bot else {})


def member_json(member: Member, *, user: bool = True) -> Json:
    payload: Json = {
        "roles": sorted(member.roles),
        "nick": member.nick or None,
        "avatar": None,
        "joined_at": format_time(member.joined),
        "premium_since": None,
        "deaf": False,
        "mute": False,
        "pending": False,
        "flags": 0,
        "communication_disabled_until": None,
    }
    return payload | {"user": user_json(member.user)} if user else payload


def role_json(role: Role) -> Json:
    return {
        "id": role.id,
        "name": role.name,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "position": role.position,
        "permissions": str(int(role.permissions)),
        "managed": role.managed,
        "mentionable": role.mentionable,
        "flags": 0,
        "icon": None,
        "unicode_emoji": None,
    }


def overwrite_json(overwrite: Overwrite) -> Json:
    return {
        "id": overwrite.id,
        "type": overwrite.kind,
        "allow": str(int(overwrite.allow)),
        "deny": str(int(overwrite.deny)),
    }


def thread_member_json(thread: Channel, user: str, joined: datetime) -> Json:
    return {"id": thread.id, "user_id": user, "join_timestamp": format_time(joined), "flags": 1}


def thread_json(thread: Channel, me: str) -> Json:
    facts, parent = thread.thread, thread.parent
    assert facts is not None
    assert parent is not None
    assert thread.guild is not None
    payload: Json = {
        "id": thread.id,
        "type": int(thread.kind),
        "guild_id": thread.guild.id,
        "parent_id": parent.id,
        "owner_id": facts.owner,
        "name": thread.name,
        "last_message_id": thread.last_message,
        "rate_limit_per_user": 0,
        "message_count": facts.count,
        "member_count": min(50, len(facts.members)),
        "total_message_sent": facts.sent,
        "flags": 0,
        "applied_tags": facts.tags,
        "thread_metadata": {
            "archived": facts.archived,
            "archive_timestamp": format_time(facts.archived_at),
            "auto_archive_duration": facts.archive_after,
            "locked": facts.locked,
            "create_timestamp": format_time(facts.created),
        }
        | ({"invitable": facts.invitable} if thread.private else {}),
    }
    if me in facts.members:
        payload["member"] = thread_member_json(thread, me, facts.members[me])
    return payload


def channel_json(channel: Channel, me: str) -> Json:
    if channel.thread is not None:
        return thread_json(channel, me)
    if channel.guild is None:
        assert channel.recipient is not None
        return {
            "id": channel.id,
            "type": int(ChannelType.DM),
            "last_message_id": channel.last_message,
            "recipients": [user_json(channel.recipient)],
            "flags": 0,
        }
    payload: Json = {
        "id": channel.id,
        "type": int(channel.kind),
        "guild_id": channel.guild.id,
        "name": channel.name,
        "position": channel.position,
        "parent_id": channel.parent.id if channel.parent else None,
        "permission_overwrites": [overwrite_json(overwrite) for overwrite in channel.overwrites.values()],
        "nsfw": channel.nsfw,
        "topic": channel.topic or None,
        "last_message_id": channel.last_message,
        "rate_limit_per_user": 0,
        "flags": 0,
    }
    if channel.kind is ChannelType.VOICE:
        payload |= {"bitrate": 64000, "user_limit": 0, "rtc_region": None}
    if channel.kind is ChannelType.FORUM:
        payload |= {"available_tags": [], "default_reaction_emoji": None, "default_sort_order": None}
    return payload


def guild_json(guild: Guild) -> Json:
    """A guild without what GUILD_CREATE alone brings."""
    return {
        "id": guild.id,
        "name": guild.name,
        "icon": None,
        "splash": None,
        "discovery_splash": None,
        "owner_id": guild.owner.id,
        "region": "deprecated",
        "afk_channel_id": None,
        "afk_timeout": 300,
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "roles": [role_json(role) for role in guild.roles.values()],
        "emojis": [],
        "stickers": [],
        "features": ["COMMUNITY"],
        "mfa_level": 0,
        "application_id": None,
        "system_channel_id": None,
        "system_channel_flags": 0,
        "rules_channel_id": None,
        "max_members": 500000,
        "vanity_url_code": None,
        "description": None,
        "banner": None,
        "premium_tier": 0,
        "premium_subscription_count": 0,
        "preferred_locale": "en-US",
        "public_updates_channel_id": None,
        "nsfw_level": 0,
        "premium_progress_bar_enabled": False,
        "safety_alerts_channel_id": None,
        "incidents_data": None,
    }


def guild_create_json(guild: Guild, world: World) -> Json:
    """GUILD_CREATE of an app without the presence intent: of the members only itself, of the threads the visible."""
    me = world.app.id
    return guild_json(guild) | {
        "joined_at": format_time(guild.joined),
        "large": len(guild.members) > 250,
        "unavailable": False,
        "member_count": len(guild.members),
        "voice_states": [],
        "members": [member_json(guild.members[me])],
        "channels": [channel_json(channel, me) for channel in guild.channels.values() if channel.thread is None],
        "threads": [
            thread_json(thread, me)
            for thread in world.threads(guild)
            if thread.thread is not None and not thread.thread.archived and world.can_view(world.app, thread)
        ],
        "presences": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
    }


def attachment_json(attachment: Attachment, world: World) -> Json:
    """A file with a freshly signed address that expires."""
    url = f"{world.base}{attachment_path(attachment, world)}?{signature(attachment, world)}"
    payload: Json = {
        "id": attachment.id,
        "filename": attachment.file.name,
        "size": len(attachment.file.data),
        "url": url,
        "proxy_url": url.replace("/attachments/", "/proxy-attachments/"),
        "content_type": attachment.file.kind,
    }
    if attachment.ephemeral:
        payload["ephemeral"] = True
    if attachment.file.description:
        payload["description"] = attachment.file.description
    return payload


def attachment_path(attachment: Attachment, world: World) -> str:
    name = quote(attachment.file.name)
    if attachment.ephemeral:
        return f"/ephemeral-attachments/{world.app.id}/{attachment.id}/{name}"
    return f"/attachments/{attachment.channel}/{attachment.id}/{name}"


def signature(attachment: Attachment, world: World, issued: int | None = None) -> str:
    """The query of an address: when it expires, when it was issued, and the proof."""
    issued = int(world.clock.seconds()) if issued is None else issued
    proof = hmac.new(world.secret, f"{attachment.id}:{issued}".encode(), hashlib.sha256).hexdigest()
    return f"ex={issued + CDN_LIFE:x}&is={issued:x}&hm={proof}"
