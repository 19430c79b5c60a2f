"""Routes about threads: beginning one, who is in it, the archived ones."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from tests.support.discord_server.actions import SYSTEM, fresh, note, say, update
from tests.support.discord_server.channel_routes import duration
from tests.support.discord_server.drafts import Draft, draft_of
from tests.support.discord_server.embed_rules import text
from tests.support.discord_server.errors import Refused, invalid
from tests.support.discord_server.message_routes import shown
from tests.support.discord_server.model import Channel, Flag, Json, Kind, Message, Said, User
from tests.support.discord_server.payloads import member_json, thread_json, thread_member_json
from tests.support.discord_server.permissions import Can
from tests.support.discord_server.routing import NOTHING, Call, Reply, on
from tests.support.discord_server.threads import announce, begin, join, leave

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.discord_server.world import World

MEMBERS = 1 << 1


@on("POST", "/channels/{channel}/messages/{message}/threads")
def begin_from_message(world: World, call: Call) -> Reply:
    channel = world.channel(call["channel"])
    message = world.message(channel, call["message"])
    world.need(channel, Can.CREATE_PUBLIC_THREADS)
    if message.kind in SYSTEM:
        raise Refused(50021)
    name = text(call.body.get("name"), "name", 100, 1)
    minutes = duration(call.body.get("auto_archive_duration") or 1440)
    thread = thread_from(world, message, name, world.app)
    assert thread.thread is not None
    thread.thread.archive_after = minutes
    return Reply(201, thread_json(thread, world.app.id))


def thread_from(world: World, message: Message, name: str, owner: User) -> Channel:
    """A public thread that begins with a message, whose id it bears."""
    channel = message.channel
    if channel.kind not in {Kind.TEXT, Kind.NEWS}:
        raise Refused(50024)
    if message.thread is not None or message.id in world.channels:
        raise Refused(160004)
    kind = Kind.NEWS_THREAD if channel.kind is Kind.NEWS else Kind.PUBLIC_THREAD
    thread = begin(world, channel, kind, name, owner, message.id)
    message.thread = thread
    message.flags |= Flag.HAS_THREAD
    announce(world, thread)
    if channel.last_message != message.id:
        _note_begun(world, channel, thread, owner)
    update(world, message)
    starter = fresh(world, thread, message.author)
    starter.kind, starter.replied = Said.THREAD_STARTER, message
    assert channel.guild is not None
    starter.reference = {"type": 0, "message_id": message.id, "channel_id": channel.id, "guild_id": channel.guild.id}
    say(world, starter, Draft())
    return thread


def _note_begun(world: World, channel: Channel, thread: Channel, owner: User) -> None:
    """In the parent it is noted that a thread was begun: not at its newest message, which shows it anyhow."""
    assert channel.guild is not None
    begun = note(world, channel, Said.THREAD_CREATED, owner, text=thread.name)
    begun.reference = {"type": 0, "channel_id": thread.id, "guild_id": channel.guild.id}


@on("POST", "/channels/{channel}/threads")
def begin_without_message(world: World, call: Call) -> Reply:
    channel = world.channel(call["channel"])
    name = text(call.body.get("name"), "name", 100, 1)
    if channel.kind is Kind.FORUM:
        return _post(world, channel, name, call)
    if channel.kind not in {Kind.TEXT, Kind.NEWS}:
        raise Refused(50024)
    kind = Kind(call.body.get("type", Kind.PRIVATE_THREAD))
    if kind not in {Kind.NEWS_THREAD, Kind.PUBLIC_THREAD, Kind.PRIVATE_THREAD}:
        raise invalid("type", "BASE_TYPE_CHOICES", "Value must be one of (10, 11, 12).")
    private = kind is Kind.PRIVATE_THREAD
    world.need(channel, Can.CREATE_PRIVATE_THREADS if private else Can.CREATE_PUBLIC_THREADS)
    minutes = duration(call.body.get("auto_archive_duration") or 1440)
    thread = thread_in(world, channel, kind, name, world.app)
    assert thread.thread is not None
    thread.thread.archive_after = minutes
    thread.thread.invitable = bool(call.body.get("invitable", True))
    return Reply(201, thread_json(thread, world.app.id))


def thread_in(world: World, channel: Channel, kind: Kind, name: str, owner: User) -> Channel:
    """A thread that begins with no message."""
    thread = begin(world, channel, kind, name, owner)
    announce(world, thread)
    if not thread.private:
        _note_begun(world, channel, thread, owner)
    return thread


def _post(world: World, forum: Channel, name: str, call: Call) -> Reply:
    world.need(forum, Can.SEND_MESSAGES)
    draft = draft_of(call.body.get("message") or {}, call.files)
    if draft.empty:
        raise Refused(50006)
    thread, message = post_in(world, forum, name, world.app, draft)
    return Reply(201, thread_json(thread, world.app.id) | {"message": shown(message, world)})


def post_in(world: World, forum: Channel, name: str, author: User, draft: Draft) -> tuple[Channel, Message]:
    """A forum post: a thread, and in it the message that bears the same id."""
    thread = begin(world, forum, Kind.PUBLIC_THREAD, name, author)
    announce(world, thread)
    message = fresh(world, thread, author)
    message.id = thread.id
    forum.last_message = thread.id
    return thread, say(world, message, draft)


def _thread(world: World, call: Call) -> Channel:
    channel = world.channel(call["channel"])
    if channel.thread is None:
        raise Refused(50024)
    return channel


def _active(thread: Channel) -> None:
    if thread.thread is not None and thread.thread.archived:
        raise Refused(50083)


@on("PUT", "/channels/{channel}/thread-members/@me")
def enter(world: World, call: Call) -> Reply:
    thread = _thread(world, call)
    _active(thread)
    join(world, thread, [world.app.id])
    return NOTHING


@on("DELETE", "/channels/{channel}/thread-members/@me")
def go(world: World, call: Call) -> Reply:
    thread = _thread(world, call)
    _active(thread)
    leave(world, thread, [world.app.id])
    return NOTHING


@on("PUT", "/channels/{channel}/thread-members/{user}")
def add(world: World, call: Call) -> Reply:
    thread = _thread(world, call)
    _active(thread)
    world.need(thread, Can.SEND_MESSAGES_IN_THREADS)
    assert thread.guild is not None
    take_in(world, thread, world.app, [world.member(thread.guild, call["user"]).user])
    return NOTHING


def take_in(world: World, thread: Channel, host: User, guests: list[User]) -> None:
    """Somebody adds others to a thread, which is noted there."""
    assert thread.thread is not None
    for guest in guests:
        if guest.id not in thread.thread.members:
            join(world, thread, [guest.id])
            note(world, thread, Said.RECIPIENT_ADD, host, about=guest)


@on("DELETE", "/channels/{channel}/thread-members/{user}")
def put_out(world: World, call: Call) -> Reply:
    thread = _thread(world, call)
    _active(thread)
    assert thread.thread is not None
    if not (thread.private and thread.thread.owner == world.app.id):
        world.need(thread, Can.MANAGE_THREADS)
    leave(world, thread, [call["user"]])
    return NOTHING


@on("GET", "/channels/{channel}/thread-members/{user}")
def get_member(world: World, call: Call) -> Json:
    thread = _thread(world, call)
    assert thread.thread is not None
    user = world.app.id if call["user"] == "@me" else call["user"]
    if user not in thread.thread.members:
        raise Refused(10007)
    return thread_member_json(thread, user, thread.thread.members[user])


@on("GET", "/channels/{channel}/thread-members")
def list_members(world: World, call: Call) -> list[Json]:
    thread = _thread(world, call)
    if not world.privileged & MEMBERS:
        raise Refused(50001)
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
def archived_public(world: World, call: Call) -> Json:
    channel = world.channel(call["channel"])
    world.need(channel, Can.READ_MESSAGE_HISTORY)
    return _archived(world, channel, call, lambda thread: not thread.private)


@on("GET", "/channels/{channel}/threads/archived/private")
def archived_private(world: World, call: Call) -> Json:
    channel = world.channel(call["channel"])
    world.need(channel, Can.READ_MESSAGE_HISTORY, Can.MANAGE_THREADS)
    return _archived(world, channel, call, lambda thread: thread.private)


@on("GET", "/channels/{channel}/users/@me/threads/archived/private")
def archived_mine(world: World, call: Call) -> Json:
    channel = world.channel(call["channel"])
    world.need(channel, Can.READ_MESSAGE_HISTORY)

    def mine(thread: Channel) -> bool:
        return thread.private and thread.thread is not None and world.app.id in thread.thread.members

    return _archived(world, channel, call, mine, by_id=True)


def _archived(
    world: World, channel: Channel, call: Call, fits: Callable[[Channel], bool], *, by_id: bool = False
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
