"""List the life of a fact: the statements about a subject that the caller may read, in the order of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.history.requests import GetHistory, HistoryResult
from bot.i18n import gettext
from bot.platform.models import Card
from bot.text.format import format_date_long
from bot.text.markdown import escape_markdown, markdown_link
from bot.texts.overviews import history as texts

if TYPE_CHECKING:
    from datetime import tzinfo

    from bot.commands.context import CommandContext
    from engine import Source
    from engine.llm.offline.supersession.history import Step

MAX_LENGTH = 200  # characters of a statement
MAX_SHOWN = 15  # steps, the newest


async def history_command(call: CommandContext) -> Card:
    """List the steps, each with its message."""
    subject = call.arguments.strip().removeprefix("of ").strip().strip('"“”')
    found = await call.get_result(GetHistory(subject), HistoryResult)
    named = escape_markdown(found.subject)
    if not found.steps:
        return Card(gettext(texts.NOTHING).format(subject=named))
    zone = await call.services.context.find_zone(call.location, call.person)
    sources = {source.number: source for source in found.sources}
    lines = [_format_step(number, step, sources[step.number], zone) for number, step in enumerate(found.steps, 1)]
    heading = gettext(texts.HEADING).format(subject=named)
    notices = [gettext(texts.ONLY_LATEST)] if lines[:-MAX_SHOWN] or found.has_more else []
    return Card("\n".join([f"**{heading}**", *lines[-MAX_SHOWN:], *notices]))


def _format_step(number: int, step: Step, source: Source, zone: tzinfo) -> str:
    """Number, day, who said it, what, and what it does to other steps; the day links the message."""
    day = format_date_long(source.time.astimezone(zone).date()) if source.time else source.title
    linked = markdown_link(day, source.link) if source.link else escape_markdown(day)
    what = texts.describe_step(step)
    speaker = f" {escape_markdown(step.speaker)}:" if step.speaker else ""
    return f"{number}. {linked}{speaker} “{escape_markdown(step.text, MAX_LENGTH)}”{f' _({what})_' if what else ''}"
