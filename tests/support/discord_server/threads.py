"""Threads: how they begin, who is in them, how they sleep and wake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.discord_server.model import Channel, ChannelType, Json, ThreadFacts, User
from tests.support.discord_server.payloads import member_json, thread_json, thread_member_json

if TYPE_CHECKING:
    from tests.support.discord_server.world import World

GUILDS, MEMBERS = 1 << 0, 1 << 1


def create_thread(world: World, parent: Channel, kind: ChannelType, name: str, owner: User, ident: str = "") -> Channel:
    """A new thread with its owner in it; `ident` is the message that it begins with."""
    assert parent.guild is not None
    now = world.clock.now()
    facts = ThreadFacts(owner=owner.id, created=now, archived_at=now)
    thread = Channel(ident or world.ids.next(), kind, name, parent.guild, parent, thread=facts)
    facts.members[owner.id] = now
    world.channels[thread.id] = parent.guild.channels[thread.id] = thread
    return thread


def emit_thread_created(world: World, thread: Channel) -> None:
    """Tell of a new thread, if the app may see it."""
    if world.can_view(world.app, thread):
        world.emit("THREAD_CREATE", thread_json(thread, world.app.id) | {"newly_created": True}, GUILDS)


def add_members(world: World, thread: Channel, users: list[str]) -> None:
    """People come into a thread; who is in it already stays as they are."""
    facts, guild = thread.thread, thread.guild
    assert facts is not None
    assert guild is not None
    new = [user for user in dict.fromkeys(users) if user not in facts.members and user in guild.members]
    if not new:
        return
    saw = world.can_view(world.app, thread)
    for user in new:
        facts.members[user] = world.clock.now()
    if world.app.id in new:
        world.emit("THREAD_CREATE", thread_json(thread, world.app.id), GUILDS)
    if saw or world.app.id in new:
        added = [
            thread_member_json(thread, user, facts.members[user])
            | {"member": member_json(guild.members[user]), "presence": None}
            for user in new
        ]
        _emit_members(world, thread, {"added_members": added}, new)


def remove_members(world: World, thread: Channel, users: list[str]) -> None:
    """People go out of a thread."""
    assert thread.thread is not None
    gone = [user for user in users if user in thread.thread.members]
    saw = world.can_view(world.app, thread)
    for user in gone:
        del thread.thread.members[user]
    if gone and saw:
        _emit_members(world, thread, {"removed_member_ids": gone}, gone)


def unarchive(world: World, thread: Channel) -> None:
    """A message in an archived thread brings it back."""
    assert thread.thread is not None
    if thread.thread.archived:
        thread.thread.archived = False
        thread.thread.archived_at = world.clock.now()
        emit_thread_updated(world, thread)


def emit_thread_updated(world: World, thread: Channel) -> None:
    if world.can_view(world.app, thread):
        world.emit("THREAD_UPDATE", thread_json(thread, world.app.id), GUILDS)
    world.notify_waiters()


def delete_thread(world: World, thread: Channel) -> None:
    """A thread is deleted, with all that was said in it."""
    assert thread.guild is not None
    assert thread.parent is not None
    saw = world.can_view(world.app, thread)
    thread.deleted = True
    thread.guild.channels.pop(thread.id, None)
    for message in thread.messages.values():
        for attachment in message.attachments:
            attachment.gone = True
    if saw:
        about = {"id": thread.id, "guild_id": thread.guild.id, "parent_id": thread.parent.id, "type": int(thread.kind)}
        world.emit("THREAD_DELETE", about, GUILDS)
    world.notify_waiters()


def _emit_members(world: World, thread: Channel, change: Json, whom: list[str]) -> None:
    """Without the members intent an app hears only of itself."""
    assert thread.thread is not None
    assert thread.guild is not None
    about = {"id": thread.id, "guild_id": thread.guild.id, "member_count": min(50, len(thread.thread.members))}
    world.emit("THREAD_MEMBERS_UPDATE", about | change, GUILDS if world.app.id in whom else MEMBERS)
    world.notify_waiters()
