"""Routes of messages and their reactions."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from tests.support.discord_server import actions
from tests.support.discord_server.errors import ApiError, invalid_form
from tests.support.discord_server.model import SYSTEM_MESSAGES, Channel, ChannelType, Json, Message
from tests.support.discord_server.payloads import message_json
from tests.support.discord_server.permissions import Permission
from tests.support.discord_server.routes.limits import Draft, parse_draft
from tests.support.discord_server.routing import ApiCall, on

if TYPE_CHECKING:
    from tests.support.discord_server.world import World

MESSAGES = "/channels/{channel}/messages"
MESSAGE = MESSAGES + "/{message}"
REACTION = MESSAGE + "/reactions/{emoji}/@me"
NONCE_LIFE = timedelta(minutes=5)


def _find(world: World, call: ApiCall) -> tuple[Channel, Message]:
    channel = world.channel(call["channel"])
    return channel, world.message(channel, call["message"])


@on("GET", MESSAGES)
def list_messages(world: World, call: ApiCall) -> list[Json]:
    """The newest first; without the right to read the history an empty list."""
    channel = world.channel(call["channel"])
    if channel.kind is ChannelType.FORUM:
        raise ApiError(50008)
    limit = call.limit(50, 100)
    if not world.app_can(Permission.READ_MESSAGE_HISTORY, channel):
        return []
    found = sorted((one for one in channel.messages.values() if not one.seen_by), key=lambda one: int(one.id))
    if after := call.query.get("after"):
        found = [one for one in found if int(one.id) > int(after)][:limit]
    elif before := call.query.get("before"):
        found = [one for one in found if int(one.id) < int(before)]
    return [message_json(message, world) for message in reversed(found[-limit:])]


@on("GET", MESSAGE)
def get_message(world: World, call: ApiCall) -> Json:
    channel = world.channel(call["channel"])
    if not world.app_can(Permission.READ_MESSAGE_HISTORY, channel):
        raise ApiError(50001)
    return message_json(world.message(channel, call["message"]), world)


@on("POST", MESSAGES)
def post_message(world: World, call: ApiCall) -> Json:
    channel = world.channel(call["channel"])
    _check_writable(world, channel)
    draft = parse_draft(call.body, call.files)
    if draft.empty:
        raise ApiError(50006)
    if draft.enforce_nonce and (known := _find_nonce(world, channel, draft.nonce)) is not None:
        return message_json(known, world)
    if draft.files:
        world.require(channel, Permission.ATTACH_FILES)
    message = actions.build_message(world, channel, world.app)
    _set_reply(world, message, draft)
    return message_json(actions.post_message(world, message, draft), world)


@on("PATCH", MESSAGE)
def edit_message(world: World, call: ApiCall) -> Json:
    channel, message = _find(world, call)
    if message.author is not world.app:
        raise ApiError(50005)
    if message.kind in SYSTEM_MESSAGES:
        raise ApiError(50021)
    _check_awake(world, channel)
    draft = parse_draft(call.body, call.files)
    check_not_empty(message, draft)
    return message_json(actions.edit_message(world, message, draft), world)


@on("DELETE", MESSAGE)
def delete_message(world: World, call: ApiCall) -> None:
    channel, message = _find(world, call)
    if message.author is not world.app:
        world.require(channel, Permission.MANAGE_MESSAGES)
    actions.delete_messages(world, [message])


@on("PUT", REACTION)
def add_reaction(world: World, call: ApiCall) -> None:
    channel, message = _find(world, call)
    if re.search(r"[A-Za-z]", call["emoji"]):
        raise ApiError(10014)
    _check_awake(world, channel)
    world.require(channel, Permission.READ_MESSAGE_HISTORY)
    if call["emoji"] not in message.reactions:
        world.require(channel, Permission.ADD_REACTIONS)
    actions.add_reaction(world, message, call["emoji"])


@on("DELETE", REACTION)
def remove_reaction(world: World, call: ApiCall) -> None:
    channel, message = _find(world, call)
    _check_awake(world, channel)
    actions.remove_reaction(world, message, call["emoji"])


def _check_writable(world: World, channel: Channel) -> None:
    if channel.kind is ChannelType.FORUM:
        raise ApiError(50008)
    if channel.recipient is not None:
        shared = any(channel.recipient.id in guild.members for guild in world.joined_guilds())
        if not shared or not channel.recipient.takes_dms:
            raise ApiError(50007)
    world.require(channel, Permission.SEND_MESSAGES if channel.thread is None else Permission.SEND_MESSAGES_IN_THREADS)
    _check_unlocked(world, channel)


def _check_unlocked(world: World, channel: Channel) -> None:
    """In a locked thread only those write who manage threads."""
    if channel.thread is not None and channel.thread.locked and not world.app_can(Permission.MANAGE_THREADS, channel):
        raise ApiError(50083 if channel.thread.archived else 160005)


def _check_awake(world: World, channel: Channel) -> None:
    """Nothing changes in an archived thread."""
    if channel.thread is not None and channel.thread.archived:
        raise ApiError(50083)
    _check_unlocked(world, channel)


def check_not_empty(message: Message, draft: Draft) -> None:
    """Refuse an edit that leaves nothing."""
    content = draft.content if draft.has("content") else message.content
    components = draft.components if draft.has("components") else message.components
    files = draft.files if draft.has("attachments") else message.attachments
    if not (content or components or files):
        raise ApiError(50006)


def _set_reply(world: World, message: Message, draft: Draft) -> None:
    reference = draft.message_reference
    if reference is None:
        return
    replied = message.channel.messages.get(str(reference["message_id"]))
    if replied is None or replied.seen_by:
        if reference.get("fail_if_not_exists", True):
            raise invalid_form("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
        return
    if replied.kind in SYSTEM_MESSAGES:
        raise invalid_form("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", "A system message")
    if not world.app_can(Permission.READ_MESSAGE_HISTORY, message.channel):
        raise ApiError(160002)
    actions.set_reference(message, replied)


def _find_nonce(world: World, channel: Channel, nonce: str) -> Message | None:
    since = world.clock.now() - NONCE_LIFE
    mine = (one for one in channel.messages.values() if one.author is world.app and one.time > since)
    return next((message for message in mine if message.nonce == nonce), None)
