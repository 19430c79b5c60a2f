"""The page that a person finds at the bot's own place: what it knows that they may read, and what they can do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.cli.render.tables import counted
from bot.commands import offered
from bot.commands.help import overview
from bot.errors import PlatformError
from bot.platform.models import Button, Card, Place
from bot.text.markdown import plain
from bot.text.times import ago
from bot.texts import prefix

if TYPE_CHECKING:
    from datetime import datetime

    from bot.context import House
    from engine.models import Scope

ROOMS = 30  # channels that are listed; further ones are counted


async def homepage(house: House, platform: str, workspace: str, person: str, now: datetime) -> Card:
    """The page of one person of a workspace. Raises PlatformError if the workspace does not know them."""
    place = Place(platform, workspace, "")
    known = await house.readers.person(platform, workspace, person)
    scope = await house.readers.scope_alone(place, person)
    out = await house.store.people.opted_out(platform, workspace, person)
    parts = (
        await _numbers(house, scope),
        await _rooms(house, place, scope, now),
        _oneself(platform, out=out),
        overview(platform, offered(platform), manager=known.manager),
    )
    return Card("\n\n".join(parts), buttons=() if out else (Button("Forget me", "forget", "me"),))


async def _numbers(house: House, scope: Scope) -> str:
    status = await house.desk.engine.status(scope)
    total, waiting = sum(status.documents.values()), status.documents.get("pending", 0)
    lines = [f"**What I know that you may read**\n{counted(total, 'document')}, {counted(status.passages, 'passage')}"]
    lines += [f"{counted(status.entities, 'entity')}, {counted(status.relations, 'relation')}"] if scope.spaces else []
    lines += [f"{counted(waiting, 'document')} to be read yet"] if waiting else []
    return "; ".join(lines) + "."


async def _rooms(house: House, place: Place, scope: Scope, now: datetime) -> str:
    """The channels that are read and that the person may read, with when they were last heard."""
    lines = []
    for room in await house.store.rooms.known(place.platform, place.workspace):
        if (await house.store.channels.get(room.room)).ingest and await _readable(house, room, scope):
            last = await house.store.messages.newest(room.room)
            name = plain(await house.store.rooms.name(room.room) or room.channel)
            lines.append(f"- **#{name}**" + (f", last heard {ago(last, now)}" if last else ""))
    if not lines:
        return "I read no channel that you can read. Invite me to one, or ask a manager to."
    further = [f"- … and {counted(len(lines) - ROOMS, 'further channel')}"] if len(lines) > ROOMS else []
    return "\n".join(["**Channels that I read**", *lines[:ROOMS], *further])


async def _readable(house: House, room: Place, scope: Scope) -> bool:
    try:
        return room.room in scope.rooms or await house.readers.home(room) in scope.spaces
    except PlatformError:
        return False


def _oneself(platform: str, *, out: bool) -> str:
    begin = f"`{prefix(platform)}"
    if out:
        return f"**You**\nYou asked me to know nothing of you. {begin}remember-me` changes that."
    return (
        f"**You**\nWhat you write in these channels, I read. `Forget me` below, or {begin}forget-me`, has all of it "
        f"forgotten for good, and nothing further read; {begin}forget` a single message or file."
    )
