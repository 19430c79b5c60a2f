"""Answer a question exactly once: show a status, stream the text, add sources.

A question is stored before the first call and finished after the last one. If the process stops in between, it is
answered again into the same reply. Every failure ends in a sentence for the asker, with a reference to the log.
"""

from __future__ import annotations

import asyncio
import traceback
from contextlib import aclosing
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import structlog

from bot import texts
from bot.answers.attachments import Attachments
from bot.answers.attribution import record_graph_facts
from bot.answers.control.stops import StopRequests
from bot.answers.control.turns import ThreadTurns
from bot.answers.delivery import StreamingReply
from bot.answers.draft import AnswerDraft, build_draft_footer
from bot.answers.footer import source_urls
from bot.answers.history import ThreadHistory
from bot.answers.question import build_heading, build_question, find_channel, find_language, resolve_request_scope
from bot.answers.review.lookup import VerifiedLookup
from bot.answers.suggestions.finder import SuggestionFinder
from bot.errors import PermissionDenied, PlatformError
from bot.i18n import gettext, use_language
from bot.permissions.askers import AskerPolicy
from bot.permissions.provenance import build_provenance, can_read
from bot.platform.models import Card
from bot.texts import search_notices
from bot.texts.replaced import translate_until
from engine.errors import EngineError

if TYPE_CHECKING:
    from bot.answers.request import AnswerRequest
    from bot.context import BotContext
    from bot.ingest.files import FileIngest
    from bot.monitoring.metrics import Metrics
    from bot.permissions.quotas import Quotas
    from bot.store import StoredAnswer
    from engine import Answer, Question

log = structlog.get_logger(__name__)

LATE_AFTER = timedelta(minutes=10)  # after which an answer says why it is late
MAX_CONCURRENT_QUERIES = 4  # so that the status of many questions does not wait for the search of the first ones


