"""Messages as the wire writes them, and what is left of them without the message content intent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.discord_server.ids import format_time
from tests.support.discord_server.payloads import attachment_json, member_json, thread_json, user_json

if TYPE_CHECKING:
    from tests.support.discord_server.model import Interaction, Json, Message
    from tests.support.discord_server.world import World


def message_json(message: Message, world: World, *, deep: bool = True) -> Json:
    """A message as REST gives it; `deep` brings the message that it replies to."""
    payload: Json = {
        "id": message.id,
        "channel_id": message.channel.id,
        "type": int(message.kind),
        "author": user_json(message.author),
        "content": message.content,
        "timestamp": format_time(message.time),
        "edited_timestamp": format_time(message.edited) if message.edited else None,
        "tts": False,
        "mention_everyone": message.mention_everyone,
        "mentions": [user_json(user) for user in message.mentions],
        "mention_roles": message.mention_roles,
        "attachments": [attachment_json(attachment, world) for attachment in message.attachments],
        "embeds": message.embeds + [{"type": "link", "url": url, "title": "A page"} for url in message.previews],
        "components": message.components,
        "pinned": False,
        "flags": int(message.flags),
    }
    if message.reactions:
        payload["reactions"] = [reaction_json(emoji, users, world) for emoji, users in message.reactions.items()]
    if message.nonce:
        payload["nonce"] = message.nonce
    if message.reference is not None:
        payload["message_reference"] = message.reference
        if deep:
            payload["referenced_message"] = (
                None
                if message.replied is None or message.replied.deleted
                else message_json(message.replied, world, deep=False)
            )
    if message.thread is not None and not message.thread.deleted:
        payload["thread"] = thread_json(message.thread, world.app.id)
    if message.webhook:
        payload["webhook_id"] = message.webhook
    if message.interaction is not None:
        payload |= _of_interaction(message, message.interaction, world)
    return payload


def reaction_json(emoji: str, users: list[str], world: World) -> Json:
    return {
        "emoji": emoji_json(emoji),
        "count": len(users),
        "count_details": {"burst": 0, "normal": len(users)},
        "me": world.app.id in users,
        "me_burst": False,
        "burst_colors": [],
    }


def emoji_json(emoji: str) -> Json:
    return {"id": None, "name": emoji}


def _of_interaction(message: Message, interaction: Interaction, world: World) -> Json:
    metadata: Json = {
        "id": interaction.id,
        "type": interaction.kind,
        "user": user_json(interaction.user),
        "authorizing_integration_owners": authorizing_owners(interaction),
    }
    if message.followup and interaction.original is not None:
        metadata["original_response_message_id"] = interaction.original.id
    if interaction.message is not None and interaction.kind == 3:
        metadata["interacted_message_id"] = interaction.message.id
    payload: Json = {
        "application_id": world.app.id,
        "webhook_id": world.app.id,
        "interaction_metadata": metadata,
    }
    if interaction.kind == 2 and not message.followup:
        payload["interaction"] = {
            "id": interaction.id,
            "type": 2,
            "name": interaction.name,
            "user": user_json(interaction.user),
        }
    return payload


def authorizing_owners(interaction: Interaction) -> Json:
    """Who installed the app where the interaction comes from."""
    return {"0": interaction.channel.guild.id if interaction.channel.guild else "0"}


def event_json(message: Message, world: World) -> Json:
    """A message as the gateway gives it: with guild and member, unless it is ephemeral."""
    payload = message_json(message, world)
    guild = message.channel.guild
    if guild is None or message.seen_by:
        return payload
    payload["guild_id"] = guild.id
    if (member := guild.members.get(message.author.id)) is not None:
        payload["member"] = member_json(member, user=False)
    for entry in payload["mentions"]:
        if entry["id"] in guild.members:
            entry["member"] = member_json(guild.members[entry["id"]], user=False)
    return payload


def mask_content(payload: Json, world: World) -> Json:
    """What an app without the message content intent gets: nothing, but of its own, of DMs and where it is named."""
    reply = payload.get("referenced_message")
    if isinstance(reply, dict):
        payload = payload | {"referenced_message": mask_content(reply, world)}
    channel = world.channels.get(payload["channel_id"])
    mine = payload["author"]["id"] == world.app.id
    named = any(user["id"] == world.app.id for user in payload["mentions"])
    if mine or named or (channel is not None and channel.guild is None):
        return payload
    return payload | {"content": "", "embeds": [], "attachments": [], "components": []}
