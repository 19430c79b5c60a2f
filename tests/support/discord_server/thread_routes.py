"""Routes about threads: beginning one, who is in it, the archived ones."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from tests.support.discord_server.actions import (
    SYSTEM,
    build_message,
    emit_message_update,
    post_message,
    post_system_message,
)
from tests.support.discord_server.channel_routes import check_archive_duration
from tests.support.discord_server.drafts import Draft, parse_draft
from tests.support.discord_server.embed_rules import check_text
from tests.support.discord_server.errors import ApiError, invalid_form
from tests.support.discord_server.message_routes import visible_message_json
from tests.support.discord_server.model import Channel, ChannelType, Json, Message, MessageFlag, MessageType, User
from tests.support.discord_server.payloads import member_json, thread_json, thread_member_json
from tests.support.discord_server.permissions import Permission
from tests.support.discord_server.routing import NOTHING, ApiCall, ApiReply, on
from tests.support.discord_server.threads import add_members, create_thread, emit_thread_created, remove_members

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.discord_server.world import World

MEMBERS = 1 << 1


@on("POST", "/channels/{channel}/messages/{message}/threads")
def create_from_message(world: World, call: ApiCall) -> ApiReply:
    channel = world.channel(call["channel"])
    message = world.message(channel, call["message"])
    world.require(channel, Permission.CREATE_PUBLIC_THREADS)
    if message.kind in SYSTEM:
        raise ApiError(50021)
    name = check_text(call.body.get("name"), "name", 100, 1)
    minutes = check_archive_duration(call.body.get("auto_archive_duration") or 1440)
    thread = create_thread_from(world, message, name, world.app)
    assert thread.thread is not None
    thread.thread.archive_after = minutes
    return ApiReply(201, thread_json(thread, world.app.id))


def create_thread_from(world: World, message: Message, name: str, owner: User) -> Channel:
    """A public thread that begins with a message, whose id it bears."""
    channel = message.channel
    if channel.kind not in {ChannelType.TEXT, ChannelType.NEWS}:
        raise ApiError(50024)
    if message.thread is not None or message.id in world.channels:
        raise ApiError(160004)
    kind = ChannelType.NEWS_THREAD if channel.kind is ChannelType.NEWS else ChannelType.PUBLIC_THREAD
    thread = create_thread(world, channel, kind, name, owner, message.id)
    message.thread = thread
    message.flags |= MessageFlag.HAS_THREAD
    emit_thread_created(world, thread)
    if channel.last_message != message.id:
        _post_thread_created(world, channel, thread, owner)
    emit_message_update(world, message)
    starter = build_message(world, thread, message.author)
    starter.kind, starter.replied = MessageType.THREAD_STARTER, message
    assert channel.guild is not None
    starter.reference = {"type": 0, "message_id": message.id, "channel_id": channel.id, "guild_id": channel.guild.id}
    post_message(world, starter, Draft())
    return thread


def _post_thread_created(world: World, channel: Channel, thread: Channel, owner: User) -> None:
    """In the parent it is noted that a thread was begun: not at its newest message, which shows it anyhow."""
    assert channel.guild is not None
    begun = post_system_message(world, channel, MessageType.THREAD_CREATED, owner, text=thread.name)
    begun.reference = {"type": 0, "channel_id": thread.id, "guild_id": channel.guild.id}


@on("POST", "/channels/{channel}/threads")
def create_without_message(world: World, call: ApiCall) -> ApiReply:
    channel = world.channel(call["channel"])
    name = check_text(call.body.get("name"), "name", 100, 1)
    if channel.kind is ChannelType.FORUM:
        return _post(world, channel, name, call)
    if channel.kind not in {ChannelType.TEXT, ChannelType.NEWS}:
        raise ApiError(50024)
    kind = ChannelType(call.body.get("type", ChannelType.PRIVATE_THREAD))
    if kind not in {ChannelType.NEWS_THREAD, ChannelType.PUBLIC_THREAD, ChannelType.PRIVATE_THREAD}:
        raise invalid_form("type", "BASE_TYPE_CHOICES", "Value must be one of (10, 11, 12).")
    private = kind is ChannelType.PRIVATE_THREAD
    world.require(channel, Permission.CREATE_PRIVATE_THREADS if private else Permission.CREATE_PUBLIC_THREADS)
    minutes = check_archive_duration(call.body.get("auto_archive_duration") or 1440)
    thread = create_thread_in(world, channel, kind, name, world.app)
    assert thread.thread is not None
    thread.thread.archive_after = minutes
    thread.thread.invitable = bool(call.body.get("invitable", True))
    return ApiReply(201, thread_json(thread, world.app.id))


def create_thread_in(world: World, channel: Channel, kind: ChannelType, name: str, owner: User) -> Channel:
    """A thread that begins with no message."""
    thread = create_thread(world, channel, kind, name, owner)
    emit_thread_created(world, thread)
    if not thread.private:
        _post_thread_created(world, channel, thread, owner)
    return thread


def _post(world: World, forum: Channel, name: str, call: ApiCall) -> ApiReply:
    world.require(forum, Permission.SEND_MESSAGES)
    draft = parse_draft(call.body.get("message") or {}, call.files)
    if draft.empty:
        raise ApiError(50006)
    thread, message = create_forum_post(world, forum, name, world.app, draft)
    return ApiReply(201, thread_json(thread, world.app.id) | {"message": visible_message_json(message, world)})


def create_forum_post(world: World, forum: Channel, name: str, author: User, draft: Draft) -> tuple[Channel, Message]:
    """A forum post: a thread, and in it the message that bears the same id."""
    thread = create_thread(world, forum, ChannelType.PUBLIC_THREAD, name, author)
    emit_thread_created(world, thread)
    message = build_message(world, thread, author)
    message.id = thread.id
    forum.last_message = thread.id
    return thread, post_message(world, message, draft)


def _thread(world: World, call: ApiCall) -> Channel:
    channel = world.channel(call["channel"])
    if channel.thread is None:
        raise ApiError(50024)
    return channel


def _active(thread: Channel) -> None:
    if thread.thread is not None and thread.thread.archived:
        raise ApiError(50083)


@on("PUT", "/channels/{channel}/thread-members/@me")
def join_thread(world: World, call: ApiCall) -> ApiReply:
    thread = _thread(world, call)
    _active(thread)
    add_members(world, thread, [world.app.id])
    return NOTHING


@on("DELETE", "/channels/{channel}/thread-members/@me")
def leave_thread(world: World, call: ApiCall) -> ApiReply:
    thread = _thread(world, call)
    _active(thread)
    remove_members(world, thread, [world.app.id])
    return NOTHING


@on("PUT", "/channels/{channel}/thread-members/{user}")
def add_member(world: World, call: ApiCall) -> ApiReply:
    thread = _thread(world, call)
    _active(thread)
    world.require(thread, Permission.SEND_MESSAGES_IN_THREADS)
    assert thread.guild is not None
    invite_members(world, thread, world.app, [world.member(thread.guild, call["user"]).user])
    return NOTHING


def invite_members(world: World, thread: Channel, host: User, guests: list[User]) -> None:
    """Somebody adds others to a thread, which is noted there."""
    assert thread.thread is not None
    for guest in guests:
        if guest.id not in thread.thread.members:
            add_members(world, thread, [guest.id])
            post_system_message(world, thread, MessageType.RECIPIENT_ADD, host, about=guest)


@on("DELETE", "/channels/{channel}/thread-members/{user}")
def remove_member(world: World, call: ApiCall) -> ApiReply:
    thread = _thread(world, call)
    _active(thread)
    assert thread.thread is not None
    if not (thread.private and thread.thread.owner == world.app.id):
        world.require(thread, Permission.MANAGE_THREADS)
    remove_members(world, thread, [call["user"]])
    return NOTHING


@on("GET", "/channels/{channel}/thread-members/{user}")
def get_member(world: World, call: ApiCall) -> Json:
    thread = _thread(world, call)
    assert thread.thread is not None
    user = world.app.id if call["user"] == "@me" else call["user"]
    if user not in thread.thread.members:
        raise ApiError(10007)
    return thread_member_json(thread, user, thread.thread.members[user])


@on("GET", "/channels/{channel}/thread-members")
def list_members(world: World, call: ApiCall) -> list[Json]:
    thread = _thread(world, call)
    if not world.privileged & MEMBERS:
        raise ApiError(50001)
    assert thread.thread is not None
    assert thread.guild is not None
    entries = []
    for user, joined in sorted(thread.thread.members.items(), key=lambda pair: int(pair[0])):
        entry = thread_member_json(thread, user, joined)
        if call.query.get("with_member") in {"1", "true"} and user in thread.guild.members:
            entry["member"] = member_json(thread.guild.members[user])
        entries.append(entry)
    return entries


@on("GET", "/channels/{channel}/threads/archived/public")
def archived_public(world: World, call: ApiCall) -> Json:
    channel = world.channel(call["channel"])
    world.require(channel, Permission.READ_MESSAGE_HISTORY)
    return _archived(world, channel, call, lambda thread: not thread.private)


@on("GET", "/channels/{channel}/threads/archived/private")
def archived_private(world: World, call: ApiCall) -> Json:
    channel = world.channel(call["channel"])
    world.require(channel, Permission.READ_MESSAGE_HISTORY, Permission.MANAGE_THREADS)
    return _archived(world, channel, call, lambda thread: thread.private)


@on("GET", "/channels/{channel}/users/@me/threads/archived/private")
def archived_joined(world: World, call: ApiCall) -> Json:
    channel = world.channel(call["channel"])
    world.require(channel, Permission.READ_MESSAGE_HISTORY)

    def mine(thread: Channel) -> bool:
        return thread.private and thread.thread is not None and world.app.id in thread.thread.members

    return _archived(world, channel, call, mine, by_id=True)


def _archived(
    world: World, channel: Channel, call: ApiCall, fits: Callable[[Channel], bool], *, by_id: bool = False
) -> Json:
    assert channel.guild is not None
    limit = call.number("limit", 50, 2, 100)
    asleep = [
        (thread, facts)
        for thread in world.threads(channel.guild)
        if thread.parent is channel and (facts := thread.thread) is not None and facts.archived and fits(thread)
    ]
    before = call.query.get("before")
    if by_id:
        asleep.sort(key=lambda pair: int(pair[0].id), reverse=True)
        asleep = [pair for pair in asleep if before is None or int(pair[0].id) < int(before)]
    else:
        asleep.sort(key=lambda pair: pair[1].archived_at, reverse=True)
        moment = datetime.fromisoformat(before) if before else None
        asleep = [pair for pair in asleep if moment is None or pair[1].archived_at < moment]
    page = asleep[:limit]
    me = world.app.id
    return {
        "threads": [thread_json(thread, me) for thread, _ in page],
        "members": [thread_member_json(one, me, facts.members[me]) for one, facts in page if me in facts.members],
        "has_more": len(asleep) > limit,
    }
