"""The home page of a person: the indexed content that they can read, and the commands that they have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.commands.help import format_overview
from bot.commands.table import list_commands
from bot.errors import PlatformError
from bot.i18n import use_language
from bot.platform.models import Button, Card, Location
from bot.text.format import format_ago, pluralize
from bot.text.markdown import escape_markdown

if TYPE_CHECKING:
    from datetime import datetime

    from bot.context import BotContext
    from bot.platform.traits import PlatformTraits
    from engine import Scope

MAX_CHANNELS = 30  # channels that are listed; further ones are counted


async def build_home_card(context: BotContext, platform: str, workspace: str, person: str, now: datetime) -> Card:
    """Build the home page of one person. Raises PlatformError if the workspace does not know them."""
    location = Location(platform, workspace, "")
    with use_language(await context.find_person_language(location, person)):
        return await _build_card(context, location, person, now)


async def _build_card(context: BotContext, location: Location, person: str, now: datetime) -> Card:
    platform, workspace = location.platform, location.workspace
    known = await context.audience.get_person(platform, workspace, person)
    scope = await context.audience.scope_for_person(location, person)
    out = await context.store.opt_outs.is_opted_out(platform, workspace, person)
    traits = context.traits_of(platform)
    parts = (
        await _format_counts(context, scope),
        await _format_channels(context, location, scope, now),
        _format_privacy(traits, out=out),
        format_overview(traits, list_commands(traits), manager=known.is_manager),
    )
    return Card("\n\n".join(parts), buttons=() if out else (Button("Forget me", "forget", "me"),))


async def _format_counts(context: BotContext, scope: Scope) -> str:
    status = await context.engine_context.engine.get_status(scope)
    total, waiting = sum(status.documents.values()), status.documents.get("pending", 0)
    lines = [
        f"**Indexed content you can read**\n{pluralize(total, 'document')}, {pluralize(status.passages, 'passage')}"
    ]
    lines += (
        [f"{pluralize(status.entities, 'entity')}, {pluralize(status.relations, 'relation')}"] if scope.spaces else []
    )
    lines += [f"{pluralize(waiting, 'document')} to index"] if waiting else []
    return "; ".join(lines) + "."


async def _format_channels(context: BotContext, location: Location, scope: Scope, now: datetime) -> str:
    """The channels that the bot reads and the person can read, with the age of the last message."""
    lines = []
    for room in await context.store.channels.list_joined(location.platform, location.workspace):
        if (await context.get_channel_settings(room.room)).ingest and await _can_read_channel(context, room, scope):
            last = await context.store.messages.get_newest_time(room.room)
            name = escape_markdown(await context.store.channels.get_name(room.room) or room.channel)
            lines.append(f"- **#{name}**" + (f", last message {format_ago(last, now)}" if last else ""))
    if not lines:
        return "I don't read any channel that you can read. Invite me to one, or ask a manager to."
    further = (
        [f"- … and {pluralize(len(lines) - MAX_CHANNELS, 'further channel')}"] if len(lines) > MAX_CHANNELS else []
    )
    return "\n".join(["**Channels that I read**", *lines[:MAX_CHANNELS], *further])


async def _can_read_channel(context: BotContext, room: Location, scope: Scope) -> bool:
    try:
        return room.room in scope.rooms or await context.audience.get_home_space(room) in scope.spaces
    except PlatformError:
        return False


def _format_privacy(traits: PlatformTraits, *, out: bool) -> str:
    begin = f"`{traits.command_prefix}"
    if out:
        return f"**You**\nYou asked me not to read your messages. {begin}remember-me` changes that."
    return (
        f"**You**\nI read what you write in these channels. `Forget me` below, or {begin}forget-me`, deletes all of it "
        f"permanently and stops me from reading more; {begin}forget` removes a single message or file."
    )
