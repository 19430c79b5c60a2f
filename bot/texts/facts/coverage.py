"""How many sources of an answer agree, in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.i18n import gettext
from bot.text.format import format_ago, format_list, pluralize

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from engine.llm.offline.contradictions.coverage import Coverage


def describe_coverage(coverage: Coverage, now: datetime) -> str:
    """How many sources say the same and since when the newest; how many disagree."""
    who = pluralize(coverage.agreeing, "{count} source says this", "{count} sources agree")
    agree = gettext("{sources}, the newest {ago}.").format(sources=who, ago=format_ago(coverage.newest, now))
    against = pluralize(coverage.disagreeing, "{count} source disagrees.", "{count} sources disagree.")
    return f"{agree} {against}" if coverage.disagreeing else agree


def describe_wrong(numbers: Sequence[int]) -> str:
    """Which sources somebody found wrong when they settled a contradiction."""
    named = format_list([f"[{number}]" for number in numbers])
    return gettext("Somebody who may decide it marked {sources} as wrong.").format(sources=named)
