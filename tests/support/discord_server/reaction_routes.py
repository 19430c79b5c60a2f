"""Routes about reactions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.support.discord_server.actions import add_reaction, clear_reactions, remove_reaction
from tests.support.discord_server.errors import ApiError
from tests.support.discord_server.message_routes import check_not_archived
from tests.support.discord_server.payloads import user_json
from tests.support.discord_server.permissions import Permission
from tests.support.discord_server.routing import NOTHING, ApiCall, ApiReply, on

if TYPE_CHECKING:
    from tests.support.discord_server.model import Channel, Json, Message
    from tests.support.discord_server.world import World

BASE = "/channels/{channel}/messages/{message}/reactions"


def _found(world: World, call: ApiCall) -> tuple[Channel, Message]:
    channel = world.channel(call["channel"])
    return channel, world.message(channel, call["message"])


@on("PUT", BASE + "/{emoji}/@me")
def handle_add_reaction(world: World, call: ApiCall) -> ApiReply:
    channel, message = _found(world, call)
    emoji = call["emoji"]
    if re.search(r"[A-Za-z]", emoji) or emoji.isdigit():
        raise ApiError(10014)
    check_not_archived(world, channel)
    world.require(channel, Permission.READ_MESSAGE_HISTORY)
    if emoji not in message.reactions:
        world.require(channel, Permission.ADD_REACTIONS)
    add_reaction(world, message, world.app, emoji)
    return NOTHING


@on("DELETE", BASE + "/{emoji}/@me")
def remove_own_reaction(world: World, call: ApiCall) -> ApiReply:
    channel, message = _found(world, call)
    check_not_archived(world, channel)
    remove_reaction(world, message, world.app, call["emoji"])
    return NOTHING


@on("DELETE", BASE + "/{emoji}/{user}")
def handle_remove_reaction(world: World, call: ApiCall) -> ApiReply:
    channel, message = _found(world, call)
    world.require(channel, Permission.MANAGE_MESSAGES)
    if call["user"] not in world.users:
        raise ApiError(10013)
    remove_reaction(world, message, world.users[call["user"]], call["emoji"])
    return NOTHING


@on("GET", BASE + "/{emoji}")
def list_users(world: World, call: ApiCall) -> list[Json]:
    _, message = _found(world, call)
    limit = call.number("limit", 25, 1, 100)
    users = sorted(message.reactions.get(call["emoji"], []), key=int)
    after = int(call.query.get("after") or 0)
    return [user_json(world.users[user]) for user in users if int(user) > after][:limit]


@on("DELETE", BASE + "/{emoji}")
def clear_emoji(world: World, call: ApiCall) -> ApiReply:
    channel, message = _found(world, call)
    world.require(channel, Permission.MANAGE_MESSAGES)
    clear_reactions(world, message, call["emoji"])
    return NOTHING


@on("DELETE", BASE)
def handle_clear_reactions(world: World, call: ApiCall) -> ApiReply:
    channel, message = _found(world, call)
    world.require(channel, Permission.MANAGE_MESSAGES)
    clear_reactions(world, message)
    return NOTHING
