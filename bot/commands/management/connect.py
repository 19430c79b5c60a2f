"""The command of managers for what is read outside of the chat: websites, for a channel or for all of the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.results import Completed, Listing
from bot.capabilities.sources.requests import (
    AddSource,
    ListSources,
    ListUnreadItems,
    PauseSource,
    RemoveSource,
    SyncSource,
)
from bot.i18n import gettext
from bot.ingest.sources.places import OPEN
from bot.platform.models import Button, Card
from bot.text.markdown import escape_markdown
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from bot.commands.context import CommandContext

MAX_ROWS = 30
CONFIRMED = "now"  # the last word of a button that confirms


async def connect_command(call: CommandContext) -> Card:
    """List, add, read or remove a source. Raises NotAllowed for everyone but managers, InvalidQuestion and NotFound."""
    await call.require_manager(gettext("see or change what is read outside of the chat"))
    words = call.arguments.split()
    is_confirmed = len(words) > 1 and words[-1] == CONFIRMED
    match words[:-1] if is_confirmed else words:
        case [] | ["list"]:
            return await _list_sources(call)
        case ["sync", name]:
            done = await call.get_result(SyncSource(name), Completed)
            return Card(escape_markdown(done.text))
        case ["pause" | "resume" as word, name]:
            done = await call.get_result(PauseSource(name, paused=word == "pause"), Completed)
            return Card(escape_markdown(done.text))
        case ["unread", name]:
            return await _list_unread(call, name)
        case ["remove", name]:
            removed = RemoveSource(name, confirmed=is_confirmed)
            button = Button(gettext("Remove it"), "connect", f"remove {name} {CONFIRMED}")
            return await _rehearse(call, removed, button)
        case [address] | [address, "open"]:
            place = OPEN if len(words) - is_confirmed > 1 else call.location.without_thread.room
            added = AddSource(address.strip("<>"), place, confirmed=is_confirmed)
            button = Button(gettext("Read it"), "connect", f"{call.arguments} {CONFIRMED}")
            return await _rehearse(call, added, button)
    raise InvalidQuestion(
        gettext("I didn't understand that."),
        hint=gettext("For example: {command}").format(command=call.format_example("connect https://wiki.example/")),
    )


async def _rehearse(call: CommandContext, request: AddSource | RemoveSource, button: Button) -> Card:
    """Perform a confirmed request, or say what it does, with a button that confirms it."""
    done = await call.get_result(request, Completed)
    address = request.address if isinstance(request, AddSource) else ""
    text = escape_markdown(done.text)
    if address and "`" not in address:  # as it was typed, and no link
        text = text.replace(escape_markdown(address), f"`{address}`")
    return Card(text, buttons=() if request.confirmed else (button,))


async def _list_unread(call: CommandContext, name: str) -> Card:
    listed = await call.get_result(ListUnreadItems(name), Listing)
    if not listed.rows:
        return Card(gettext("All of it was read."))
    return Card(
        "\n".join(f"- {': '.join(escape_markdown(cell) for cell in row if cell)}" for row in listed.rows[:MAX_ROWS])
    )


async def _list_sources(call: CommandContext) -> Card:
    listed = await call.get_result(ListSources(), Listing)
    if not listed.rows:
        return Card(gettext("I read no website or other source outside of the chat that you can see."))
    lines = [f"- {' · '.join(escape_markdown(cell) for cell in row if cell)}" for row in listed.rows]
    return Card("\n".join(lines))
