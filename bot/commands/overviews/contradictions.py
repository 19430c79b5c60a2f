"""The command for statements that disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from bot.answers.contradictions import words
from bot.capabilities.contradictions.requests import DismissContradiction, ListContradictions, SettleContradiction
from bot.capabilities.results import Listing
from bot.commands.management.contradictions import dismiss, settle
from bot.commands.management.manager import Manager
from bot.i18n import gettext
from bot.platform.models import Button, Card
from bot.text.excerpts import truncate_line
from bot.text.markdown import escape_markdown, markdown_link
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.capabilities.contradictions.requests import Side
    from bot.commands.context import CommandContext

MAX_SHOWN = 5
MAX_BUTTON = 40  # characters


async def contradictions_command(call: CommandContext) -> Card:
    """List statements that disagree, decide about two of them, or end that one is told of any.

    Raises InvalidQuestion, NotFound and NotAllowed.
    """
    action, _, rest = call.arguments.partition(" ")
    match action.casefold(), rest.split():
        case "", []:
            return await _list(call)
        case ((words.TELL_OFF | words.TELL_ON), []):
            is_off = action.casefold() == words.TELL_OFF
            await call.store.contradictions.set_off(call.location, call.person, is_off=is_off)
            command = f"`{call.traits.format_command(words.COMMAND)}`"
            return Card(gettext(words.UNTOLD).format(command=command) if is_off else gettext(words.TOLD))
        case words.SETTLE, [id_, (words.OLDER | words.NEWER) as side]:
            request = SettleContradiction(id_, cast("Side", side))
            async with call.recording(request):
                done = await settle(Manager(call.services, call.subject), request)
            return Card(escape_markdown(done.text))
        case words.DISMISS, [id_]:
            dismissal = DismissContradiction(id_)
            async with call.recording(dismissal):
                done = await dismiss(Manager(call.services, call.subject), dismissal)
            return Card(escape_markdown(done.text))
    raise InvalidQuestion(
        gettext("I didn't understand that."),
        hint=gettext("For example: {command}").format(command=call.format_example(words.COMMAND)),
    )


async def _list(call: CommandContext) -> Card:
    listed = await call.get_result(ListContradictions(), Listing)
    if not listed.rows:
        return Card(gettext("I found no statements that disagree in what you can read."))
    rows = [dict(zip(listed.columns, row, strict=True)) for row in listed.rows]
    lines = [line for row in rows[:MAX_SHOWN] for line in _format_row(row)]
    if len(rows) > MAX_SHOWN:
        lines.append(gettext("… and {count} more.").format(count=len(rows) - MAX_SHOWN))
    return Card("\n".join(lines), buttons=_list_buttons(rows[0]))


def _format_row(row: Mapping[str, str]) -> list[str]:
    """What both answer, and each statement with its author and its message."""
    said = [
        f"  - {markdown_link(row[side], row[f'{side} link']) if row[f'{side} link'] else escape_markdown(row[side])}"
        f" ({escape_markdown(' · '.join(filter(None, (row[f'{side} by'], row[f'{side} said']))))})"
        for side in (words.OLDER, words.NEWER)
    ]
    return [f"- **{escape_markdown(row['question'])}** `{row['id']}`", *said]


def _list_buttons(row: Mapping[str, str]) -> tuple[Button, ...]:
    """What decides about the first of the list."""
    choices = [
        Button(
            f"✓ {truncate_line(row[f'{side} value'], MAX_BUTTON)}", words.COMMAND, f"{words.SETTLE} {row['id']} {side}"
        )
        for side in (words.OLDER, words.NEWER)
    ]
    return (*choices, Button(gettext(words.DISMISS_BUTTON), words.COMMAND, f"{words.DISMISS} {row['id']}"))
