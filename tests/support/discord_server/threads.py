"""Threads: members, archiving, deletion; and the deletion of channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.discord_server.model import Channel, ChannelType, Intent, Json, ThreadFacts, User
from tests.support.discord_server.payloads import channel_json, member_json, thread_member_json

if TYPE_CHECKING:
    from tests.support.discord_server.world import World


def create_thread(world: World, parent: Channel, kind: ChannelType, name: str, owner: User, ident: str = "") -> Channel:
    """Create a thread with its owner in it; `ident` is the message that it starts with."""
    now = world.clock.now()
    facts = ThreadFacts(owner.id, archived_at=now, members={owner.id: now})
    thread = Channel(ident or world.ids.next(), kind, name, parent.guild, parent, thread=facts)
    world.channels[thread.id] = parent.server.channels[thread.id] = thread
    if world.can_view(world.app, thread):
        payload = channel_json(thread, world.app.id) | {"newly_created": True}
        world.emit("THREAD_CREATE", payload, Intent.GUILDS)
    return thread


def add_members(world: World, thread: Channel, users: list[str]) -> None:
    """Add members of the guild to a thread."""
    members = thread.server.members
    new = [user for user in dict.fromkeys(users) if user not in thread.facts.members and user in members]
    if not new:
        return
    saw = world.can_view(world.app, thread)
    thread.facts.members |= dict.fromkeys(new, world.clock.now())
    if world.app.id in new:
        world.emit("THREAD_CREATE", channel_json(thread, world.app.id), Intent.GUILDS)
    if saw or world.app.id in new:
        added = [thread_member_json(thread, user) | {"member": member_json(members[user])} for user in new]
        _emit_members(world, thread, {"added_members": added}, new)


def remove_members(world: World, thread: Channel, users: list[str]) -> None:
    """Remove people from a thread."""
    gone = [user for user in users if user in thread.facts.members]
    saw = world.can_view(world.app, thread)
    for user in gone:
        del thread.facts.members[user]
    if gone and saw:
        _emit_members(world, thread, {"removed_member_ids": gone}, gone)


def set_archived(world: World, thread: Channel, *, archived: bool = True, locked: bool = False) -> None:
    """Archive or unarchive a thread."""
    thread.facts.archived, thread.facts.locked = archived, locked
    thread.facts.archived_at = world.clock.now()
    emit_thread_updated(world, thread)


def unarchive(world: World, thread: Channel) -> None:
    """Unarchive a thread in which somebody posts."""
    if thread.facts.archived:
        set_archived(world, thread, archived=False, locked=thread.facts.locked)


def emit_thread_updated(world: World, thread: Channel) -> None:
    if world.can_view(world.app, thread):
        world.emit("THREAD_UPDATE", channel_json(thread, world.app.id), Intent.GUILDS)


def delete_channel(world: World, channel: Channel) -> None:
    """Delete a thread, or a channel with its threads, and all their files."""
    saw = world.can_view(world.app, channel)
    payload = channel_json(channel, world.app.id)
    inside = [thread for thread in channel.server.channels.values() if thread.parent is channel]
    for gone in [*inside, channel]:
        gone.deleted = True
        gone.server.channels.pop(gone.id, None)
        for message in gone.messages.values():
            for attachment in message.attachments:
                attachment.gone = True
    if saw or channel.thread is None:
        world.emit("THREAD_DELETE" if channel.thread else "CHANNEL_DELETE", payload, Intent.GUILDS)


def _emit_members(world: World, thread: Channel, change: Json, whom: list[str]) -> None:
    """Without the members intent an app gets only events about itself."""
    about = {"id": thread.id, "guild_id": thread.server.id, "member_count": min(50, len(thread.facts.members))}
    intent = Intent.GUILDS if world.app.id in whom else Intent.MEMBERS
    world.emit("THREAD_MEMBERS_UPDATE", about | change, intent)
