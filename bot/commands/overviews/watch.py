"""Commands for standing requests: what a person wants to be told of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.answers.watches.words import STOP_BUTTON
from bot.capabilities.results import Completed, Listing
from bot.capabilities.watches.requests import AddWatch, EndWatch, ListWatches
from bot.i18n import N_, gettext
from bot.platform.models import Button, Card
from bot.text.markdown import escape_markdown, markdown_link
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.commands.context import CommandContext

MAX_BUTTONS = 5
KINDS: Mapping[str, str] = {
    "mentioned": N_("when it is mentioned"),
    "decided": N_("when it is decided"),
    "changed": N_("when it changes"),
}


async def watch_command(call: CommandContext) -> Card:
    """Keep a standing request; without words, list them. Raises InvalidQuestion."""
    if not call.arguments:
        return await watches_command(call)
    done = await call.get_result(AddWatch(call.arguments), Completed)
    hint = gettext("{command} lists what I tell you about.").format(command=call.format_example("watches"))
    return Card(f"{escape_markdown(done.text, MAX_TEXT)} {hint}")


async def watches_command(call: CommandContext) -> Card:
    """List the caller's standing requests, with a button that ends each of the first ones."""
    listed = await call.get_result(ListWatches(), Listing)
    if not listed.rows:
        example = call.format_example("watch " + gettext("somebody decides about the fence"))
        return Card(gettext("I don't tell you about anything yet. For example: {command}").format(command=example))
    lines = [_format_row(row) for row in listed.rows]
    label = gettext(STOP_BUTTON)
    buttons = tuple(Button(f"{label}: {row[2]}"[:MAX_LABEL], "unwatch", row[0]) for row in listed.rows[:MAX_BUTTONS])
    return Card("\n".join(lines), buttons=buttons)


async def unwatch_command(call: CommandContext) -> Card:
    """End a standing request, by its words or its id. Raises InvalidQuestion and NotFound."""
    if not call.arguments:
        raise InvalidQuestion(gettext("What should I stop telling you about?"))
    done = await call.get_result(EndWatch(call.arguments), Completed)
    return Card(escape_markdown(done.text, MAX_TEXT))


MAX_TEXT, MAX_LABEL = 600, 70  # characters


def _format_row(row: tuple[str, ...]) -> str:
    _, kind, subject, _, found, newest, link = row
    line = f"- **{escape_markdown(subject)}** ({gettext(KINDS[kind])}): {found}"
    if newest:
        line += f" · {markdown_link(newest, link) if link else escape_markdown(newest)}"
    return line
