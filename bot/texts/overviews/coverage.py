"""How many sources of an answer agree, in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.i18n import gettext
from bot.text.format import format_ago, format_list, pluralize
from bot.text.markdown import escape_markdown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from engine.llm.offline.contradictions.coverage import Coverage

MAX_VALUE = 60  # characters


def describe_coverage(coverage: Coverage, now: datetime) -> str:
    """How many sources say the same, what that is, and since when the newest; how many say otherwise."""
    who = pluralize(coverage.agreeing, "{count} source says", "{count} sources say")
    agree = gettext("{sources} “{value}”, the newest {ago}.").format(
        sources=who, value=escape_markdown(coverage.value, MAX_VALUE), ago=format_ago(coverage.newest, now)
    )
    against = pluralize(coverage.disagreeing, "{count} says otherwise.", "{count} say otherwise.")
    return f"{agree} {against}" if coverage.disagreeing else agree


def describe_wrong(numbers: Sequence[int]) -> str:
    """Which sources somebody found wrong when they settled a contradiction."""
    named = format_list([f"[{number}]" for number in numbers])
    return gettext("Somebody who can decide this marked {sources} as wrong.").format(sources=named)
