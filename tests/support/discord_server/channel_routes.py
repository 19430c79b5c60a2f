"""Routes about channels themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.discord_server.embed_rules import text
from tests.support.discord_server.errors import Refused, invalid
from tests.support.discord_server.model import Channel, Json, Kind
from tests.support.discord_server.payloads import channel_json
from tests.support.discord_server.permissions import Can
from tests.support.discord_server.routing import NOTHING, Call, Reply, on
from tests.support.discord_server.threads import end, updated

if TYPE_CHECKING:
    from tests.support.discord_server.world import World

GUILDS = 1 << 0
DURATIONS = {60, 1440, 4320, 10080}


@on("GET", "/channels/{channel}")
def get(world: World, call: Call) -> Json:
    return channel_json(world.channel(call["channel"]), world.app.id)


@on("PATCH", "/channels/{channel}")
def edit(world: World, call: Call) -> Json:
    channel = world.channel(call["channel"])
    if channel.guild is None:
        raise Refused(50003)
    if channel.thread is not None:
        _edit_thread(world, channel, call.body)
    else:
        world.need(channel, Can.MANAGE_CHANNELS)
        if "name" in call.body:
            channel.name = text(call.body["name"], "name", 100, 1)
        if "topic" in call.body:
            channel.topic = text(call.body["topic"] or "", "topic", 1024)
        world.emit("CHANNEL_UPDATE", channel_json(channel, world.app.id), GUILDS)
    return channel_json(channel, world.app.id)


def _edit_thread(world: World, thread: Channel, body: Json) -> None:
    facts = thread.thread
    assert facts is not None
    powers = world.powers(world.app, thread)
    manages = Can.MANAGE_THREADS in powers
    only_waking = set(body) == {"archived"} and body["archived"] is False
    if "locked" in body and not manages:
        raise Refused(50013)
    if only_waking:
        if (facts.locked and not manages) or Can.SEND_MESSAGES_IN_THREADS not in powers:
            raise Refused(50013)
    elif not manages and facts.owner != world.app.id:
        raise Refused(50013)
    if facts.archived and body.get("archived") is not False and set(body) & {"name", "auto_archive_duration"}:
        raise Refused(50083)
    if "name" in body:
        thread.name = text(body["name"], "name", 100, 1)
    if "auto_archive_duration" in body:
        facts.archive_after = duration(body["auto_archive_duration"])
    if "archived" in body and bool(body["archived"]) != facts.archived:
        facts.archived, facts.archived_at = bool(body["archived"]), world.clock.now()
    facts.locked = bool(body.get("locked", facts.locked))
    facts.invitable = bool(body.get("invitable", facts.invitable))
    updated(world, thread)


def duration(value: object) -> int:
    """Minutes after which a thread falls asleep."""
    if value not in DURATIONS:
        raise invalid("auto_archive_duration", "BASE_TYPE_CHOICES", "Value must be one of (60, 1440, 4320, 10080).")
    assert isinstance(value, int)
    return value


@on("DELETE", "/channels/{channel}")
def delete(world: World, call: Call) -> Json:
    channel = world.channel(call["channel"])
    payload = channel_json(channel, world.app.id)
    if channel.thread is not None:
        world.need(channel, Can.MANAGE_THREADS)
        end(world, channel)
    elif channel.guild is not None:
        world.need(channel, Can.MANAGE_CHANNELS)
        drop(world, channel)
    return payload


def drop(world: World, channel: Channel) -> None:
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
def typing(world: World, call: Call) -> Reply:
    channel = world.channel(call["channel"])
    if channel.kind in {Kind.FORUM, Kind.CATEGORY}:
        raise Refused(50008)
    world.need(channel, Can.SEND_MESSAGES if channel.thread is None else Can.SEND_MESSAGES_IN_THREADS)
    return NOTHING
