"""Routes about reactions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.support.discord_server.actions import react, unreact, unreact_all
from tests.support.discord_server.errors import Refused
from tests.support.discord_server.message_routes import check_awake
from tests.support.discord_server.payloads import user_json
from tests.support.discord_server.permissions import Can
from tests.support.discord_server.routing import NOTHING, Call, Reply, on

if TYPE_CHECKING:
    from tests.support.discord_server.model import Channel, Json, Message
    from tests.support.discord_server.world import World

BASE = "/channels/{channel}/messages/{message}/reactions"


def _found(world: World, call: Call) -> tuple[Channel, Message]:
    channel = world.channel(call["channel"])
    return channel, world.message(channel, call["message"])


@on("PUT", BASE + "/{emoji}/@me")
def put(world: World, call: Call) -> Reply:
    channel, message = _found(world, call)
    emoji = call["emoji"]
    if re.search(r"[A-Za-z]", emoji) or emoji.isdigit():
        raise Refused(10014)
    check_awake(world, channel)
    world.need(channel, Can.READ_MESSAGE_HISTORY)
    if emoji not in message.reactions:
        world.need(channel, Can.ADD_REACTIONS)
    react(world, message, world.app, emoji)
    return NOTHING


@on("DELETE", BASE + "/{emoji}/@me")
def take_back(world: World, call: Call) -> Reply:
    channel, message = _found(world, call)
    check_awake(world, channel)
    unreact(world, message, world.app, call["emoji"])
    return NOTHING


@on("DELETE", BASE + "/{emoji}/{user}")
def take(world: World, call: Call) -> Reply:
    channel, message = _found(world, call)
    world.need(channel, Can.MANAGE_MESSAGES)
    if call["user"] not in world.users:
        raise Refused(10013)
    unreact(world, message, world.users[call["user"]], call["emoji"])
    return NOTHING


@on("GET", BASE + "/{emoji}")
def who(world: World, call: Call) -> list[Json]:
    _, message = _found(world, call)
    limit = call.number("limit", 25, 1, 100)
    users = sorted(message.reactions.get(call["emoji"], []), key=int)
    after = int(call.query.get("after") or 0)
    return [user_json(world.users[user]) for user in users if int(user) > after][:limit]


@on("DELETE", BASE + "/{emoji}")
def clear_one(world: World, call: Call) -> Reply:
    channel, message = _found(world, call)
    world.need(channel, Can.MANAGE_MESSAGES)
    unreact_all(world, message, call["emoji"])
    return NOTHING


@on("DELETE", BASE)
def clear(world: World, call: Call) -> Reply:
    channel, message = _found(world, call)
    world.need(channel, Can.MANAGE_MESSAGES)
    unreact_all(world, message)
    return NOTHING
