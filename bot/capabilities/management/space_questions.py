"""Questions without a good answer that were asked in a space of the terminal, which has no channels."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bot.capabilities.access.control import locate_subject
from bot.capabilities.management.results import QuestionEntry, QuestionList
from bot.texts import review as review_texts

if TYPE_CHECKING:
    from datetime import datetime

    from bot.store import BotStore, Subject, UnansweredQuestion

PERIOD = timedelta(days=30)
MAX_QUESTIONS, MAX_GROUPS = 200, 50


async def list_space_questions(store: BotStore, subject: Subject, now: datetime) -> QuestionList:
    """The questions of a space, the most frequent first."""
    place = locate_subject(subject)
    found = await store.unanswered.list_since(
        place.platform, place.workspace, now - PERIOD, MAX_QUESTIONS, outside_of_channels=True
    )
    groups: dict[str, list[UnansweredQuestion]] = {}
    for question in found:
        groups.setdefault(" ".join(question.question.casefold().split()), []).append(question)
    ranked = sorted(groups.values(), key=lambda group: -len(group))[:MAX_GROUPS]
    return QuestionList(tuple([await _describe(store, group) for group in ranked]))


async def _describe(store: BotStore, group: list[UnansweredQuestion]) -> QuestionEntry:
    newest = group[0]
    given = await store.feedback.list_reasons([question.answer for question in group])
    return QuestionEntry(
        newest.answer,
        newest.question,
        "",
        "",
        newest.time,
        "",
        len(group),
        sum(question.votes_down for question in group),
        (),
        tuple(review_texts.format_reason(*reason) for reason in given),
    )
