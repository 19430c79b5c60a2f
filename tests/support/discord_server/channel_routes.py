"""Routes about channels themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.discord_server.embed_rules import check_text
from tests.support.discord_server.errors import ApiError, invalid_form
from tests.support.discord_server.model import Channel, ChannelType, Json
from tests.support.discord_server.payloads import channel_json
from tests.support.discord_server.permissions import Permission
from tests.support.discord_server.routing import NOTHING, ApiCall, ApiReply, on
from tests.support.discord_server.threads import delete_thread, emit_thread_updated

if TYPE_CHECKING:
    from tests.support.discord_server.world import World

GUILDS = 1 << 0
DURATIONS = {60, 1440, 4320, 10080}


@on("GET", "/channels/{channel}")
def get(world: World, call: ApiCall) -> Json:
    return channel_json(world.channel(call["channel"]), world.app.id)


@on("PATCH", "/channels/{channel}")
def edit(world: World, call: ApiCall) -> Json:
    channel = world.channel(call["channel"])
    if channel.guild is None:
        raise ApiError(50003)
    if channel.thread is not None:
        _edit_thread(world, channel, call.body)
    else:
        world.require(channel, Permission.MANAGE_CHANNELS)
        if "name" in call.body:
            channel.name = check_text(call.body["name"], "name", 100, 1)
        if "topic" in call.body:
            channel.topic = check_text(call.body["topic"] or "", "topic", 1024)
        world.emit("CHANNEL_UPDATE", channel_json(channel, world.app.id), GUILDS)
    return channel_json(channel, world.app.id)


def _edit_thread(world: World, thread: Channel, body: Json) -> None:
    facts = thread.thread
    assert facts is not None
    powers = world.permissions_of(world.app, thread)
    manages = Permission.MANAGE_THREADS in powers
    only_waking = set(body) == {"archived"} and body["archived"] is False
    if "locked" in body and not manages:
        raise ApiError(50013)
    if only_waking:
        if (facts.locked and not manages) or Permission.SEND_MESSAGES_IN_THREADS not in powers:
            raise ApiError(50013)
    elif not manages and facts.owner != world.app.id:
        raise ApiError(50013)
    if facts.archived and body.get("archived") is not False and set(body) & {"name", "auto_archive_duration"}:
        raise ApiError(50083)
    if "name" in body:
        thread.name = check_text(body["name"], "name", 100, 1)
    if "auto_archive_duration" in body:
        facts.archive_after = check_archive_duration(body["auto_archive_duration"])
    if "archived" in body and bool(body["archived"]) != facts.archived:
        facts.archived, facts.archived_at = bool(body["archived"]), world.clock.now()
    facts.locked = bool(body.get("locked", facts.locked))
    facts.invitable = bool(body.get("invitable", facts.invitable))
    emit_thread_updated(world, thread)


def check_archive_duration(value: object) -> int:
    """Minutes after which a thread falls asleep."""
    if value not in DURATIONS:
        raise invalid_form(
            "auto_archive_duration", "BASE_TYPE_CHOICES", "Value must be one of (60, 1440, 4320, 10080)."
        )
    assert isinstance(value, int)
    return value


@on("DELETE", "/channels/{channel}")
def delete(world: World, call: ApiCall) -> Json:
    channel = world.channel(call["channel"])
    payload = channel_json(channel, world.app.id)
    if channel.thread is not None:
        world.require(channel, Permission.MANAGE_THREADS)
        delete_thread(world, channel)
    elif channel.guild is not None:
        world.require(channel, Permission.MANAGE_CHANNELS)
        delete_guild_channel(world, channel)
    return payload


def delete_guild_channel(world: World, channel: Channel) -> None:
    """A channel of a guild goes, with its threads and all their files."""
    assert channel.guild is not None
    for inside in [one for one in channel.guild.channels.values() if one.parent is channel and one.thread is not None]:
        inside.deleted = True
        channel.guild.channels.pop(inside.id, None)
        for message in inside.messages.values():
            for attachment in message.attachments:
                attachment.gone = True
    for message in channel.messages.values():
        for attachment in message.attachments:
            attachment.gone = True
    channel.deleted = True
    channel.guild.channels.pop(channel.id, None)
    world.emit("CHANNEL_DELETE", channel_json(channel, world.app.id), GUILDS)


@on("POST", "/channels/{channel}/typing")
def typing(world: World, call: ApiCall) -> ApiReply:
    channel = world.channel(call["channel"])
    if channel.kind in {ChannelType.FORUM, ChannelType.CATEGORY}:
        raise ApiError(50008)
    world.require(channel, Permission.SEND_MESSAGES if channel.thread is None else Permission.SEND_MESSAGES_IN_THREADS)
    return NOTHING