class AnswerService:
    """Answers questions."""

    def __init__(self, context: BotContext, guards: Quotas, filing: FileIngest, metrics: Metrics) -> None:
        self._context = context
        self._clock = context.clock
        self._quotas = guards
        self._askers = AskerPolicy(context.store, context.audience)
        self._file_ingest = filing
        self._metrics = metrics
        self._thread_history = ThreadHistory(context)
        self.stops = StopRequests(context)
        self.turns = ThreadTurns()
        self._verified_answers = VerifiedLookup(context.store, context.audience, context.engine_context.engine)
        self._suggestions = SuggestionFinder(context)
        self._in_progress: set[str] = set()
        self._query_slots = asyncio.Semaphore(MAX_CONCURRENT_QUERIES)

    async def answer(self, request: AnswerRequest) -> bool:
        """Answer a question and ingest its files, unless it is answered already.

        False if a message that does not mention the bot gets no reply: it is no question to it, or nothing was found.
        Raises PlatformError for transient failures; the caller then calls again.
        """
        wait = self._context.settings.attachment_wait_seconds
        with use_language(await find_language(self._context, request)):
            async with Attachments(request, self._file_ingest, wait, self._clock) as enclosed:
                if request.id in self._in_progress:
                    return True
                self._in_progress.add(request.id)
                try:
                    return await self._answer_once(request, enclosed)
                finally:
                    self._in_progress.discard(request.id)

    async def post_failure(self, request: AnswerRequest, error: Exception) -> None:
        """Report to the asker that their question was dropped."""
        stored = await self._context.store.answers.get(request.id)
        if stored is not None and stored.state != "started":
            return
        if request.overheard and (stored is None or not stored.reply_ref):
            await self._context.store.answers.delete(request.id)
            return
        if stored is None or not stored.reply_ref or not await self._replace_started(request, stored.reply_ref, error):
            await self._refuse(request, error)

    async def _replace_started(self, request: AnswerRequest, mark: str, error: Exception) -> bool:
        """Show an error in place of an answer that was started; false if there is none."""
        with use_language(await find_language(self._context, request)):
            sentence = texts.describe_error(error, request.reference)
        try:
            await self._context.platform_for(request.location).start_reply(request.reply_target(mark)).replace(sentence)
        except PlatformError as failed:
            log.warning("answer.stale_answer_left", reference=request.reference, error=type(failed).__name__)
            return False
        await self._fail(request, "failed")
        return True

    async def _answer_once(self, request: AnswerRequest, enclosed: Attachments) -> bool:
        stored = await self._context.store.answers.get(request.id)
        if stored is not None and stored.state != "started":
            return True
        if stored is None and not await self._admit(request):
            return not request.overheard
        async with self.turns.take(request.location):
            if await self._is_deleted(request) and not (stored and stored.reply_ref):
                await self._context.store.answers.delete(request.id)
                return True
            return await self._answer_admitted(request, enclosed, stored)

    async def _is_deleted(self, request: AnswerRequest) -> bool:
        """Whether the message of a question was deleted before its answer was begun."""
        room, message = request.location.room, request.message
        return bool(message and await self._context.store.messages.find_tombstones(room, [message]))

    async def _answer_admitted(
        self, request: AnswerRequest, enclosed: Attachments, stored: StoredAnswer | None
    ) -> bool:
        """Answer a question whose turn it is."""
        target = request.reply_target(stored.reply_ref if stored else "")
        target = replace(target, is_new=stored is None, progress_buttons=self.stops.list_buttons(request))
        platform = self._context.platform_for(request.location)
        recorded = partial(self._context.store.answers.save_reply_ref, request.id)
        async with StreamingReply(platform.start_reply(target), platform.limits, recorded, self._clock) as delivery:
            return await self._deliver(AnswerDraft(request, self._clock.time()), delivery, enclosed)

    async def find_refusal(self, request: AnswerRequest) -> tuple[str, bool]:
        """Why a question is refused, in the asker's language, and whether that is because of who asks."""
        with use_language(await find_language(self._context, request, private=True)):
            if request.digest:  # nobody asks it
                return await self._quotas.check_budget(request.location), False
            if found := await self._askers.find_refusal(request.location, request.person):
                return found, True
            return await self._quotas.check_question(request.location, request.person), False

    async def _admit(self, request: AnswerRequest) -> bool:
        """Check quotas and permissions of a new question, and store it; false if it was refused."""
        refusal, forbidden = await self.find_refusal(request)
        if refusal and request.overheard:
            return False
        was_told = forbidden and not request.handle and self._askers.was_told(request.location, request.person)
        if refusal and not was_told and request.person:
            await self._context.send_private(request.reply_target(), Card(refusal))
        await self._context.store.answers.begin(request.to_stored_answer())
        if refusal:
            await self._fail(request, "refused")
        return not refusal

    async def _refuse(self, request: AnswerRequest, error: Exception) -> None:
        """Report why a question failed: privately if the channel allows it, otherwise below the question."""
        with use_language(await find_language(self._context, request, private=True)):
            sentence = texts.describe_error(error, request.reference)
        await self._context.send_private(request.reply_target(), Card(sentence))
        await self._fail(request, "failed")

    async def _deliver(self, draft: AnswerDraft, delivery: StreamingReply, enclosed: Attachments) -> bool:
        """Stream the answer or its failure, and finish it. False if there is no reply."""
        began = self._clock.monotonic()
        if not draft.request.overheard:
            status = gettext(texts.STATUS_READING_FILE) if draft.request.uploads else gettext(texts.STATUS_SEARCHING)
            delivery.set_status(status)
        try:
            if stopper := await self.stops.run(draft.request.id, self._write_answer(draft, delivery, enclosed)):
                draft.stop(await self.stops.describe(draft.request.location, stopper))
        except Exception as error:  # noqa: BLE001 - every failure is shown to the asker
            self._record_error(draft, error)
        if draft.silent:
            await self._discard(draft)
            return False
        if not self._query_slots.locked():  # other questions come first
            await self._suggestions.add_to(draft)
        await self._finish_answer(draft, delivery)
        if delivery.first_shown_at is not None:
            self._metrics.record_first_token(draft.request.location.platform, delivery.first_shown_at - began)
        self._metrics.tracer.record(draft.end_journey(delivery.first_shown_at, self._clock))
        return True

    async def _discard(self, draft: AnswerDraft) -> None:
        """Remove all traces of an answer to an overheard message."""
        await self._quotas.record_usage(draft.request.location, draft.usage)
        self._metrics.record_usage(draft.usage)
        await self._context.store.answers.delete(draft.request.id)
        self._metrics.record_question(draft.request.location.platform, "silent")

    async def _write_answer(self, draft: AnswerDraft, delivery: StreamingReply, enclosed: Attachments) -> None:
        draft.channel = await find_channel(self._context, draft.request)
        delivery.heading = await build_heading(self._context, draft.request, draft.channel)
        since = self._context.audience.clock.monotonic()  # a change after the scope was resolved is seen by every check
        reach = await resolve_request_scope(self._context, draft.request)
        question = await build_question(self._context, draft.request, reach)
        draft.scope, draft.gap = reach.scope, reach.gap
        if draft.request.message and not draft.request.attempt and self._clock.now() - draft.request.time > LATE_AFTER:
            draft.notices.append(gettext(texts.ANSWERED_LATE))
        if not question.text:
            await enclosed.prompt_for_question(draft)
            return
        past = await self._thread_history.load_history(draft.request, question.scope)
        if await self._verified_answers.show(draft, question, delivery, since, is_follow_up=bool(past.turns)):
            return
        within = await enclosed.wait_for_documents(draft.notices)
        if draft.request.uploads and not draft.request.overheard:
            delivery.set_status(gettext(texts.STATUS_SEARCHING))
        draft.journey.prepared_at = self._clock.time()
        async with aclosing(await self._ask_engine(replace(question, history=past.turns), within, draft)) as answer:
            self._metrics.record_retrieval(draft.journey.end_retrieval(answer.context.timings, self._clock.time()))
            draft.provenance = build_provenance(answer.context, question.scope, past.source_scope, since)
            draft.retrieved, draft.inferred = answer.context.sources, answer.context.inferred
            draft.question, draft.context = question, answer.context
            draft.history = past
            delivery.can_show = partial(
                can_read, self._context.audience, draft.provenance, draft.request.location, draft.request.sole_reader
            )
            delivery.citation_urls = lambda: source_urls(answer.sources)
            try:
                await self._stream_answer(answer, draft, delivery)
            finally:
                draft.journey.generated_at = self._clock.time()
                draft.sources = answer.sources
                draft.usage += answer.usage
                await record_graph_facts(answer, draft)

    async def _ask_engine(self, question: Question, within: frozenset[str], draft: AnswerDraft) -> Answer:
        """Ask about the attached files first, then about everything in scope."""
        engine, use_cache = self._context.engine_context.engine, not draft.request.attempt
        async with self._query_slots:
            if within:
                in_files = replace(question, filters=replace(question.filters, documents=within))
                answer = await engine.ask(in_files, use_cache=use_cache)
                if not answer.context.is_empty or answer.context.question.ignored:
                    return answer
                draft.usage += answer.usage
                draft.notices.append(gettext(texts.NOT_IN_FILE))
            return await engine.ask(question, use_cache=use_cache)

    async def _stream_answer(self, answer: Answer, draft: AnswerDraft, delivery: StreamingReply) -> None:
        overheard, bypass = draft.request.overheard, answer.context.mode == "bypass"
        if answer.context.rebuilding:
            draft.notices.append(gettext(texts.REBUILDING))
        draft.notices += texts.list_helper_notices(answer.context.failed_helpers)
        if answer.context.question.ignored or (answer.context.is_empty and not bypass):
            draft.silent = overheard
            draft.text = texts.nothing_found(draft.gap)
            return
        if answer.context.overview is not None and answer.context.overview.truncated:
            draft.notices.append(gettext(texts.ONLY_NEWEST))
        text = ""
        async for piece in answer:
            text += piece
            if overheard and (search_notices.is_closest(text) or not (answer.sources or bypass)):
                continue  # a model's "I found nothing" cites nothing
            draft.text = search_notices.translate_lead(translate_until(text)) if answer.is_extractive else text
            delivery.set_text(draft.text)
            if delivery.withdrawal_text:
                return
        draft.silent = overheard and not draft.text
        if not answer.sources and texts.is_nothing_found(draft.text):
            draft.text = texts.nothing_found(draft.gap) if draft.gap else texts.translate_nothing_found(draft.text)
        if answer.is_truncated:
            notice = gettext(texts.ANSWER_FILTERED) if answer.is_filtered else gettext(texts.ANSWER_CUT_OFF)
            draft.text = f"{draft.text.rstrip()}\n\n_{notice}_".lstrip()

    def _record_error(self, draft: AnswerDraft, error: Exception) -> None:
        """Store the failure and show its message."""
        reference, kind = draft.request.reference, type(error).__name__
        where = [] if isinstance(error, EngineError) else traceback.format_tb(error.__traceback__)
        log.error("answer.failed", reference=reference, error=kind, traceback="".join(where))
        if draft.text.strip():
            draft.text = f"{draft.text.rstrip()}\n\n{texts.describe_broken_answer(error, reference)}"
        else:
            draft.text, draft.failed = texts.describe_error(error, reference), True
            draft.silent = draft.request.overheard

    async def _finish_answer(self, draft: AnswerDraft, delivery: StreamingReply) -> None:
        request = draft.request
        await self._quotas.record_usage(request.location, draft.usage)
        self._metrics.record_usage(draft.usage)
        try:
            delivered = await delivery.finish(draft.text, await build_draft_footer(self._context, draft))
        except PermissionDenied as error:
            await self._refuse(request, error)
            return
        if not delivered:
            await self._fail(request, "withdrawn")
        elif draft.failed or draft.provenance is None:
            await self._fail(request, "stopped" if draft.is_stopped else "failed")
        else:
            await self._save_answer(draft, delivery)

    async def _save_answer(self, draft: AnswerDraft, delivery: StreamingReply) -> None:
        """Store the answer; withdraw it if a source was removed in the meantime.

        For a public answer a correction is stored as well, in case the platform fails now.
        """
        request = draft.request
        if not await self._context.store.answers.finish(request.id, draft.build_result()):
            await self._retract(request, delivery)
        self._metrics.record_question(request.location.platform, "answered" if draft.is_supported else "nothing")

    async def _retract(self, request: AnswerRequest, delivery: StreamingReply) -> None:
        try:
            await delivery.reply.replace(gettext(texts.SOURCE_REMOVED))
        except PlatformError as error:
            log.warning("answer.redaction_failed", reference=request.reference, error=type(error).__name__)
        else:
            await self._context.store.answer_corrections.finish(request.id)

    async def _fail(self, request: AnswerRequest, outcome: str) -> None:
        self._metrics.record_question(request.location.platform, outcome)
        await self._context.store.answers.fail(request.id)
