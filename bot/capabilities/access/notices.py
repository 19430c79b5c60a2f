"""Say in words what an answer for a program leaves out, and who verified it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot import texts
from bot.i18n import gettext
from bot.text.times.as_of import describe_as_of

if TYPE_CHECKING:
    from datetime import date

    from bot.capabilities.results import AnswerEnd, ContextResult

UNDATED_NOTICE = "Documents without a date are excluded from this period."


def list_end_notices(end: AnswerEnd) -> list[str]:
    """Who verified an answer, and what it leaves out."""
    return [
        *list_as_of_notices(end.as_of),
        *([end.verified] if end.verified else []),
        *_list_gap_notices(end.gap),
        *([UNDATED_NOTICE] if end.undated else []),
        *texts.list_span_notices(truncated=end.truncated, since=end.since),
        *([gettext(texts.REBUILDING)] if end.rebuilding else []),
        *texts.list_helper_notices(end.failed_helpers),
    ]


def list_context_notices(result: ContextResult) -> list[str]:
    """What a retrieved context leaves out."""
    return [
        *list_as_of_notices(result.context.as_of),
        *_list_gap_notices(result.gap),
        *([UNDATED_NOTICE] if result.context.undated else []),
        *([gettext(texts.REBUILDING)] if result.context.rebuilding else []),
        *texts.list_helper_notices(result.context.failed_helpers),
    ]


def list_as_of_notices(day: date | None) -> list[str]:
    """The day as of which an answer is given, if it is not now."""
    return [describe_as_of(day)] if day is not None else []


def _list_gap_notices(gap: str) -> list[str]:
    return [gettext(texts.GAP_NOTICES[gap])] if gap else []
