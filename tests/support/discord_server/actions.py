"""Changes of messages: what they do to the records, whom they ping, and what the gateway sends about them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.support.discord_server.errors import ApiError
from tests.support.discord_server.model import (
    Attachment,
    Channel,
    File,
    Intent,
    Json,
    Message,
    MessageFlag,
    MessageType,
    Ping,
    User,
)
from tests.support.discord_server.payloads import channel_json, event_json
from tests.support.discord_server.permissions import Permission
from tests.support.discord_server.threads import add_members, unarchive

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from tests.support.discord_server.routes.limits import AllowedMentions, Draft
    from tests.support.discord_server.world import World

BARE_URL = re.compile(r"(?<!<)\bhttps?://[^\s<>)\]]+")
CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
USER_MENTION = re.compile(r"<@!?(\d+)>")
ROLE_MENTION = re.compile(r"<@&(\d+)>")
EVERYONE_MENTION = re.compile(r"@(everyone|here)\b")


def build_message(world: World, channel: Channel, author: User, at: datetime | None = None) -> Message:
    """An empty message of now, or of an earlier time."""
    moment = at or world.clock.now()
    return Message(world.ids.at(moment) if at else world.ids.next(), channel, author, moment)


def set_reference(message: Message, replied: Message) -> None:
    """Make a message a reply."""
    message.kind = MessageType.REPLY if message.kind is MessageType.DEFAULT else message.kind
    message.replied = replied
    message.reference = {"type": 0, "message_id": replied.id, "channel_id": replied.channel.id}
    if replied.channel.guild is not None:
        message.reference["guild_id"] = replied.channel.guild.id


def post_message(world: World, message: Message, draft: Draft) -> Message:
    """Put a message into its channel: stores its files, sends pings and events, fetches links for previews."""
    channel = message.channel
    message.content, message.nonce = draft.content or "", draft.nonce
    message.components = draft.raw("components")
    message.flags |= MessageFlag.SUPPRESS_EMBEDS if draft.suppresses_embeds else MessageFlag.NONE
    message.attachments = [store_file(world, file, channel) for file in draft.files]
    pinged = _resolve_mentions(world, message, draft.allowed_mentions)
    channel.messages[message.id] = message
    if not message.seen_by:
        channel.last_message = message.id
        _update_thread(world, message)
    if channel.guild is None and len(channel.messages) == 1:
        world.emit("CHANNEL_CREATE", channel_json(channel, world.app.id), Intent.DIRECT_MESSAGES)
    _emit_message(world, "MESSAGE_CREATE", message)
    _ping(world, message, pinged)
    add_previews(world, message)
    return message


def edit_message(world: World, message: Message, draft: Draft) -> Message:
    """Edit a message; fields that the draft omits stay. Pings only if it fills a deferred response."""
    was_loading = message.loading
    if draft.has("components"):
        message.components = draft.raw("components")
    if draft.attachments is not None:
        for attachment in message.attachments:
            attachment.gone = True
        message.attachments = [store_file(world, file, message.channel) for file in draft.files]
    message.flags &= ~MessageFlag.LOADING
    if draft.has("flags"):
        message.flags &= ~MessageFlag.SUPPRESS_EMBEDS
        message.flags |= MessageFlag.SUPPRESS_EMBEDS if draft.suppresses_embeds else MessageFlag.NONE
    if draft.has("content"):
        message.content = draft.content or ""
        pinged = _resolve_mentions(world, message, draft.allowed_mentions)
        _ping(world, message, pinged if was_loading else set())
    if not was_loading:
        message.edited = world.clock.now()
    message.previews = [url for url in message.previews if url in message.content]
    _emit_message(world, "MESSAGE_UPDATE", message)
    add_previews(world, message)
    return message


def delete_messages(world: World, messages: Iterable[Message], *, bulk: bool = False) -> None:
    """Delete messages and their files."""
    gone = list(messages)
    for message in gone:
        message.deleted = True
        for attachment in message.attachments:
            attachment.gone = True
        message.channel.messages.pop(message.id, None)
    if bulk:
        ids = {"ids": [message.id for message in gone]}
        world.emit("MESSAGE_DELETE_BULK", ids | _location_payload(gone[0]), _intent(gone[0]))
        return
    for message in gone:
        if world.can_view(world.app, message.channel):
            world.emit("MESSAGE_DELETE", {"id": message.id} | _location_payload(message), _intent(message))


def add_previews(world: World, message: Message) -> None:
    """Fetch links without angle brackets and show them as embeds: an update that is no edit."""
    if MessageFlag.SUPPRESS_EMBEDS in message.flags:
        message.previews = []
        return
    if Permission.EMBED_LINKS not in world.permissions_of(message.author, message.channel):
        return
    fresh = [url for url in BARE_URL.findall(message.content) if url not in message.previews]
    if fresh:
        message.previews += fresh
        world.previews += [(message, url) for url in fresh]
        _emit_message(world, "MESSAGE_UPDATE", message)


def add_reaction(world: World, message: Message, emoji: str) -> None:
    """The app adds an emoji."""
    message.reactions[emoji] = [world.app.id]


def remove_reaction(world: World, message: Message, emoji: str) -> None:
    """The app removes its emoji."""
    if world.app.id not in message.reactions.get(emoji, []):
        raise ApiError(10014)
    del message.reactions[emoji]


def store_file(world: World, file: File, channel: Channel) -> Attachment:
    """Keep an uploaded file; its name loses what a URL cannot contain."""
    name = re.sub(r"[^\w.\-]+", "_", file.name)
    attachment = Attachment(world.ids.next(), File(name, file.data, file.kind), channel.id)
    world.attachments[attachment.id] = attachment
    return attachment


def post_system_message(
    world: World, channel: Channel, kind: MessageType, author: User, *, about: User | None = None, text: str = ""
) -> Message:
    """Post what the platform itself writes: somebody was added, a thread was created or renamed."""
    message = build_message(world, channel, author)
    message.kind, message.content = kind, text
    message.mentions = [about] if about is not None else []
    channel.messages[message.id] = message
    channel.last_message = message.id
    _emit_message(world, "MESSAGE_CREATE", message)
    return message


def emit_message_update(world: World, message: Message) -> None:
    """Send an update of a message that is no edit."""
    _emit_message(world, "MESSAGE_UPDATE", message)


def _resolve_mentions(world: World, message: Message, allowed: AllowedMentions | None) -> set[str]:
    """Set the mentions of a message, as its client allows them, and return the users that they ping."""
    channel, author = message.channel, message.author
    text = CODE.sub("", message.content)
    may_ping_all = Permission.MENTION_EVERYONE in world.permissions_of(author, channel)
    parse = ["users", "roles", "everyone"] if allowed is None else allowed.parse
    listed = set() if allowed is None else set(map(str, allowed.users))
    named = [user for user in USER_MENTION.findall(text) if user in world.users]
    users = [world.users[user] for user in named if "users" in parse or user in listed]
    if message.replied is not None and message.kind is MessageType.REPLY and (not allowed or allowed.replied_user):
        users.append(message.replied.author)
    message.mentions = list(dict.fromkeys(users))
    pinged = {user.id for user in users}
    roles, members = (channel.guild.roles, channel.guild.members) if channel.guild is not None else ({}, {})
    message.mention_roles = [role for role in ROLE_MENTION.findall(text) if role in roles and "roles" in parse]
    for role in message.mention_roles:
        if roles[role].mentionable or may_ping_all:
            pinged |= {member.user.id for member in members.values() if role in member.roles}
    message.mention_everyone = bool(EVERYONE_MENTION.search(text)) and may_ping_all and "everyone" in parse
    pinged |= set(members) if message.mention_everyone else set()
    return (pinged & world.readers(channel)) - {author.id}


def _ping(world: World, message: Message, users: set[str]) -> None:
    if users and not message.seen_by:
        world.pings.append(Ping(message.author.id, message.id, frozenset(users), everyone=message.mention_everyone))


def _update_thread(world: World, message: Message) -> None:
    """A message unarchives its thread, and adds its author and those it mentions."""
    thread = message.channel
    if thread.thread is None:
        return
    unarchive(world, thread)
    assert thread.parent is not None
    invited = [user.id for user in message.mentions if world.can_view(user, thread.parent)]
    add_members(world, thread, [message.author.id, *invited])


def _emit_message(world: World, name: str, message: Message) -> None:
    if world.can_view(world.app, message.channel) or message.seen_by:
        world.emit(name, event_json(message, world), _intent(message))


def _location_payload(message: Message) -> Json:
    place = {"channel_id": message.channel.id}
    return place if message.channel.guild is None else place | {"guild_id": message.channel.guild.id}


def _intent(message: Message) -> Intent:
    """Ephemeral messages count as direct ones."""
    return Intent.DIRECT_MESSAGES if message.channel.guild is None or message.seen_by else Intent.GUILD_MESSAGES
