"""Whom a text names, and who of them really gets a notification."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.support.discord_server.permissions import Permission

if TYPE_CHECKING:
    from tests.support.discord_server.model import Channel, Json, Message, User
    from tests.support.discord_server.world import World

CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
USER = re.compile(r"<@!?(\d+)>")
ROLE = re.compile(r"<@&(\d+)>")
EVERYONE = re.compile(r"@(everyone|here)\b")
USERS_ONLY: dict[str, list[str]] = {"parse": ["users"]}


@dataclass(slots=True)
class ResolvedMentions:
    """Whom a message names with effect: people, roles, everybody, and who is pinged by it."""

    users: list[User] = field(default_factory=list)
    roles: list[str] = field(default_factory=list)
    everyone: bool = False
    pinged: set[str] = field(default_factory=set)


def resolve_mentions(
    world: World, channel: Channel, author: User, content: str, allowed: Json | None
) -> ResolvedMentions:
    """Read the mentions in a text, as far as `allowed` lets them count (None: all of them)."""
    text = CODE.sub("", content)
    powers = world.permissions_of(author, channel)
    found = ResolvedMentions()
    for user in dict.fromkeys(USER.findall(text)):
        if user in world.users and _is_allowed(allowed, "users", user):
            found.users.append(world.users[user])
            found.pinged.add(user)
    if channel.guild is None:
        found.pinged &= {reader.id for reader in world.readers(channel)}
        return found
    for role in dict.fromkeys(ROLE.findall(text)):
        known = channel.guild.roles.get(role)
        if known is None or not _is_allowed(allowed, "roles", role):
            continue
        found.roles.append(role)
        if known.mentionable or Permission.MENTION_EVERYONE in powers:
            found.pinged |= {one.user.id for one in channel.guild.members.values() if role in one.roles}
    if EVERYONE.search(text) and Permission.MENTION_EVERYONE in powers and _is_allowed(allowed, "everyone", ""):
        found.everyone = True
        found.pinged |= set(channel.guild.members)
    found.pinged &= {reader.id for reader in world.readers(channel)}
    found.pinged.discard(author.id)
    return found


def add_reply_mention(found: ResolvedMentions, replied: Message, author: User, allowed: Json | None) -> None:
    """A reply names the author of what it answers, unless the client says otherwise."""
    if allowed is not None and not allowed.get("replied_user", False):
        return
    if replied.author not in found.users:
        found.users.append(replied.author)
    if replied.author is not author:
        found.pinged.add(replied.author.id)


def _is_allowed(allowed: Json | None, kind: str, one: str) -> bool:
    if allowed is None or kind in (allowed.get("parse") or []):
        return True
    return one in {str(entry) for entry in allowed.get(kind) or []}
