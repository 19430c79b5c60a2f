"""Messages come, change and go: what that does to the records, and what the gateway tells of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.support.discord_server.errors import ApiError
from tests.support.discord_server.mentions import ResolvedMentions, add_reply_mention, resolve_mentions
from tests.support.discord_server.message_payloads import emoji_json, event_json
from tests.support.discord_server.model import (
    Attachment,
    Channel,
    File,
    Json,
    Message,
    MessageFlag,
    MessageType,
    Ping,
    User,
)
from tests.support.discord_server.payloads import channel_json, member_json
from tests.support.discord_server.permissions import Permission
from tests.support.discord_server.threads import add_members, unarchive

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from tests.support.discord_server.drafts import Draft
    from tests.support.discord_server.world import World

GUILD_MESSAGES, DIRECT_MESSAGES = 1 << 9, 1 << 12
GUILD_REACTIONS, DIRECT_REACTIONS = 1 << 10, 1 << 13
BARE_URL = re.compile(r"(?<!<)\bhttps?://[^\s<>)\]]+")
SYSTEM = {
    MessageType.RECIPIENT_ADD,
    MessageType.RECIPIENT_REMOVE,
    MessageType.RENAMED,
    MessageType.THREAD_CREATED,
    MessageType.THREAD_STARTER,
}


def post_message(world: World, message: Message, draft: Draft) -> Message:
    """Put a message into its channel: attachments stored, pings sent, links fetched for previews, everybody told."""
    channel = message.channel
    message.content = draft.content or ""
    message.embeds = draft.embeds or []
    message.components = draft.components or []
    message.flags |= draft.flags
    message.nonce = draft.nonce
    message.attachments = [store_file(world, file, channel, ephemeral=bool(message.seen_by)) for file in draft.files]
    found = _resolve_mentions(world, message, draft.allowed)
    channel.messages[message.id] = message
    if not message.seen_by:
        channel.last_message = message.id
        _update_thread(world, message, found)
    if channel.guild is None and len(channel.messages) == 1:
        world.emit("CHANNEL_CREATE", channel_json(channel, world.app.id), DIRECT_MESSAGES)
    _emit_message(world, "MESSAGE_CREATE", message)
    if found.pinged and not message.seen_by and MessageFlag.SUPPRESS_NOTIFICATIONS not in message.flags:
        world.pings.append(Ping(message.author.id, message.id, frozenset(found.pinged), everyone=found.everyone))
    add_previews(world, message)
    return message


def edit_message(world: World, message: Message, draft: Draft, *, by_author: bool = True) -> Message:
    """Edit a message; what the draft leaves out stays. Editing never pings."""
    was_loading = message.loading
    if draft.content is not None:
        message.content = draft.content
    if draft.embeds is not None:
        message.embeds = draft.embeds
    if draft.components is not None:
        message.components = draft.components
    if draft.kept is not None:
        for attachment in message.attachments:
            attachment.gone = attachment.id not in draft.kept
        message.attachments = [one for one in message.attachments if not one.gone]
    message.attachments += [
        store_file(world, file, message.channel, ephemeral=bool(message.seen_by)) for file in draft.files
    ]
    message.flags &= ~MessageFlag.LOADING
    if draft.flags_given:
        message.flags = (message.flags & ~MessageFlag.SUPPRESS_EMBEDS) | (
            draft.flags & (MessageFlag.SUPPRESS_EMBEDS | MessageFlag.COMPONENTS_V2)
        )
    if draft.content is not None:
        found = _resolve_mentions(world, message, draft.allowed)
        if was_loading and found.pinged and not message.seen_by:
            world.pings.append(Ping(message.author.id, message.id, frozenset(found.pinged), everyone=found.everyone))
    if by_author and not was_loading:
        message.edited = world.clock.now()
    message.previews = [url for url in message.previews if url in message.content]
    _emit_message(world, "MESSAGE_UPDATE", message)
    add_previews(world, message)
    return message


def delete_messages(world: World, messages: Iterable[Message], *, bulk: bool = False) -> None:
    """Take messages away; their files go with them."""
    gone = list(messages)
    for message in gone:
        message.deleted = True
        for attachment in message.attachments:
            attachment.gone = True
        message.channel.messages.pop(message.id, None)
        if message.channel.thread is not None and not message.seen_by:
            message.channel.thread.count -= 1
    if bulk and gone:
        world.emit(
            "MESSAGE_DELETE_BULK", {"ids": [one.id for one in gone]} | _location_payload(gone[0]), _intent(gone[0])
        )
        return
    for message in gone:
        if world.can_view(world.app, message.channel):
            world.emit("MESSAGE_DELETE", {"id": message.id} | _location_payload(message), _intent(message))


def add_previews(world: World, message: Message) -> None:
    """Bare links are fetched by the platform, and shown as embeds: an update that is no edit."""
    if MessageFlag.SUPPRESS_EMBEDS in message.flags or MessageFlag.COMPONENTS_V2 in message.flags:
        message.previews = []
        return
    if Permission.EMBED_LINKS not in world.permissions_of(message.author, message.channel):
        return
    fresh = [url for url in BARE_URL.findall(message.content) if url not in message.previews]
    if not fresh:
        return
    message.previews += fresh
    world.previews += [(message, url) for url in fresh]
    _emit_message(world, "MESSAGE_UPDATE", message)


def add_reaction(world: World, message: Message, user: User, emoji: str) -> None:
    """Somebody puts an emoji below a message."""
    users = message.reactions.get(emoji, [])
    if user.id in users:
        return
    if not users and len(message.reactions) >= 20:
        raise ApiError(30010)
    message.reactions[emoji] = [*users, user.id]
    data = _reaction(message, user, emoji) | {"message_author_id": message.author.id}
    guild = message.channel.guild
    if guild is not None and user.id in guild.members:
        data["member"] = member_json(guild.members[user.id])
    _emit_reaction(world, "MESSAGE_REACTION_ADD", message, data)


def remove_reaction(world: World, message: Message, user: User, emoji: str) -> None:
    """Somebody takes their emoji away again."""
    if user.id not in message.reactions.get(emoji, []):
        raise ApiError(10014)
    message.reactions[emoji].remove(user.id)
    if not message.reactions[emoji]:
        del message.reactions[emoji]
    _emit_reaction(world, "MESSAGE_REACTION_REMOVE", message, _reaction(message, user, emoji))


def clear_reactions(world: World, message: Message, emoji: str = "") -> None:
    """All reactions go, or all of one emoji."""
    data = {"message_id": message.id} | _location_payload(message)
    if emoji:
        message.reactions.pop(emoji, None)
        _emit_reaction(world, "MESSAGE_REACTION_REMOVE_EMOJI", message, data | {"emoji": emoji_json(emoji)})
    else:
        message.reactions.clear()
        _emit_reaction(world, "MESSAGE_REACTION_REMOVE_ALL", message, data)


def store_file(world: World, file: File, channel: Channel, *, ephemeral: bool = False) -> Attachment:
    """Keep an uploaded file; its name loses what an address could not carry."""
    name = re.sub(r"[^\w.\-]+", "_", file.name)
    attachment = Attachment(world.ids.next(), File(name, file.data, file.kind, file.description), channel.id, ephemeral)
    world.attachments[attachment.id] = attachment
    return attachment


def post_system_message(
    world: World, channel: Channel, kind: MessageType, author: User, *, about: User | None = None, text: str = ""
) -> Message:
    """What the platform itself notes in a channel: somebody was added, a thread was begun or renamed."""
    message = build_message(world, channel, author)
    message.kind, message.content = kind, text
    message.mentions = [about] if about is not None else []
    channel.messages[message.id] = message
    channel.last_message = message.id
    _emit_message(world, "MESSAGE_CREATE", message)
    return message


def emit_message_update(world: World, message: Message) -> None:
    """Tell that something about a message changed which is no edit."""
    _emit_message(world, "MESSAGE_UPDATE", message)


def set_reference(message: Message, replied: Message) -> None:
    """Make a message a reply."""
    message.kind = MessageType.REPLY if message.kind is MessageType.DEFAULT else message.kind
    message.replied = replied
    message.reference = {"type": 0, "message_id": replied.id, "channel_id": replied.channel.id}
    if replied.channel.guild is not None:
        message.reference["guild_id"] = replied.channel.guild.id


def build_message(world: World, channel: Channel, author: User, at: datetime | None = None) -> Message:
    """An empty message of now, or of an earlier moment."""
    moment = at or world.clock.now()
    return Message(world.ids.at(moment) if at else world.ids.next(), channel, author, moment)


def _resolve_mentions(world: World, message: Message, allowed: Json | None) -> ResolvedMentions:
    found = resolve_mentions(world, message.channel, message.author, message.content, allowed)
    if message.replied is not None and message.kind is MessageType.REPLY:
        add_reply_mention(found, message.replied, message.author, allowed)
    message.mentions, message.mention_roles, message.mention_everyone = found.users, found.roles, found.everyone
    return found


def _update_thread(world: World, message: Message, found: ResolvedMentions) -> None:
    """Talking in a thread wakes it, and makes the speaker and those they ping members."""
    facts = message.channel.thread
    if facts is None:
        return
    unarchive(world, message.channel)
    if message.kind is not MessageType.THREAD_STARTER:
        facts.sent += 1
        facts.count += 1
    parent = message.channel.parent
    invited = [user.id for user in found.users if parent is not None and world.can_view(user, parent)]
    add_members(world, message.channel, [message.author.id, *invited])


def _emit_message(world: World, name: str, message: Message) -> None:
    if world.can_view(world.app, message.channel) or message.seen_by:
        world.emit(name, event_json(message, world), _intent(message), message=message)
    world.notify_waiters()


def _emit_reaction(world: World, name: str, message: Message, data: Json) -> None:
    if world.can_view(world.app, message.channel):
        world.emit(name, data, DIRECT_REACTIONS if message.channel.guild is None else GUILD_REACTIONS)
    world.notify_waiters()


def _reaction(message: Message, user: User, emoji: str) -> Json:
    about = {"user_id": user.id, "message_id": message.id, "emoji": emoji_json(emoji), "burst": False, "type": 0}
    return about | _location_payload(message)


def _location_payload(message: Message) -> Json:
    place = {"channel_id": message.channel.id}
    if message.channel.guild is not None and not message.seen_by:
        place["guild_id"] = message.channel.guild.id
    return place


def _intent(message: Message) -> int:
    """Ephemeral messages go straight to the person and the app, and so count as direct ones."""
    return DIRECT_MESSAGES if message.channel.guild is None or message.seen_by else GUILD_MESSAGES
