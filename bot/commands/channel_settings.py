"""Commands of managers for a channel: its settings, and back-fill of its history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.commands.settings.changes import change_settings, format_value, list_fields
from bot.commands.settings.fields import FORM_TITLES
from bot.i18n import gettext
from bot.ingest.estimates import describe_estimate, estimate_history
from bot.platform.models import Button, Card
from bot.text.format import pluralize
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from bot.commands.context import CommandContext, PersonAtPlace

MAX_DAYS = 3650


async def settings_command(call: CommandContext) -> Card:
    """Show or change the settings of this channel."""
    await call.require_manager(gettext("see or change settings"))
    name, _, value = call.arguments.partition(" ")
    if name and not (name in FORM_TITLES and not value):
        return await change_settings(call, {name.casefold(): value.strip().strip('"“”')})
    return await _show_settings(call)


async def _show_settings(call: CommandContext) -> Card:
    """Show the settings, with a button for each form of them where the platform has forms."""
    now = await call.services.context.get_channel_settings(call.location.room)
    fields = await list_fields(call)
    values = [
        f"- `{each.name}` is {await format_value(call, each, now)}: {gettext(each.description)}" for each in fields
    ]
    example = call.format_example("settings reply-to mention")
    lines = [f"**{gettext('This channel')}**", *values, "", gettext("To change one: {example}").format(example=example)]
    groups = dict.fromkeys(each.group for each in fields) if call.traits.max_form_fields else ()
    buttons = tuple(Button(f"{gettext(FORM_TITLES[each])}…", "settings", each) for each in groups)
    return Card("\n".join(lines), buttons=buttons)


async def backfill_command(call: CommandContext) -> Card:
    """Fetch the history of this channel, for the given number of days."""
    return Card(await start_backfill(call, _parse_days(call.arguments, call.settings.backfill_days)))


async def start_backfill(call: PersonAtPlace, days: int) -> str:
    """Fetch the history of a channel of so many days; 0: as many as the settings say, or one.

    Raises NotAllowed and InvalidQuestion.
    """
    await call.require_manager(gettext("fetch the history of a channel"))
    days = days or call.settings.backfill_days or 1
    if not (await call.services.context.get_channel_settings(call.location.room)).ingest:
        raise InvalidQuestion(
            gettext("Reading is turned off in this channel."),
            hint=gettext("First: {command}").format(command=call.format_example("settings ingest on")),
        )
    location = call.location.without_thread
    since = await call.services.ingest_service.start_backfill(location, days)
    estimate = await estimate_history(call.services.context, location, since)
    return " ".join(
        (
            pluralize(
                days,
                "I'm reading the last day of this channel.",
                "I'm reading the last {count} days of this channel.",
            ),
            *([describe_estimate(estimate)] if estimate else []),
            gettext("{command} shows the progress.").format(command=call.format_example("status")),
        )
    )


def _parse_days(words: str, usual: int) -> int:
    first = words.partition(" ")[0] or str(usual or 1)
    if not (first.isascii() and first.isdigit() and 1 <= int(first) <= MAX_DAYS):
        raise InvalidQuestion(
            gettext("“{words}” is not a number of days.").format(words=words),
            hint=gettext("Enter a number from 1 to {max_days}.").format(max_days=MAX_DAYS),
        )
    return int(first)
