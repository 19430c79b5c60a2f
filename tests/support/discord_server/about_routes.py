"""Routes about the app itself, people and guilds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.discord_server.actions import DIRECT_MESSAGES
from tests.support.discord_server.errors import ApiError
from tests.support.discord_server.gateway import app_flags
from tests.support.discord_server.model import ChannelType, Json
from tests.support.discord_server.payloads import (
    channel_json,
    guild_json,
    member_json,
    role_json,
    thread_json,
    thread_member_json,
    user_json,
)
from tests.support.discord_server.permissions import ALL, guild_permissions
from tests.support.discord_server.routing import NOTHING, ApiCall, ApiReply, on

if TYPE_CHECKING:
    from tests.support.discord_server.world import World

MEMBERS = 1 << 1


@on("GET", "/users/@me")
def me(world: World, _: ApiCall) -> Json:
    return user_json(world.app) | {"verified": True, "mfa_enabled": True, "email": None, "flags": 0, "locale": "en-US"}


@on("GET", "/users/@me/guilds")
def my_guilds(world: World, _: ApiCall) -> list[Json]:
    mine = [guild for guild in world.guilds.values() if world.app.id in guild.members]
    return [
        {"id": one.id, "name": one.name, "icon": None, "owner": False, "features": [], "permissions": str(int(ALL))}
        for one in mine
    ]


@on("POST", "/users/@me/channels")
def open_dm(world: World, call: ApiCall) -> Json:
    user = world.users.get(str(call.body.get("recipient_id")))
    if user is None or user is world.app:
        raise ApiError(50033 if user else 10013, message="Invalid Recipient(s)" if user else "")
    fresh = not any(one.kind is ChannelType.DM and one.recipient is user for one in world.channels.values())
    channel = world.dm(user)
    if fresh:
        world.emit("CHANNEL_CREATE", channel_json(channel, world.app.id), DIRECT_MESSAGES)
    return channel_json(channel, world.app.id)


@on("GET", "/users/{user}")
def user(world: World, call: ApiCall) -> Json:
    if call["user"] not in world.users:
        raise ApiError(10013)
    return user_json(world.users[call["user"]])


@on("GET", "/oauth2/applications/@me")
def application(world: World, _: ApiCall) -> Json:
    return {
        "id": world.app.id,
        "name": world.app.name,
        "icon": None,
        "description": "",
        "summary": "",
        "bot_public": False,
        "bot_require_code_grant": False,
        "verify_key": "0" * 64,
        "flags": app_flags(world),
        "owner": user_json(world.developer),
        "team": None,
        "approximate_guild_count": len(world.guilds),
        "bot": user_json(world.app),
        "integration_types_config": {"0": {}},
    }


@on("GET", "/applications/@me")
def application_me(world: World, call: ApiCall) -> Json:
    return application(world, call)


@on("GET", "/gateway")
def gateway(world: World, _: ApiCall) -> Json:
    return {"url": world.base.replace("http", "ws", 1) + "/gateway"}


@on("GET", "/gateway/bot")
def gateway_bot(world: World, call: ApiCall) -> Json:
    limit = {"total": 1000, "remaining": 1000, "reset_after": 0, "max_concurrency": 1}
    return gateway(world, call) | {"shards": 1, "session_start_limit": limit}


@on("GET", "/guilds/{guild}")
def guild(world: World, call: ApiCall) -> Json:
    found = world.guild(call["guild"])
    counts: Json = {}
    if call.query.get("with_counts") in {"1", "true", "True"}:
        counts = {"approximate_member_count": len(found.members), "approximate_presence_count": len(found.members)}
    return guild_json(found) | counts


@on("GET", "/guilds/{guild}/channels")
def channels(world: World, call: ApiCall) -> list[Json]:
    found = world.guild(call["guild"])
    return [channel_json(channel, world.app.id) for channel in found.channels.values() if channel.thread is None]


@on("GET", "/guilds/{guild}/roles")
def roles(world: World, call: ApiCall) -> list[Json]:
    return [role_json(role) for role in world.guild(call["guild"]).roles.values()]


@on("GET", "/guilds/{guild}/roles/{role}")
def role(world: World, call: ApiCall) -> Json:
    found = world.guild(call["guild"]).roles.get(call["role"])
    if found is None:
        raise ApiError(10011)
    return role_json(found)


@on("GET", "/guilds/{guild}/members")
def members(world: World, call: ApiCall) -> list[Json]:
    found = world.guild(call["guild"])
    if not world.privileged & MEMBERS:
        raise ApiError(50001)
    after = int(call.query.get("after") or 0)
    limit = call.number("limit", 1, 1, 1000)
    later = sorted(
        (one for one in found.members.values() if int(one.user.id) > after), key=lambda one: int(one.user.id)
    )
    return [member_json(member) for member in later[:limit]]


@on("GET", "/guilds/{guild}/members/{user}")
def member(world: World, call: ApiCall) -> Json:
    return member_json(world.member(world.guild(call["guild"]), call["user"]))


@on("GET", "/guilds/{guild}/threads/active")
def active_threads(world: World, call: ApiCall) -> Json:
    found = [
        thread
        for thread in world.threads(world.guild(call["guild"]))
        if thread.thread is not None and not thread.thread.archived and world.can_view(world.app, thread)
    ]
    found.sort(key=lambda thread: int(thread.id), reverse=True)
    mine = [
        thread_member_json(thread, world.app.id, thread.thread.members[world.app.id])
        for thread in found
        if thread.thread is not None and world.app.id in thread.thread.members
    ]
    return {"threads": [thread_json(thread, world.app.id) for thread in found], "members": mine}


@on("DELETE", "/users/@me/guilds/{guild}")
def leave(world: World, call: ApiCall) -> ApiReply:
    found = world.guild(call["guild"])
    assert guild_permissions(found, found.members[world.app.id]) is not None
    del found.members[world.app.id]
    world.emit("GUILD_DELETE", {"id": found.id}, 1)
    return NOTHING
