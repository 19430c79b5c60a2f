"""The home page of a person: the indexed content that they can read, and the commands that they have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.commands.help import format_overview
from bot.commands.overviews.my_data import COMMAND
from bot.commands.table import list_commands
from bot.errors import PlatformError
from bot.i18n import N_, gettext, use_language
from bot.platform.models import Button, Card, Location
from bot.text.format import format_ago, pluralize
from bot.text.markdown import escape_markdown
from bot.texts import opted_out_notice

if TYPE_CHECKING:
    from datetime import datetime

    from bot.context import BotContext
    from bot.platform.traits import PlatformTraits
    from engine import Scope

FORGET_ME_BUTTON = N_("Forget me")
MY_DATA_BUTTON = N_("My data")
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
    own = (Button(gettext(MY_DATA_BUTTON), COMMAND, ""),)
    forget = () if out else (Button(gettext(FORGET_ME_BUTTON), "forget", "me"),)
    return Card("\n\n".join(parts), buttons=(*own, *forget))


async def _format_counts(context: BotContext, scope: Scope) -> str:
    status = await context.engine_context.engine.maintenance.get_status(scope)
    total, waiting = sum(status.documents.values()), status.documents.get("pending", 0)
    documents = pluralize(total, "{count} document", "{count} documents")
    lines = [f"{documents}, {pluralize(status.passages, '{count} message or page', '{count} messages and pages')}"]
    if scope.spaces:
        entities = pluralize(status.entities, "{count} name", "{count} names")
        lines.append(f"{entities}, {pluralize(status.relations, '{count} relation', '{count} relations')}")
    if waiting:
        lines.append(pluralize(waiting, "{count} document to index", "{count} documents to index"))
    return f"**{gettext('Indexed content you can read')}**\n{'; '.join(lines)}."


async def _format_channels(context: BotContext, location: Location, scope: Scope, now: datetime) -> str:
    """The channels that the bot reads and the person can read, with the age of the last message."""
    lines = []
    for room in await context.store.channels.list_joined(location.platform, location.workspace):
        if (await context.get_channel_settings(room.room)).ingest and await _can_read_channel(context, room, scope):
            last = await context.store.messages.get_newest_time(room.room)
            name = escape_markdown(await context.store.channels.get_name(room.room) or room.channel)
            age = gettext(", last message {ago}").format(ago=format_ago(last, now)) if last else ""
            lines.append(f"- **#{name}**{age}")
    if not lines:
        return gettext("I don't read any channel that you can read. Invite me to one, or ask a manager to.")
    shown, further = lines[:MAX_CHANNELS], len(lines) - MAX_CHANNELS
    if further > 0:
        shown.append(f"- {pluralize(further, '… and {count} further channel', '… and {count} further channels')}")
    return "\n".join([f"**{gettext('Channels that I read')}**", *shown])


async def _can_read_channel(context: BotContext, room: Location, scope: Scope) -> bool:
    try:
        return room.room in scope.rooms or await context.audience.get_home_space(room) in scope.spaces
    except PlatformError:
        return False


def _format_privacy(traits: PlatformTraits, *, out: bool) -> str:
    if out:
        text = opted_out_notice(traits)
    else:
        text = gettext(
            "I read what you write in these channels. `{button}` below, or `{forget_me}`, deletes all of it "
            "permanently and stops me from reading more; `{forget}` removes a single message or file."
        ).format(
            button=gettext(FORGET_ME_BUTTON),
            forget_me=f"{traits.command_prefix}forget-me",
            forget=f"{traits.command_prefix}forget",
        )
    return f"**{gettext('You')}**\n{text}"
