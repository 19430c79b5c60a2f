"""Write one answer: look for a verified one, else ask the engine, and stream the text as it comes."""

from __future__ import annotations

import traceback
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import structlog

from bot import texts
from bot.answers.delivery import AnswerFrame
from bot.answers.draft import AnswerDraft, AskedQuestion, FoundEvidence, WrittenText
from bot.answers.footer import find_graph_keys, source_urls
from bot.answers.question import (
    build_heading,
    build_question,
    describe_nothing_found,
    find_channel,
    resolve_request_scope,
)
from bot.i18n import gettext
from bot.monitoring.traces import QuestionJourney
from bot.permissions.provenance import build_provenance, can_read
from bot.texts import search_notices
from engine.errors import EngineError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterable, Mapping

    from bot.answers.attachments import Attachments
    from bot.answers.delivery import StreamingReply
    from bot.answers.footer import GraphKeys
    from bot.answers.history import History, ThreadHistory
    from bot.answers.question import AnswerRequest
    from bot.answers.review.lookup import VerifiedLookup
    from bot.context import BotContext
    from bot.monitoring.metrics import Metrics
    from bot.permissions.provenance import Provenance
    from engine import Answer, Question

log = structlog.get_logger(__name__)

LATE_AFTER = timedelta(minutes=10)  # after which an answer says why it is late


@dataclass(frozen=True, slots=True)
class WriterParts:
    """What the writers of all answers share; `query_slots` bounds the questions that are asked at the same time."""

    history: ThreadHistory
    verified: VerifiedLookup
    metrics: Metrics
    query_slots: asyncio.Semaphore


