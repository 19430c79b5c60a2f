"""Find what was said about a subject, within what the caller may read."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.capabilities.history.requests import HistoryResult
from bot.i18n import gettext
from bot.texts.overviews.history import NO_SUBJECT, NO_SUBJECT_HINT
from engine import Question
from engine.errors import InvalidQuestion
from engine.llm.offline.supersession.history import list_steps

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

    from bot.capabilities.caller import Caller
    from bot.capabilities.deps import Deps
    from bot.capabilities.history.requests import GetHistory
    from engine import Engine, Scope, Source
    from engine.llm.offline.supersession.history import Step

MAX_CHUNKS, MAX_FACTS, MAX_TOKENS = 100, 50, 1_000_000  # that are looked through
MAX_STEPS = 30  # the newest


async def get_history(deps: Deps, caller: Caller, request: GetHistory) -> AsyncGenerator[HistoryResult]:
    """Yield the steps of what was said. Raises InvalidQuestion without a subject."""
    subject = " ".join(request.subject.split())
    if not subject:
        raise InvalidQuestion(gettext(NO_SUBJECT), hint=gettext(NO_SUBJECT_HINT))
    found, names = await _find_sources(deps.engine, subject, caller.scope)
    steps = await asyncio.to_thread(list_steps, found, (subject, *names))
    shown = [renumber(step, max(0, len(steps) - MAX_STEPS)) for step in steps[-MAX_STEPS:]]
    used = {step.number for step in shown}
    sources = tuple(source for source in found if source.number in used)
    yield HistoryResult(subject, tuple(shown), sources, len(steps) > len(shown))


async def _find_sources(engine: Engine, subject: str, scope: Scope) -> tuple[list[Source], tuple[str, ...]]:
    """The passages about a subject, each once, and the names of the entity if it is one."""
    known = await engine.graph.get_provenance(subject, scope, limit=MAX_FACTS)
    question = Question(
        subject,
        scope,
        mode="naive",
        high=(subject,),
        low=(subject,),
        chunk_top_k=MAX_CHUNKS,
        max_total_tokens=MAX_TOKENS,
        rerank=False,
        for_prompt=False,
    )
    context = await engine.retrieve(question)
    names = known.names if known.entity is not None else ()
    return _number((*context.sources, *known.sources)), names


def renumber(step: Step, cut: int) -> Step:
    """A step with positions in the list that is shown, without those of the steps that were cut off before it."""
    earlier, later = (tuple(at - cut for at in places if at >= cut) for places in (step.earlier, step.later))
    return replace(step, earlier=earlier, later=later)


def _number(sources: Iterable[Source]) -> list[Source]:
    """The sources by time, each passage once, numbered from 1."""
    once = {(source.document, source.passage): source for source in reversed(list(sources))}
    ordered = sorted(once.values(), key=lambda each: (each.time is None, str(each.time), each.document, each.passage))
    return [replace(each, number=number, position=number) for number, each in enumerate(ordered, 1)]
