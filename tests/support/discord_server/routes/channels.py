"""Routes of the app itself, users, guilds, channels and threads."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from tests.support.discord_server import actions, threads
from tests.support.discord_server.errors import ApiError
from tests.support.discord_server.model import Channel, ChannelType, Intent, Json, Message, MessageFlag, MessageType
from tests.support.discord_server.payloads import (
    channel_json,
    guild_json,
    member_json,
    message_json,
    thread_member_json,
    user_json,
)
from tests.support.discord_server.permissions import Permission
from tests.support.discord_server.routes.limits import Draft, ThreadBody, check, parse_draft
from tests.support.discord_server.routing import ApiCall, on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.support.discord_server.model import User
    from tests.support.discord_server.world import World

# What is switched on in the developer portal of an app in few servers, as flags of the application.
FLAGS = {Intent.MEMBERS: 1 << 15, Intent.MESSAGE_CONTENT: 1 << 19}


def _application(world: World) -> Json:
    texts = {"name": world.app.name, "icon": None, "description": "", "verify_key": ""}
    access = {"bot_public": False, "bot_require_code_grant": False}
    flags = sum(flag for intent, flag in FLAGS.items() if intent & world.privileged)
    return {"id": world.app.id, "owner": user_json(world.app), "flags": flags} | texts | access


def _gateway(world: World) -> Json:
    limit = {
        "total": 1000,
        "remaining": world.sessions_left,
        "reset_after": world.sessions_reset_ms,
        "max_concurrency": world.max_concurrency,
    }
    return {
        "url": world.base.replace("http", "ws", 1) + "/gateway",
        "shards": world.recommended_shards,
        "session_start_limit": limit,
    }


def _thread_list(world: World, found: Iterable[Channel]) -> Json:
    me = world.app.id
    listed = list(found)
    mine = [thread_member_json(thread, me) for thread in listed if me in thread.facts.members]
    return {"threads": [channel_json(thread, me) for thread in listed], "members": mine}


def _guild_channels(world: World, guild: str) -> list[Json]:
    channels = world.guild(guild).channels.values()
    return [channel_json(channel, world.app.id) for channel in channels if channel.thread is None]


def _active_threads(world: World, guild: str) -> Json:
    return _thread_list(world, world.threads(world.guild(guild)))


def _thread_members(thread: Channel) -> list[Json]:
    return [thread_member_json(thread, user) for user in thread.facts.members]


READS: dict[str, Callable[[World, ApiCall], Any]] = {
    "/users/@me": lambda world, _: user_json(world.app),
    "/oauth2/applications/@me": lambda world, _: _application(world),
    "/gateway/bot": lambda world, _: _gateway(world),
    "/users/{user}": lambda world, call: user_json(world.user(call["user"])),
    "/guilds/{guild}": lambda world, call: guild_json(world.guild(call["guild"])),
    "/guilds/{guild}/channels": lambda world, call: _guild_channels(world, call["guild"]),
    "/guilds/{guild}/members/{user}": lambda world, call: member_json(world.member(call["guild"], call["user"])),
    "/guilds/{guild}/threads/active": lambda world, call: _active_threads(world, call["guild"]),
    "/channels/{channel}": lambda world, call: channel_json(world.channel(call["channel"]), world.app.id),
    "/channels/{channel}/thread-members": lambda world, call: _thread_members(world.channel(call["channel"])),
}
for template, read in READS.items():
    on("GET", template)(read)


@on("POST", "/users/@me/channels")
def open_dm(world: World, call: ApiCall) -> Json:
    return channel_json(world.dm(world.user(str(call.body["recipient_id"]))), world.app.id)


@on("GET", "/channels/{channel}/threads/archived/public")
def list_archived_threads(world: World, call: ApiCall) -> Json:
    """The latest first; `before` is a time."""
    channel = world.channel(call["channel"])
    world.require(channel, Permission.READ_MESSAGE_HISTORY)
    archived = world.threads(channel.server, archived=True)
    found = [thread for thread in archived if thread.parent is channel and not thread.private]
    found.sort(key=lambda thread: thread.facts.archived_at, reverse=True)
    if before := call.query.get("before"):
        found = [thread for thread in found if thread.facts.archived_at < datetime.fromisoformat(before)]
    page = found[: call.limit(50, 100)]
    return _thread_list(world, page) | {"has_more": len(found) > len(page)}


@on("PATCH", "/channels/{channel}")
def edit_thread(world: World, call: ApiCall) -> Json:
    """Archive or unarchive a thread: everybody who may write there, if it is not locked; others manage or own it."""
    thread = world.channel(call["channel"])
    archived = bool(call.body["archived"])
    may_write = world.app_can(Permission.SEND_MESSAGES_IN_THREADS, thread) and not thread.facts.locked
    may = may_write if not archived else thread.facts.owner == world.app.id
    if not (may or world.app_can(Permission.MANAGE_THREADS, thread)):
        raise ApiError(50013)
    threads.set_archived(world, thread, archived=archived, locked=thread.facts.locked)
    return channel_json(thread, world.app.id)


@on("DELETE", "/channels/{channel}")
def delete_thread(world: World, call: ApiCall) -> Json:
    thread = world.channel(call["channel"])
    world.require(thread, Permission.MANAGE_THREADS if thread.thread else Permission.MANAGE_CHANNELS)
    payload = channel_json(thread, world.app.id)
    threads.delete_channel(world, thread)
    return payload


@on("POST", "/channels/{channel}/messages/{message}/threads")
def start_thread(world: World, call: ApiCall) -> Json:
    channel = world.channel(call["channel"])
    message = world.message(channel, call["message"])
    world.require(channel, Permission.CREATE_PUBLIC_THREADS)
    name = check(ThreadBody, call.body).name
    return channel_json(start_thread_from(world, message, name, world.app), world.app.id)


@on("POST", "/channels/{channel}/threads")
def post_in_forum(world: World, call: ApiCall) -> Json:
    forum = world.channel(call["channel"])
    if forum.kind is not ChannelType.FORUM:
        raise ApiError(50024)
    name = check(ThreadBody, call.body).name
    world.require(forum, Permission.SEND_MESSAGES)
    message = create_forum_post(world, forum, name, world.app, parse_draft(call.body["message"], call.files))
    return channel_json(message.channel, world.app.id) | {"message": message_json(message, world)}


def start_thread_from(world: World, message: Message, name: str, owner: User) -> Channel:
    """Create a public thread that starts with a message and has its id."""
    channel = message.channel
    if channel.kind is not ChannelType.TEXT:
        raise ApiError(50024)
    if message.thread is not None or message.id in world.channels:
        raise ApiError(160004)
    thread = threads.create_thread(world, channel, ChannelType.PUBLIC_THREAD, name, owner, message.id)
    message.thread = thread
    message.flags |= MessageFlag.HAS_THREAD
    if channel.last_message != message.id:
        _post_thread_created(world, thread, owner)
    actions.emit_message_update(world, message)
    starter = actions.build_message(world, thread, message.author)
    actions.set_reference(starter, message)
    starter.kind = MessageType.THREAD_STARTER
    actions.post_message(world, starter, Draft())
    return thread


def start_thread_in(world: World, channel: Channel, kind: ChannelType, name: str, owner: User) -> Channel:
    """Create a thread without a first message."""
    thread = threads.create_thread(world, channel, kind, name, owner)
    if not thread.private:
        _post_thread_created(world, thread, owner)
    return thread


def _post_thread_created(world: World, thread: Channel, owner: User) -> None:
    """The note in the parent, unless the thread is below its newest message."""
    assert thread.parent is not None
    notice = actions.post_system_message(world, thread.parent, MessageType.THREAD_CREATED, owner, text=thread.name)
    notice.reference = {"type": 0, "channel_id": thread.id, "guild_id": thread.server.id}


def create_forum_post(world: World, forum: Channel, name: str, author: User, draft: Draft) -> Message:
    """Create a forum post: a thread whose first message has the same id."""
    thread = threads.create_thread(world, forum, ChannelType.PUBLIC_THREAD, name, author)
    message = actions.build_message(world, thread, author)
    message.id = forum.last_message = thread.id
    return actions.post_message(world, message, draft)