class AnswerWriter:
    """Writes one answer, and is the only one that changes its draft until it is finished.

    The draft is frozen; what it holds when the writing is cancelled or fails is what was written until then.
    """

    def __init__(
        self,
        context: BotContext,
        parts: WriterParts,
        request: AnswerRequest,
        delivery: StreamingReply,
        attachments: Attachments,
    ) -> None:
        self._context = context
        self._clock = context.clock
        self._parts = parts
        self._request = request
        self._delivery = delivery
        self._attachments = attachments
        self._asked = AskedQuestion(request)
        self._found = FoundEvidence()
        self._written = WrittenText()
        asked_at, platform = request.time.timestamp(), request.location.platform
        self._journey = QuestionJourney(request.reference, platform, asked_at, self._clock.time())

    @property
    def draft(self) -> AnswerDraft:
        """What is written so far, with what was asked and found."""
        return AnswerDraft(self._asked, self._found, self._written)

    async def write(self) -> None:
        """Write the answer; sets the heading, the links and the permission check of its delivery on the way."""
        request, delivery = self._request, self._delivery
        channel = await find_channel(self._context, request)
        self._asked = replace(self._asked, channel=channel)
        delivery.set_frame(AnswerFrame(await build_heading(self._context, request, channel)))
        since = self._context.audience.clock.monotonic()  # a change after the scope was resolved is seen by every check
        reach = await resolve_request_scope(self._context, request)
        question = await build_question(self._context, request, reach)
        self._asked = replace(self._asked, question=question, gap=reach.gap)
        if request.message and not request.attempt and self._clock.now() - request.time > LATE_AFTER:
            self._add_notices([gettext(texts.ANSWERED_LATE)])
        if not question.text:
            await self._prompt_for_question()
            return
        history = await self._parts.history.load_history(request, question.scope)
        if await self._show_verified(question, since, is_follow_up=bool(history.turns)):
            return
        ready = await self._attachments.wait_for_documents()
        self._add_notices(ready.notices)
        if request.uploads and not request.overheard:
            delivery.set_status(gettext(texts.STATUS_SEARCHING))
        self._journey = replace(self._journey, prepared_at=self._clock.time())
        async with aclosing(
            await self._ask_engine(replace(question, history=history.turns), ready.documents)
        ) as answer:
            await self._write_from(answer, history, since)

    def stop(self, note: str) -> None:
        """End the answer where it is, with a note; it failed if nothing of it was written."""
        text = self._written.text.rstrip()
        text, failed = (f"{text}\n\n_{note}_", False) if text else (f"_{note}_", True)
        self._written = replace(self._written, text=text, failed=failed, is_stopped=True, silent=False)

    def fail(self, error: Exception) -> None:
        """Log an error, and end the answer with its message."""
        reference, kind, text = self._request.reference, type(error).__name__, self._written.text.rstrip()
        where = [] if isinstance(error, EngineError) else traceback.format_tb(error.__traceback__)
        log.error("answer.failed", reference=reference, error=kind, traceback="".join(where))
        if text:
            self._set_text(f"{text}\n\n{texts.describe_broken_answer(error, reference)}")
        else:
            self._set_text(texts.describe_error(error, reference))
            self._written = replace(self._written, failed=True, silent=self._request.overheard)

    def end_journey(self) -> QuestionJourney:
        """The journey of the question, once its answer is posted."""
        now, first_shown_at = self._clock.time(), self._delivery.first_shown_at  # in monotonic time
        return replace(
            self._journey,
            posted_at=now,
            first_word_at=None if first_shown_at is None else now - (self._clock.monotonic() - first_shown_at),
            sources=len(self._found.sources),
            input_tokens=sum(usage.input_tokens for usage in self._written.usage),
            output_tokens=sum(usage.output_tokens for usage in self._written.usage),
        )

    async def _prompt_for_question(self) -> None:
        """Reply to a message without a question."""
        if self._request.overheard:
            self._written = replace(self._written, silent=True)
            return
        self._written = replace(self._written, text=gettext(texts.EMPTY_QUESTION), failed=True)
        self._set_text(await self._attachments.prompt_for_question())

    async def _show_verified(self, question: Question, since: float, *, is_follow_up: bool) -> bool:
        """Repeat the verified answer to a question; False if there is none."""
        request, delivery = self._request, self._delivery
        if request.uploads:
            return False
        lookup, place = self._parts.verified, request.location
        verified = await lookup.find(question, place, request.sole_reader, is_follow_up=is_follow_up)
        if verified is None:
            return False
        repeated = await lookup.repeat(verified, question, since)
        heading = f"{delivery.frame.heading}\n\n{repeated.heading}" if delivery.frame.heading else repeated.heading
        self._frame(heading, lambda: source_urls(verified.sources), repeated.provenance)
        self._found = FoundEvidence(verified=verified, provenance=repeated.provenance)
        self._set_text(verified.text)
        self._add_notices(repeated.notices)
        return True

    async def _ask_engine(self, question: Question, within: frozenset[str]) -> Answer:
        """Ask about the attached files first, then about everything in scope."""
        engine, use_cache = self._context.engine_context.engine, not self._request.attempt
        async with self._parts.query_slots:
            if within:
                in_files = replace(question, filters=replace(question.filters, documents=within))
                answer = await engine.ask(in_files, use_cache=use_cache)
                if not answer.context.is_empty or answer.context.question.ignored:
                    return answer
                self._written = replace(self._written, usage=self._written.usage + answer.usage)
                self._add_notices([gettext(texts.NOT_IN_FILE)])
            return await engine.ask(question, use_cache=use_cache)

    async def _write_from(self, answer: Answer, history: History, since: float) -> None:
        """Stream an answer of the engine, and note what it used, also if it is broken off."""
        context = answer.context
        self._journey = replace(self._journey, retrieved_at=self._clock.time(), stages=context.timings)
        self._parts.metrics.record_retrieval(self._journey.retrieval_timings)
        provenance = build_provenance(context, self._asked.scope, history.source_scope, since)
        self._asked = replace(self._asked, history=history)
        self._found = FoundEvidence(context, provenance)
        self._frame(self._delivery.frame.heading, lambda: source_urls(answer.sources), provenance)
        try:
            await self._stream(answer)
        finally:
            self._journey = replace(self._journey, generated_at=self._clock.time())
            self._written = replace(self._written, usage=self._written.usage + answer.usage)
            self._found = replace(self._found, sources=answer.sources, is_extractive=answer.is_extractive)
            self._found = replace(self._found, graph_keys=await self._find_graph_keys(answer))

    async def _stream(self, answer: Answer) -> None:
        """Write the text of an answer as it comes; nothing if there is no source for it."""
        overheard, is_extractive = self._request.overheard, answer.is_extractive
        self._add_notices(_list_notices(answer))
        if _finds_nothing(answer):
            text = await describe_nothing_found(self._context, self._request, self._asked.scope, self._asked.gap)
            self._written = replace(self._written, text=text, silent=overheard)
            return
        if overview := answer.context.overview:
            self._add_notices(texts.list_span_notices(truncated=overview.truncated, since=overview.since))
        text = ""
        async for piece in answer:
            text += piece
            if overheard and _is_withheld(text, answer):
                continue
            self._set_text(search_notices.translate_quotations(text) if is_extractive else text)
            self._delivery.set_text(self._written.text)
            if self._delivery.withdrawal_text:
                return
        self._written = replace(self._written, silent=overheard and not self._written.text)
        self._end_text(answer)

    def _end_text(self, answer: Answer) -> None:
        """Word an answer that found nothing in the language of its readers, and say that one is cut off."""
        if not answer.sources and texts.is_nothing_found(self._written.text):
            gap = self._asked.gap
            self._set_text(texts.nothing_found(gap) if gap else texts.translate_nothing_found(self._written.text))
        if answer.is_truncated:
            notice = gettext(texts.ANSWER_FILTERED) if answer.is_filtered else gettext(texts.ANSWER_CUT_OFF)
            self._set_text(f"{self._written.text.rstrip()}\n\n_{notice}_".lstrip())

    async def _find_graph_keys(self, answer: Answer) -> GraphKeys:
        return await find_graph_keys(answer, self._written.text, self._request.text, self._found.sources)

    def _frame(self, heading: str, links: Callable[[], Mapping[int, str]], provenance: Provenance) -> None:
        """Let the delivery write only while everyone in its place may read what the answer rests on."""
        place, reader = self._request.location, self._request.sole_reader
        may_read = partial(can_read, self._context.audience, provenance, place, reader)
        self._delivery.set_frame(AnswerFrame(heading, links, may_read))

    def _set_text(self, text: str) -> None:
        self._written = replace(self._written, text=text)

    def _add_notices(self, notices: Iterable[str]) -> None:
        self._written = replace(self._written, notices=(*self._written.notices, *notices))


def _finds_nothing(answer: Answer) -> bool:
    """Whether there is nothing to answer from; a question that is not searched for needs nothing."""
    context = answer.context
    return context.question.ignored or (context.is_empty and context.mode != "bypass")


def _is_withheld(text: str, answer: Answer) -> bool:
    """Whether an overheard message gets no reply with this text; a model's "I found nothing" cites nothing."""
    is_sourced = bool(answer.sources) or answer.context.mode == "bypass"
    return search_notices.is_closest(text) or not is_sourced


def _list_notices(answer: Answer) -> list[str]:
    """What did not work while the sources of an answer were searched."""
    rebuilding = [gettext(texts.REBUILDING)] if answer.context.rebuilding else []
    return [*rebuilding, *texts.list_helper_notices(answer.context.failed_helpers)]
