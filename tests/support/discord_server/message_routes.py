"""Routes about messages: listing, sending, editing, deleting."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from tests.support.discord_server.actions import (
    SYSTEM,
    build_message,
    delete_messages,
    edit_message,
    post_message,
    set_reference,
)
from tests.support.discord_server.drafts import Draft, parse_draft
from tests.support.discord_server.errors import ApiError, invalid_form
from tests.support.discord_server.ids import created_at
from tests.support.discord_server.message_payloads import mask_content, message_json
from tests.support.discord_server.model import Channel, ChannelType, Json, Message
from tests.support.discord_server.permissions import Permission
from tests.support.discord_server.routing import NOTHING, ApiCall, ApiReply, on

if TYPE_CHECKING:
    from tests.support.discord_server.world import World

CONTENT = 1 << 15
NONCE_LIFE = timedelta(minutes=5)
SPEECHLESS = {ChannelType.FORUM, ChannelType.CATEGORY}


def visible_message_json(message: Message, world: World) -> Json:
    """A message as REST gives it to an app with its intents."""
    payload = message_json(message, world)
    return payload if world.privileged & CONTENT else mask_content(payload, world)


@on("GET", "/channels/{channel}/messages")
def history(world: World, call: ApiCall) -> list[Json]:
    channel = world.channel(call["channel"])
    if channel.kind in SPEECHLESS:
        raise ApiError(50008)
    limit = call.number("limit", 50, 1, 100)
    if sum(name in call.query for name in ("before", "after", "around")) > 1:
        raise invalid_form("before", "BASE_TYPE_CONFLICT", "before, after and around are mutually exclusive.")
    if Permission.READ_MESSAGE_HISTORY not in world.permissions_of(world.app, channel):
        return []
    every = sorted((one for one in channel.messages.values() if not one.seen_by), key=lambda one: int(one.id))
    if (before := call.query.get("before")) is not None:
        every = [one for one in every if int(one.id) < int(before)][-limit:]
    elif (after := call.query.get("after")) is not None:
        every = [one for one in every if int(one.id) > int(after)][:limit]
    elif (around := call.query.get("around")) is not None:
        earlier = [one for one in every if int(one.id) < int(around)][-(limit // 2) :]
        later = [one for one in every if int(one.id) >= int(around)][: limit - limit // 2]
        every = earlier + later
    else:
        every = every[-limit:]
    return [visible_message_json(message, world) for message in reversed(every)]


@on("GET", "/channels/{channel}/messages/{message}")
def get(world: World, call: ApiCall) -> Json:
    channel = world.channel(call["channel"])
    if Permission.READ_MESSAGE_HISTORY not in world.permissions_of(world.app, channel):
        raise ApiError(50001)
    return visible_message_json(world.message(channel, call["message"]), world)


@on("POST", "/channels/{channel}/messages")
def create(world: World, call: ApiCall) -> Json:
    channel = world.channel(call["channel"])
    check_can_send(world, channel)
    draft = parse_draft(call.body, call.files)
    if draft.empty:
        raise ApiError(50006)
    if draft.enforce_nonce and draft.nonce and (known := _same_nonce(world, channel, draft.nonce)) is not None:
        return visible_message_json(known, world)
    _check_permissions(world, channel, draft)
    message = build_message(world, channel, world.app)
    _reply(world, message, draft)
    return visible_message_json(post_message(world, message, draft), world)


@on("PATCH", "/channels/{channel}/messages/{message}")
def edit(world: World, call: ApiCall) -> Json:
    channel = world.channel(call["channel"])
    message = world.message(channel, call["message"])
    if message.author is not world.app:
        if set(call.body) - {"flags", "allowed_mentions"}:
            raise ApiError(50005)
        world.require(channel, Permission.MANAGE_MESSAGES)
    if message.kind in SYSTEM:
        raise ApiError(50021)
    check_not_archived(world, channel)
    draft = parse_draft(call.body, call.files)
    check_not_empty(message, draft)
    return visible_message_json(edit_message(world, message, draft), world)


@on("DELETE", "/channels/{channel}/messages/{message}")
def delete(world: World, call: ApiCall) -> ApiReply:
    channel = world.channel(call["channel"])
    message = world.message(channel, call["message"])
    if message.author is not world.app:
        world.require(channel, Permission.MANAGE_MESSAGES)
    delete_messages(world, [message])
    return NOTHING


@on("POST", "/channels/{channel}/messages/bulk-delete")
def bulk_delete(world: World, call: ApiCall) -> ApiReply:
    channel = world.channel(call["channel"])
    if channel.guild is None:
        raise ApiError(50003)
    world.require(channel, Permission.MANAGE_MESSAGES)
    ids = [str(one) for one in call.body.get("messages") or []]
    if not 2 <= len(ids) <= 100:
        raise ApiError(50016)
    if any(world.clock.now() - created_at(one) > timedelta(days=14) for one in ids):
        raise ApiError(50034)
    delete_messages(world, [channel.messages[one] for one in ids if one in channel.messages], bulk=True)
    return NOTHING


def check_can_send(world: World, channel: Channel) -> None:
    """Refuse where nobody, or not the app, may speak."""
    if channel.kind in SPEECHLESS:
        raise ApiError(50008)
    if channel.guild is None and channel.recipient is not None:
        shared = any(
            channel.recipient.id in one.members and world.app.id in one.members for one in world.guilds.values()
        )
        if not shared or not channel.recipient.takes_dms:
            raise ApiError(50007)
    world.require(channel, Permission.SEND_MESSAGES if channel.thread is None else Permission.SEND_MESSAGES_IN_THREADS)
    facts = channel.thread
    if facts is not None and facts.locked and Permission.MANAGE_THREADS not in world.permissions_of(world.app, channel):
        raise ApiError(50083 if facts.archived else 160005)


def check_not_archived(world: World, channel: Channel) -> None:
    """In an archived thread nothing changes; in a locked one only for those who manage threads."""
    if channel.thread is None:
        return
    if channel.thread.archived:
        raise ApiError(50083)
    if channel.thread.locked and Permission.MANAGE_THREADS not in world.permissions_of(world.app, channel):
        raise ApiError(160005)


def check_not_empty(message: Message, draft: Draft) -> None:
    """Refuse an edit that would leave nothing, or keep files that are not there."""
    here = {attachment.id for attachment in message.attachments}
    for position, kept in enumerate(draft.kept or []):
        if kept not in here:
            raise invalid_form(
                f"attachments.{position}.id", "ATTACHMENT_NOT_FOUND", f"Attachment data {kept} not found"
            )
    content = message.content if draft.content is None else draft.content
    embeds = message.embeds if draft.embeds is None else draft.embeds
    components = message.components if draft.components is None else draft.components
    files = here if draft.kept is None else draft.kept
    if not (content or embeds or components or files or draft.files):
        raise ApiError(50006)


def _check_permissions(world: World, channel: Channel, draft: Draft) -> None:
    if draft.embeds:
        world.require(channel, Permission.EMBED_LINKS)
    if draft.files:
        world.require(channel, Permission.ATTACH_FILES)


def _reply(world: World, message: Message, draft: Draft) -> None:
    if not draft.reference:
        return
    wanted = str(draft.reference.get("message_id"))
    strict = draft.reference.get("fail_if_not_exists", True)
    known = message.channel.messages.get(wanted)
    if known is None or known.seen_by:
        if strict:
            raise invalid_form("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
        return
    if str(draft.reference.get("channel_id", message.channel.id)) != message.channel.id:
        raise invalid_form("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
    if known.kind in SYSTEM:
        raise invalid_form(
            "message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", "Cannot reply to a system message"
        )
    if Permission.READ_MESSAGE_HISTORY not in world.permissions_of(world.app, message.channel):
        raise ApiError(160002)
    set_reference(message, known)


def _same_nonce(world: World, channel: Channel, nonce: str) -> Message | None:
    since = world.clock.now() - NONCE_LIFE
    for message in channel.messages.values():
        if message.author is world.app and message.nonce == nonce and message.time > since:
            return message
    return None
