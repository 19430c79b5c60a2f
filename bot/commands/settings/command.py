"""Commands of managers for a channel: its settings, and back-fill of its history."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bot.capabilities.management.requests import BackfillChannel, ChangeChannel
from bot.commands.settings.changes import change_settings, format_value, list_fields
from bot.commands.settings.fields import FORM_TITLES
from bot.i18n import gettext
from bot.ingest.estimates import describe_estimate, estimate_history
from bot.platform.models import Button, Card
from bot.text.format import pluralize
from engine.errors import InvalidQuestion
from engine.ingest.estimate import is_much

if TYPE_CHECKING:
    from bot.commands.context import CommandContext, PersonAtPlace
    from engine.ingest.estimate import IndexingEstimate

MAX_DAYS = 3650
CONFIRMED = " now"


async def settings_command(call: CommandContext) -> Card:
    """Show or change the settings of this channel."""
    await call.require_manager(gettext("see or change settings"))
    name, _, value = call.arguments.partition(" ")
    if name and not (name in FORM_TITLES and not value):
        changed = (name.casefold(), value.strip().strip('"“”'))
        async with call.recording(ChangeChannel(call.location.room, (changed,))):
            return await change_settings(call, dict([changed]))
    return await _show_settings(call)


async def _show_settings(call: CommandContext) -> Card:
    """Show the settings, with a button for each form of them where the platform has forms."""
    now = await call.services.context.get_channel_settings(call.location.room)
    fields = await list_fields(call)
    values = [
        f"- `{field.name}` is {await format_value(call, field, now)}: {gettext(field.description)}" for field in fields
    ]
    example = call.format_example("settings reply-to mention")
    lines = [f"**{gettext('This channel')}**", *values, "", gettext("To change one: {example}").format(example=example)]
    groups = dict.fromkeys(field.group for field in fields) if call.traits.max_form_fields else ()
    buttons = tuple(Button(f"{gettext(FORM_TITLES[group])}…", "settings", group) for group in groups)
    return Card("\n".join(lines), buttons=buttons)


async def backfill_command(call: CommandContext) -> Card:
    """Fetch the history of this channel, for the given number of days; if that costs much, after a confirmation."""
    days = _parse_days(call.arguments, call.settings.backfill_days)
    if call.arguments.casefold().endswith(CONFIRMED):
        return await _record_backfill(call, days)
    await _check_backfill(call)
    estimate = await _estimate_backfill(call, days)
    if estimate is None or not is_much(estimate.tokens, estimate.dollars, estimate.seconds):
        return await _record_backfill(call, days, estimate)
    question = pluralize(
        days,
        "This reads the last day of this channel.",
        "This reads the last {count} days of this channel.",
    )
    button = Button(gettext("Read them"), "backfill", f"{days}{CONFIRMED}")
    return Card(f"{question} {describe_estimate(estimate)}", buttons=(button,))


async def start_backfill(call: PersonAtPlace, days: int, estimate: IndexingEstimate | None = None) -> str:
    """Fetch the history of a channel of so many days; 0: as many as the settings say, or one.

    `estimate`: what it takes, if that is known. Raises NotAllowed and InvalidQuestion.
    """
    await _check_backfill(call)
    days = days or call.settings.backfill_days or 1
    await call.services.ingest_service.start_backfill(call.location.without_thread, days)
    estimate = estimate or await _estimate_backfill(call, days)
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


async def _record_backfill(call: CommandContext, days: int, estimate: IndexingEstimate | None = None) -> Card:
    async with call.recording(BackfillChannel(call.location.room, days)):
        return Card(await start_backfill(call, days, estimate))


async def _check_backfill(call: PersonAtPlace) -> None:
    """Raise NotAllowed or InvalidQuestion if the history may not be read."""
    await call.require_manager(gettext("fetch the history of a channel"))
    if not (await call.services.context.get_channel_settings(call.location.room)).ingest:
        raise InvalidQuestion(
            gettext("Reading is turned off in this channel."),
            hint=gettext("First: {command}").format(command=call.format_example("settings ingest on")),
        )


async def _estimate_backfill(call: PersonAtPlace, days: int) -> IndexingEstimate | None:
    context = call.services.context
    return await estimate_history(context, call.location.without_thread, context.clock.now() - timedelta(days=days))


def _parse_days(words: str, usual: int) -> int:
    first = words.partition(" ")[0] or str(usual or 1)
    if not (first.isascii() and first.isdigit() and 1 <= int(first) <= MAX_DAYS):
        raise InvalidQuestion(
            gettext("“{words}” is not a number of days.").format(words=words),
            hint=gettext("Enter a number from 1 to {max_days}.").format(max_days=MAX_DAYS),
        )
    return int(first)
