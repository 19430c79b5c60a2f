"""The records as JSON of the API; fields that nobody reads are left out."""

from __future__ import annotations

import hashlib
import hmac
from datetime import UTC
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from datetime import datetime

    from tests.support.discord_server.model import (
        Attachment,
        Channel,
        Guild,
        Interaction,
        Json,
        Member,
        Message,
        Role,
        User,
    )
    from tests.support.discord_server.world import World

CDN_LIFE = 24 * 3600


def format_time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _pick(record: object, *names: str) -> Json:
    """The fields that have the same name and value in a payload."""
    return {name: getattr(record, name) for name in names}


def user_json(user: User) -> Json:
    names = {"username": user.name} if user.bot else {"username": user.name.lower(), "global_name": user.name}
    return _pick(user, "id", "bot") | {"discriminator": "0", "avatar": None} | names


def member_json(member: Member, *, user: bool = True) -> Json:
    usual = {"nick": None, "avatar": None, "pending": False, "flags": 0}
    payload: Json = usual | {"roles": sorted(member.roles), "joined_at": format_time(member.joined)}
    return payload | {"user": user_json(member.user)} if user else payload


def role_json(role: Role) -> Json:
    tags = {"bot_id": role.bot} if role.managed else {}
    return _pick(role, "id", "name", "mentionable") | {"permissions": str(int(role.permissions)), "tags": tags}


def _overwrites_json(channel: Channel) -> list[Json]:
    roles = channel.server.roles
    return [
        {"id": ident, "type": 0 if ident in roles else 1, "allow": str(int(allow)), "deny": str(int(deny))}
        for ident, (allow, deny) in channel.overwrites.items()
    ]


def thread_member_json(thread: Channel, user: str) -> Json:
    joined = format_time(thread.facts.members[user])
    return {"id": thread.id, "user_id": user, "join_timestamp": joined, "flags": 1}


def _thread_json(thread: Channel, me: str) -> Json:
    facts, parent = thread.facts, thread.parent
    assert parent is not None
    payload: Json = {
        "id": thread.id,
        "type": int(thread.kind),
        "guild_id": thread.server.id,
        "parent_id": parent.id,
        "owner_id": facts.owner,
        "name": thread.name,
        "last_message_id": thread.last_message,
        "message_count": len(thread.messages),
        "member_count": min(50, len(facts.members)),
        "thread_metadata": {
            "archived": facts.archived,
            "archive_timestamp": format_time(facts.archived_at),
            "auto_archive_duration": 1440,
            "locked": facts.locked,
        },
    }
    return payload | ({"member": thread_member_json(thread, me)} if me in facts.members else {})


def channel_json(channel: Channel, me: str) -> Json:
    """A channel, a thread or a DM as the app `me` gets it."""
    if channel.thread is not None:
        return _thread_json(channel, me)
    payload: Json = {"id": channel.id, "type": int(channel.kind), "last_message_id": channel.last_message}
    if channel.recipient is not None:
        return payload | {"recipients": [user_json(channel.recipient)]}
    payload |= _pick(channel, "name", "nsfw") | {"position": 0, "bitrate": 64000, "user_limit": 0}
    return payload | {"guild_id": channel.server.id, "permission_overwrites": _overwrites_json(channel)}


def guild_json(guild: Guild) -> Json:
    """A guild without what only GUILD_CREATE has."""
    roles = [role_json(role) for role in guild.roles.values()]
    return _pick(guild, "id", "name") | {"owner_id": guild.owner.id, "roles": roles}


def guild_create_json(guild: Guild, world: World) -> Json:
    """GUILD_CREATE of an app without the presence intent: of the members only itself, of the threads the visible."""
    me = world.app.id
    return guild_json(guild) | {
        "large": len(guild.members) > 250,
        "member_count": len(guild.members),
        "members": [member_json(guild.members[me])],
        "channels": [channel_json(channel, me) for channel in guild.channels.values() if channel.thread is None],
        "threads": [channel_json(thread, me) for thread in world.threads(guild)],
    }


def attachment_json(attachment: Attachment, world: World) -> Json:
    """A file with a newly signed URL that expires."""
    url = f"{world.base}{attachment_path(attachment)}?{sign(attachment, world)}"
    return {
        "id": attachment.id,
        "filename": attachment.file.name,
        "size": len(attachment.file.data),
        "url": url,
        "proxy_url": url,
        "content_type": attachment.file.kind,
    }


def attachment_path(attachment: Attachment) -> str:
    return f"/attachments/{attachment.channel}/{attachment.id}/{quote(attachment.file.name)}"


def sign(attachment: Attachment, world: World, issued: int | None = None) -> str:
    """The query of a URL: when it expires, when it was issued, and the signature."""
    issued = int(world.clock.time()) if issued is None else issued
    proof = hmac.new(world.secret, f"{attachment.id}:{issued}".encode(), hashlib.sha256).hexdigest()
    return f"ex={issued + CDN_LIFE:x}&is={issued:x}&hm={proof}"


def message_json(message: Message, world: World, *, deep: bool = True) -> Json:
    """A message as REST returns it; `deep` includes the message that it replies to."""
    payload = _pick(message, "id", "content", "mention_everyone", "mention_roles", "components", "nonce") | {
        "channel_id": message.channel.id,
        "type": int(message.kind),
        "author": user_json(message.author),
        "timestamp": format_time(message.time),
        "edited_timestamp": format_time(message.edited) if message.edited else None,
        "tts": False,
        "mentions": [user_json(user) for user in message.mentions],
        "attachments": [attachment_json(attachment, world) for attachment in message.attachments],
        "embeds": message.embeds + [{"type": "link", "url": url, "title": "A page"} for url in message.previews],
        "pinned": False,
        "flags": int(message.flags),
    }
    if message.reference is not None:
        payload["message_reference"] = message.reference
        if deep:
            gone = message.replied is None or message.replied.deleted
            payload["referenced_message"] = None if gone else message_json(message.replied, world, deep=False)  # type: ignore[arg-type]
    if message.thread is not None and not message.thread.deleted:
        payload["thread"] = channel_json(message.thread, world.app.id)
    if message.webhook:
        payload["webhook_id"] = message.webhook
    if message.interaction is not None:
        payload |= _interaction_metadata(message, message.interaction, world)
    return payload | message.extra


def _interaction_metadata(message: Message, interaction: Interaction, world: World) -> Json:
    metadata: Json = {"id": interaction.id, "type": int(interaction.kind), "user": user_json(interaction.user)}
    if message.followup and interaction.original is not None:
        metadata["original_response_message_id"] = interaction.original.id
    return {"application_id": world.app.id, "webhook_id": world.app.id, "interaction_metadata": metadata}


def event_json(message: Message, world: World) -> Json:
    """A message as the gateway sends it: with guild and member, unless it is ephemeral."""
    payload = message_json(message, world)
    guild = message.channel.guild
    if guild is None or message.seen_by:
        return payload
    payload["guild_id"] = guild.id
    if (member := guild.members.get(message.author.id)) is not None:
        payload["member"] = member_json(member, user=False)
    return payload
