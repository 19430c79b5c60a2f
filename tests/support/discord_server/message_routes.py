"""Routes about messages: listing, sending, editing, deleting."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from tests.support.discord_server.actions import SYSTEM, change, fresh, refer, remove, say
from tests.support.discord_server.drafts import Draft, draft_of
from tests.support.discord_server.errors import Refused, invalid
from tests.support.discord_server.ids import made
from tests.support.discord_server.message_payloads import masked, message_json
from tests.support.discord_server.model import Channel, Json, Kind, Message
from tests.support.discord_server.permissions import Can
from tests.support.discord_server.routing import NOTHING, Call, Reply, on

if TYPE_CHECKING:
    from tests.support.discord_server.world import World

CONTENT = 1 << 15
NONCE_LIFE = timedelta(minutes=5)
SPEECHLESS = {Kind.FORUM, Kind.CATEGORY}


def shown(message: Message, world: World) -> Json:
    """A message as REST gives it to an app with its intents."""
    payload = message_json(message, world)
    return payload if world.privileged & CONTENT else masked(payload, world)


@on("GET", "/channels/{channel}/messages")
def history(world: World, call: Call) -> list[Json]:
    channel = world.channel(call["channel"])
    if channel.kind in SPEECHLESS:
        raise Refused(50008)
    limit = call.number("limit", 50, 1, 100)
    if sum(name in call.query for name in ("before", "after", "around")) > 1:
        raise invalid("before", "BASE_TYPE_CONFLICT", "before, after and around are mutually exclusive.")
    if Can.READ_MESSAGE_HISTORY not in world.powers(world.app, channel):
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
    return [shown(message, world) for message in reversed(every)]


@on("GET", "/channels/{channel}/messages/{message}")
def get(world: World, call: Call) -> Json:
    channel = world.channel(call["channel"])
    if Can.READ_MESSAGE_HISTORY not in world.powers(world.app, channel):
        raise Refused(50001)
    return shown(world.message(channel, call["message"]), world)


@on("POST", "/channels/{channel}/messages")
def create(world: World, call: Call) -> Json:
    channel = world.channel(call["channel"])
    check_speech(world, channel)
    draft = draft_of(call.body, call.files)
    if draft.empty:
        raise Refused(50006)
    if draft.enforce_nonce and draft.nonce and (known := _same_nonce(world, channel, draft.nonce)) is not None:
        return shown(known, world)
    _check_powers(world, channel, draft)
    message = fresh(world, channel, world.app)
    _reply(world, message, draft)
    return shown(say(world, message, draft), world)


@on("PATCH", "/channels/{channel}/messages/{message}")
def edit(world: World, call: Call) -> Json:
    channel = world.channel(call["channel"])
    message = world.message(channel, call["message"])
    if message.author is not world.app:
        if set(call.body) - {"flags", "allowed_mentions"}:
            raise Refused(50005)
        world.need(channel, Can.MANAGE_MESSAGES)
    if message.kind in SYSTEM:
        raise Refused(50021)
    check_awake(world, channel)
    draft = draft_of(call.body, call.files)
    check_left(message, draft)
    return shown(change(world, message, draft), world)


@on("DELETE", "/channels/{channel}/messages/{message}")
def delete(world: World, call: Call) -> Reply:
    channel = world.channel(call["channel"])
    message = world.message(channel, call["message"])
    if message.author is not world.app:
        world.need(channel, Can.MANAGE_MESSAGES)
    remove(world, [message])
    return NOTHING


@on("POST", "/channels/{channel}/messages/bulk-delete")
def bulk_delete(world: World, call: Call) -> Reply:
    channel = world.channel(call["channel"])
    if channel.guild is None:
        raise Refused(50003)
    world.need(channel, Can.MANAGE_MESSAGES)
    ids = [str(one) for one in call.body.get("messages") or []]
    if not 2 <= len(ids) <= 100:
        raise Refused(50016)
    if any(world.clock.now() - made(one) > timedelta(days=14) for one in ids):
        raise Refused(50034)
    remove(world, [channel.messages[one] for one in ids if one in channel.messages], bulk=True)
    return NOTHING


def check_speech(world: World, channel: Channel) -> None:
    """Refuse where nobody, or not the app, may speak."""
    if channel.kind in SPEECHLESS:
        raise Refused(50008)
    if channel.guild is None and channel.recipient is not None:
        shared = any(
            channel.recipient.id in one.members and world.app.id in one.members for one in world.guilds.values()
        )
        if not shared or not channel.recipient.takes_dms:
            raise Refused(50007)
    world.need(channel, Can.SEND_MESSAGES if channel.thread is None else Can.SEND_MESSAGES_IN_THREADS)
    facts = channel.thread
    if facts is not None and facts.locked and Can.MANAGE_THREADS not in world.powers(world.app, channel):
        raise Refused(50083 if facts.archived else 160005)


def check_awake(world: World, channel: Channel) -> None:
    """In an archived thread nothing changes; in a locked one only for those who manage threads."""
    if channel.thread is None:
        return
    if channel.thread.archived:
        raise Refused(50083)
    if channel.thread.locked and Can.MANAGE_THREADS not in world.powers(world.app, channel):
        raise Refused(160005)


def check_left(message: Message, draft: Draft) -> None:
    """Refuse an edit that would leave nothing, or keep files that are not there."""
    here = {attachment.id for attachment in message.attachments}
    for position, kept in enumerate(draft.kept or []):
        if kept not in here:
            raise invalid(f"attachments.{position}.id", "ATTACHMENT_NOT_FOUND", f"Attachment data {kept} not found")
    content = message.content if draft.content is None else draft.content
    embeds = message.embeds if draft.embeds is None else draft.embeds
    components = message.components if draft.components is None else draft.components
    files = here if draft.kept is None else draft.kept
    if not (content or embeds or components or files or draft.files):
        raise Refused(50006)


def _check_powers(world: World, channel: Channel, draft: Draft) -> None:
    if draft.embeds:
        world.need(channel, Can.EMBED_LINKS)
    if draft.files:
        world.need(channel, Can.ATTACH_FILES)


def _reply(world: World, message: Message, draft: Draft) -> None:
    if not draft.reference:
        return
    wanted = str(draft.reference.get("message_id"))
    strict = draft.reference.get("fail_if_not_exists", True)
    known = message.channel.messages.get(wanted)
    if known is None or known.seen_by:
        if strict:
            raise invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
        return
    if str(draft.reference.get("channel_id", message.channel.id)) != message.channel.id:
        raise invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
    if known.kind in SYSTEM:
        raise invalid("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", "Cannot reply to a system message")
    if Can.READ_MESSAGE_HISTORY not in world.powers(world.app, message.channel):
        raise Refused(160002)
    refer(message, known)


def _same_nonce(world: World, channel: Channel, nonce: str) -> Message | None:
    since = world.clock.now() - NONCE_LIFE
    for message in channel.messages.values():
        if message.author is world.app and message.nonce == nonce and message.time > since:
            return message
    return None
