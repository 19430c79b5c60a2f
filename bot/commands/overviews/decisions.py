"""The command that lists decisions and tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from bot.capabilities.decisions.requests import DecisionList, ListDecisions
from bot.i18n import N_, gettext
from bot.platform.models import Card
from bot.text.markdown import escape_markdown, markdown_link
from bot.text.times.periods import MOMENT, parse_period
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.capabilities.decisions.requests import DecisionState, EntryName
    from bot.commands.context import CommandContext

MAX_SHOWN = 12
MAX_TEXT = 240  # characters of one decision
KINDS: Mapping[str, EntryName] = {"decisions": "decision", "decision": "decision", "tasks": "task", "task": "task"}
STATES = ("open", "replaced")
OPTIONS: Mapping[str, Literal["channel", "person", "since", "until"]] = {
    "in": "channel",
    "from": "person",
    "after": "since",
    "before": "until",
}
MARKS: Mapping[str, str] = {"decision": N_("Decision"), "task": N_("Task")}


async def decisions_command(call: CommandContext) -> Card:
    """List the newest decisions and tasks that the caller can read. Raises InvalidQuestion."""
    listed = await call.get_result(await _build_request(call), DecisionList)
    if not listed.rows:
        return Card(gettext("I found no decisions or tasks in what you can read."))
    lines = [_format_row(row) for row in listed.rows[:MAX_SHOWN]]
    if len(listed.rows) > MAX_SHOWN:
        lines.append(gettext("… and {count} more.").format(count=len(listed.rows) - MAX_SHOWN))
    if listed.complete_since:
        lines.append(gettext("I didn't look at messages from before {time}.").format(time=listed.complete_since))
    return Card("\n".join(lines))


async def _build_request(call: CommandContext) -> ListDecisions:
    """The request of the words of a command: what is listed, and filters as in questions."""
    kind: EntryName = ""
    state: DecisionState = ""
    options = dict[str, str]()
    for word in call.arguments.split():
        name, _, value = word.partition(":")
        if value and name.casefold() in OPTIONS:
            options[OPTIONS[name.casefold()]] = await _resolve(call, name.casefold(), value)
        elif word.casefold() in KINDS:
            kind = KINDS[word.casefold()]
        elif word.casefold() in STATES:
            state = cast("DecisionState", word.casefold())
        else:
            raise InvalidQuestion(
                gettext("I didn't understand that."),
                hint=gettext("For example: {command}").format(command=call.format_example("decisions tasks open")),
            )
    return ListDecisions(**options, entry_kind=kind, state=state)  # type: ignore[arg-type]  # of four fields of text


async def _resolve(call: CommandContext, name: str, value: str) -> str:
    """A value as programs give it: a channel or a person that was mentioned by name, and the last moment of a time."""
    if name == "before" and (period := parse_period(value, call.now)) is not None:
        return (period[0] - MOMENT).isoformat()
    platform = call.services.context.platform_for(call.location)
    shown = await platform.to_plain_text(call.location.workspace, value) if name in {"in", "from"} else value
    return shown.lstrip("#@")


def _format_row(row: tuple[str, ...]) -> str:
    kind, what, who, due, said, where, link, _, newer = row
    text = escape_markdown(what, MAX_TEXT)
    line = f"- **{gettext(MARKS[kind])}** {f'~~{text}~~' if newer else text}"
    about = [who, gettext("due {day}").format(day=due) if due else "", said]
    told = " · ".join(escape_markdown(fact) for fact in about if fact)
    place = markdown_link(where, link) if link else escape_markdown(where)
    changed = f" → {escape_markdown(newer.rpartition(' (')[0] or newer, MAX_TEXT)}" if newer else ""
    return f"{line}{changed} ({told} · {place})"
