"""Summarize feedback for managers: the number of votes, and links to the latest disliked answers."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from bot.errors import PlatformError
from bot.text.markdown import markdown_link
from bot.text.times import format_ago

if TYPE_CHECKING:
    from bot.commands.context import CommandContext
    from bot.store import StoredAnswer

SUMMARY_PERIOD = timedelta(days=30)
MAX_LISTED = 3  # answers
MAX_CHECKED = 20  # answers checked for whether the caller may read them


async def summarize_feedback(call: CommandContext) -> list[str]:
    """Lines on the votes of SUMMARY_PERIOD in this workspace; none for other people than managers, or without votes."""
    location, since = call.location, call.now - SUMMARY_PERIOD
    with suppress(PlatformError):
        up, down = await call.store.feedback.count(location.platform, location.workspace, since)
        if (up or down) and await call.is_manager():
            lines = [f"**Answers of the last {SUMMARY_PERIOD.days} days**: {up:,} 👍, {down:,} 👎"]
            return [*lines, *await _list_disliked(call)]
    return []


async def _list_disliked(call: CommandContext) -> list[str]:
    """Links to the latest disliked answers that the caller may read."""
    location, found = call.location, list[str]()
    for each in await call.store.answers.list_disliked(
        location.platform, location.workspace, call.now - SUMMARY_PERIOD, MAX_CHECKED
    ):
        if len(found) < MAX_LISTED and await call.can_read(each.location.room):
            found += await _format_answer_link(call, each)
    return ["The latest with a 👎:", *found] if found else []


async def _format_answer_link(call: CommandContext, answer: StoredAnswer) -> list[str]:
    """A link to the question, or to the answer if the question has no message."""
    message = next(filter(None, (answer.message_id, *answer.reply_message_ids)), "")
    if not message:
        return []
    name, time = await call.store.channels.get_name(answer.location.room), format_ago(answer.time, call.now)
    link = call.services.context.platform_for(answer.location).message_link(answer.location, message)
    return [f"- {markdown_link(f'#{name}, {time}' if name else time, link)}"]
