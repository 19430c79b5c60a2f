"""Find the follow-up questions that are shown below an answer: proposed by rules, and asked before they are shown.

A suggestion is asked of the engine within what the answer rests on, and kept if that finds what the answer does not
cite. Rules propose it also where a model answers: nothing waits for one more call of it, and what a model invents needs
the same check.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import structlog

from bot.answers.question import build_question
from bot.answers.suggestions.candidates import Evidence, propose
from bot.i18n import SOURCE_LANGUAGE, get_language
from bot.permissions.audience import ResolvedScope
from bot.store.models import source_keys
from bot.texts import suggestions as suggestion_texts
from engine import ChatTurn
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence

    from bot.answers.draft import AnswerDraft
    from bot.answers.suggestions.candidates import Candidate
    from bot.context import BotContext
    from bot.permissions.provenance import Provenance
    from engine import Context, Question, Source

log = structlog.get_logger(__name__)

MAX_SUGGESTIONS = 2
MAX_CHECKS = 4  # candidates that are asked
TIME_LIMIT = 1.5  # seconds; what is not found by then is not shown
MIN_TITLE_LENGTH = 15  # characters of a shortened title
MAX_LENGTH = 75  # characters: what a button of every platform shows
NEAR, NEAR_CHUNKS = 8, 8  # retrieved passages and chunks among which one must support a suggestion
KEPT_PASSAGES = 2  # passages of a suggestion whose removal takes it back


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question that is known to find something; `keys`: those of the passages that it finds."""

    text: str
    keys: frozenset[str]


class SuggestionFinder:
    """Finds suggestions for answers."""

    def __init__(self, context: BotContext) -> None:
        self._context = context

    async def find(self, draft: AnswerDraft) -> tuple[Suggestion, ...]:
        """Suggestions for a finished draft, within the time limit; after a failure those that were found until then."""
        if not await self._are_wanted(draft):
            return ()
        found = list[Suggestion]()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(TIME_LIMIT), aclosing(self._find(draft)) as suggestions:
                    async for suggestion in suggestions:
                        found.append(suggestion)
        except EngineError as error:
            log.warning("answer.suggestions_failed", reference=draft.request.reference, error=type(error).__name__)
        return tuple(found)

    async def _are_wanted(self, draft: AnswerDraft) -> bool:
        """Whether an answer is complete, rests on sources, and is one to a plain question in a conversation."""
        request, question, found, written = draft.request, draft.asked.question, draft.found, draft.written
        if question is None or found.context is None or not found.sources or draft.is_closest:
            return False
        is_whole = not (written.failed or written.is_stopped or written.silent or draft.asked.gap)
        is_plain = not (request.overheard or request.digest or request.since or request.mode or request.uploads)
        is_narrow = question.filters.is_active or question.writers or found.inferred
        is_search = question.overview is None and found.context.overview is None and found.context.mode != "bypass"
        if is_narrow or not (is_whole and is_plain and is_search):
            return False
        return await self._context.suggests_questions(request.location.room)

    async def _find(self, draft: AnswerDraft) -> AsyncGenerator[Suggestion]:
        """Ask the best candidates until there are enough suggestions, first those of different kinds."""
        said, found = f"{draft.request.text}\n{draft.written.text}", draft.found
        evidence = await asyncio.to_thread(Evidence.build, cast("Context", found.context), said, found.sources)
        candidates = await asyncio.to_thread(propose, evidence)
        count = 0
        for candidate, text in list(_write(_mix(candidates), evidence, _asked_before(draft)))[:MAX_CHECKS]:
            passages = await self._ask(candidate, text, draft)
            if passages:
                count += 1
                yield Suggestion(text, _keys(passages))
            if count == MAX_SUGGESTIONS:
                return

    async def _ask(self, candidate: Candidate, text: str, draft: AnswerDraft) -> Sequence[Source]:
        """The passages that support a question, within what the answer rests on; empty if it is no good one."""
        if candidate.author and self._context.find_people_value(draft.request.location.platform) == "off":
            return ()
        provenance = cast("Provenance", draft.found.provenance)
        asked, reach = replace(draft.request, text=text, origin=None), ResolvedScope(provenance.source_scope)
        question = await build_question(self._context, asked, reach)
        if question.overview is not None or (question.writers and question.writers != (candidate.author,)):
            return ()
        cited = {(source.document, source.passage) for source in draft.found.sources}
        rooms = provenance.room_spaces
        return [
            source
            for source in await self._retrieve(question, candidate)
            if source.room in rooms
            and (source.document, source.passage) not in cited
            and candidate.is_supported_by(source)
        ]

    async def _retrieve(self, question: Question, candidate: Candidate) -> Sequence[Source]:
        """The passages that an answer would start from. Keywords are given, so that no model is called for them."""
        names = tuple(filter(None, (candidate.subject, candidate.other)))
        asked = replace(question, mode="naive", low=names, high=names, chunk_top_k=NEAR_CHUNKS, rerank=False)
        return (await self._context.engine_context.engine.retrieve(asked)).sources[:NEAR]


def _mix(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates with the best of each kind first."""
    first = {candidate.kind: candidate for candidate in reversed(candidates)}
    best = [candidate for candidate in candidates if first[candidate.kind] is candidate]
    return [*best, *(candidate for candidate in candidates if first[candidate.kind] is not candidate)]


def _asked_before(draft: AnswerDraft) -> frozenset[str]:
    """The questions of the thread."""
    turns: Iterable[ChatTurn] = (*draft.asked.history.turns, ChatTurn("user", draft.request.text))
    return frozenset(turn.text.casefold().strip() for turn in turns if turn.role == "user")


def _write(
    candidates: Iterable[Candidate], evidence: Evidence, before: frozenset[str]
) -> Iterator[tuple[Candidate, str]]:
    """The candidates with their questions, in the active language; those that fit a button and are new."""
    for candidate in candidates:
        text = next((text for text in _word(candidate, evidence) if len(text) <= MAX_LENGTH), "")
        if text and text.casefold() not in before:
            yield candidate, text


def _word(candidate: Candidate, evidence: Evidence) -> Iterator[str]:
    """The question of a candidate, in words that get shorter."""
    subject, other = candidate.subject, candidate.other
    if get_language() == SOURCE_LANGUAGE and candidate.kind != "section":
        subject, other = evidence.judge.add_article(subject), evidence.judge.add_article(other)
    match candidate.kind:
        case "decided":
            yield suggestion_texts.format_decided(subject)
        case "connected":
            yield suggestion_texts.format_connected(subject, other)
        case "said":
            yield suggestion_texts.format_said(subject, other)
        case "section":
            yield suggestion_texts.format_section(subject, other)
            room = MAX_LENGTH - len(suggestion_texts.format_section(subject, "…"))
            if room >= MIN_TITLE_LENGTH:
                yield suggestion_texts.format_section(subject, f"{other[:room].rsplit(' ', 1)[0].rstrip(' ,;:–—')}…")


def _keys(passages: Sequence[Source]) -> frozenset[str]:
    return frozenset().union(*(source_keys(e.document, e.room, e.passage) for e in passages[:KEPT_PASSAGES]))
