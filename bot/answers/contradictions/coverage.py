"""Say below an answer how many of its sources agree, where that is telling."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bot.answers.contradictions.finding import key_of
from bot.permissions.provenance import can_read, provenance_of_room
from bot.texts.overviews.coverage import describe_coverage, describe_wrong
from engine.llm.offline.contradictions.coverage import measure_coverage, says_one_thing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.context import BotContext
    from bot.platform.models import Location
    from engine import Context, Source

MAX_SOURCES = 30  # that are compared


async def list_coverage_notices(
    context: BotContext, sources: Sequence[Source], retrieved: Context | None, place: Location, person: str = ""
) -> list[str]:
    """How many of the cited sources say the same, how many disagree, and which somebody found wrong; often nothing.

    Of a wrong one is told where the right one may be read, by a person alone or by everyone at a place.
    """
    if context.settings.contradictions == "off" or not sources or retrieved is None:
        return []
    cited = {source.number for source in sources}
    replaced = {each.older for each in retrieved.replacements if each.older in cited}
    found = await asyncio.to_thread(measure_coverage, sources[:MAX_SOURCES], replaced) if len(cited) > 1 else None
    notices = [describe_coverage(found, context.clock.now())] if found else []
    keys = {key_of(source): source.number for source in sources if says_one_thing(source)}
    wrong = {
        keys[key]
        for key, room in await context.store.contradictions.list_wrong(keys)
        if await can_read(context.audience, provenance_of_room(room), place, person)
    }
    return [*notices, *([describe_wrong(sorted(wrong))] if wrong else [])]
