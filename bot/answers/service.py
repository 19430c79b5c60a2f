"""Answer a question exactly once: show a status, stream the text, add sources, and note it in the audit log.

A question is stored before the first call and finished after the last one. If the process stops in between, it is
answered again into the same reply. Every failure ends in a sentence for the asker, with a reference to the log.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import structlog

from bot import texts
from bot.answers.attachments import Attachments
from bot.answers.control.stops import StopRequests
from bot.answers.delivery import StreamingReply
from bot.answers.draft import build_draft_footer
from bot.answers.history import ThreadHistory
from bot.answers.question import find_language
from bot.answers.review.lookup import VerifiedLookup
from bot.answers.suggestions.finder import SuggestionFinder
from bot.answers.writer import AnswerWriter, WriterParts
from bot.audit import describe_sources
from bot.errors import PermissionDenied, PlatformError
from bot.i18n import gettext, use_language
from bot.permissions.askers import AskerPolicy
from bot.platform.models import Card
from bot.store import Subject
from bot.store.access.audit_log import SYSTEM, AuditEvent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.answers.draft import AnswerDraft
    from bot.answers.question import AnswerRequest
    from bot.context import BotContext
    from bot.ingest.files import FileIngest
    from bot.monitoring.metrics import Metrics
    from bot.permissions.askers import Quotas
    from bot.platform.models import Location
    from bot.store import StoredAnswer


log = structlog.get_logger(__name__)

MAX_CONCURRENT_QUERIES = 4  # so that the status of many questions does not wait for the search of the first ones
DOOR = "chat"


class AnswerService:
    """Answers questions."""

    def __init__(self, context: BotContext, quotas: Quotas, file_ingest: FileIngest, metrics: Metrics) -> None:
        self._context = context
        self._clock = context.clock
        self._quotas = quotas
        self._askers = AskerPolicy(context.store, context.audience)
        self.file_ingest = file_ingest
        self._metrics = metrics
        self.stops = StopRequests(context)
        self.turns = ThreadTurns()
        self._query_slots = asyncio.Semaphore(MAX_CONCURRENT_QUERIES)
        self.writer_parts = WriterParts(
            ThreadHistory(context),
            VerifiedLookup(context.store, context.audience, context.engine_context.engine),
            metrics,
            self._query_slots,
        )
        self._suggestions = SuggestionFinder(context)
        self._in_progress: set[str] = set()

    async def answer(self, request: AnswerRequest) -> bool:
        """Answer a question and ingest its files, unless it is answered already.

        False if a message that does not mention the bot gets no reply: it is no question to it, or nothing was found.
        Raises PlatformError for transient failures; the caller then calls again.
        """
        wait = self._context.settings.attachment_wait_seconds
        with use_language(await find_language(self._context, request)):
            async with Attachments(request, self.file_ingest, wait, self._clock) as attachments:
                if request.id in self._in_progress:
                    return True
                self._in_progress.add(request.id)
                try:
                    return await self._answer_once(request, attachments)
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

    async def _replace_started(self, request: AnswerRequest, reply_ref: str, error: Exception) -> bool:
        """Show an error in place of an answer that was started; false if there is none."""
        with use_language(await find_language(self._context, request)):
            sentence = await self._context.describe_error(error, request.location, request.reference)
        try:
            reply = self._context.platform_for(request.location).start_reply(request.reply_target(reply_ref))
            await reply.replace(sentence)
        except PlatformError as failed:
            log.warning("answer.stale_answer_left", reference=request.reference, error=type(failed).__name__)
            return False
        await self._fail(request, "failed")
        return True

    async def _answer_once(self, request: AnswerRequest, attachments: Attachments) -> bool:
        stored = await self._context.store.answers.get(request.id)
        if stored is not None and stored.state != "started":
            return True
        if stored is None and not await self._admit(request):
            return not request.overheard
        async with self.turns.take(request.location):
            if await self._is_deleted(request) and not (stored and stored.reply_ref):
                await self._context.store.answers.delete(request.id)
                return True
            return await self._answer_admitted(request, attachments, stored)

    async def _is_deleted(self, request: AnswerRequest) -> bool:
        """Whether the message of a question was deleted before its answer was begun."""
        room, message = request.location.room, request.message
        return bool(message and await self._context.store.messages.find_tombstones(room, [message]))

    async def _answer_admitted(
        self, request: AnswerRequest, attachments: Attachments, stored: StoredAnswer | None
    ) -> bool:
        """Answer a question whose turn it is."""
        target = request.reply_target(stored.reply_ref if stored else "")
        target = replace(target, is_new=stored is None, progress_buttons=self.stops.list_buttons(request))
        platform = self._context.platform_for(request.location)
        reply, save = platform.start_reply(target), partial(self._context.store.answers.save_reply_ref, request.id)
        async with StreamingReply(reply, platform.limits, save, self._clock) as delivery:
            writer = AnswerWriter(self._context, self.writer_parts, request, delivery, attachments)
            return await self._deliver(writer, delivery, request)

    async def find_refusal(self, request: AnswerRequest) -> tuple[str, bool]:
        """Why a question is refused, in the asker's language, and whether that is because of who asks."""
        with use_language(await find_language(self._context, request, private=True)):
            if request.digest:  # nobody asks it
                return await self._quotas.check_budget(request.location), False
            if found := await self._askers.find_refusal(request.location, request.person):
                return found, True
            return await self._quotas.check_question(request.location, request.person), False

    async def find_budget_refusal(self, request: AnswerRequest) -> str:
        """Why a question that nobody asks now is not answered: its asker may not ask, or the tokens are spent."""
        found = await self._askers.find_refusal(request.location, request.person)
        return found or await self._quotas.check_budget(request.location)

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
            sentence = await self._context.describe_error(error, request.location, request.reference)
        await self._context.send_private(request.reply_target(), Card(sentence))
        await self._fail(request, "failed")

    async def _deliver(self, writer: AnswerWriter, delivery: StreamingReply, request: AnswerRequest) -> bool:
        """Stream the answer or its failure, and finish it. False if there is no reply."""
        began = self._clock.monotonic()
        if not request.overheard:
            delivery.set_status(gettext(texts.STATUS_READING_FILE if request.uploads else texts.STATUS_SEARCHING))
        try:
            if stopper := await self.stops.run(request.id, writer.write()):
                writer.stop(await self.stops.describe(request.location, stopper))
        except Exception as error:  # noqa: BLE001 - every failure is shown to the asker
            writer.fail(error)
        draft = writer.draft
        if draft.written.silent:
            await self._discard(draft)
            return False
        if not self._query_slots.locked():  # other questions come first
            draft = replace(draft, suggestions=await self._suggestions.find(draft))
        await self._finish_answer(draft, delivery)
        if delivery.first_shown_at is not None:
            self._metrics.record_first_token(request.location.platform, delivery.first_shown_at - began)
        self._metrics.tracer.record(writer.end_journey())
        return True

    async def _discard(self, draft: AnswerDraft) -> None:
        """Remove all traces of an answer to an overheard message."""
        await self.record_usage(draft)
        await self._context.store.answers.delete(draft.request.id)
        self._metrics.record_question(draft.request.location.platform, "silent")

    async def record_usage(self, draft: AnswerDraft) -> None:
        """Count the tokens of an answer."""
        await self._quotas.record_usage(draft.request.location, draft.written.usage)
        self._metrics.record_usage(draft.written.usage)

    async def _finish_answer(self, draft: AnswerDraft, delivery: StreamingReply) -> None:
        request, written = draft.request, draft.written
        await self.record_usage(draft)
        try:
            delivered = await delivery.finish(written.text, await build_draft_footer(self._context, draft))
        except PermissionDenied as error:
            await self._refuse(request, error)
            return
        if not delivered:
            await self._fail(request, "withdrawn", draft)
        elif written.failed or draft.found.provenance is None:
            await self._fail(request, "stopped" if written.is_stopped else "failed", draft)
        else:
            await self._save_answer(draft, delivery)

    async def _save_answer(self, draft: AnswerDraft, delivery: StreamingReply) -> None:
        """Store the answer; withdraw it if a source was removed in the meantime.

        For a public answer a correction is stored as well, in case the platform fails now.
        """
        request, outcome = draft.request, "answered" if draft.is_supported else "nothing"
        event = await describe_question(self._context, request, outcome, draft)
        if not await self._context.store.answers.finish(request.id, draft.build_result(), event):
            await self._retract(request, delivery)
        self._metrics.record_question(request.location.platform, outcome)

    async def _retract(self, request: AnswerRequest, delivery: StreamingReply) -> None:
        try:
            await delivery.reply.replace(gettext(texts.SOURCE_REMOVED))
        except PlatformError as error:
            log.warning("answer.redaction_failed", reference=request.reference, error=type(error).__name__)
        else:
            await self._context.store.answer_corrections.finish(request.id)

    async def _fail(self, request: AnswerRequest, outcome: str, draft: AnswerDraft | None = None) -> None:
        self._metrics.record_question(request.location.platform, outcome)
        event = await describe_question(self._context, request, outcome, draft)
        await self._context.store.answers.fail(request.id, event)


class ThreadTurns:
    """The turns of the answers in each thread, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Location, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def take(self, location: Location) -> AsyncIterator[None]:
        """Wait until the answers of a thread, or of direct messages, that came before are finished."""
        if location.workspace and not location.thread:
            yield  # questions in a channel have nothing to do with each other
            return
        lock = self._locks.setdefault(location, asyncio.Lock())
        async with lock:
            yield


async def describe_question(
    context: BotContext, request: AnswerRequest, state: str, draft: AnswerDraft | None = None
) -> AuditEvent:
    """Who asked, where, how it ended, and which sources the answer drew on, as far as it was written."""
    place = request.location
    asker: Subject | str = SYSTEM if request.digest else Subject(place.platform, place.workspace, request.person)
    sources = describe_sources(draft.answer_sources, draft.found.retrieved) if draft is not None else {}
    event = AuditEvent("digest" if request.digest else "ask", state, asker, DOOR, workspace=place.workspace_key)
    return replace(event, place=await find_place(context, place), details={"answer": request.id, **sources})


async def describe_sharing(context: BotContext, stored: StoredAnswer, shared: str) -> AuditEvent:
    """Who shared a private answer, in which channel."""
    place = stored.location
    event = AuditEvent("share-answer", "done", Subject(place.platform, place.workspace, stored.asker), DOOR)
    details = {"answer": stored.id, "shared": shared, **describe_sources(stored.sources)}
    return replace(event, place=await find_place(context, place), details=details)


async def find_place(context: BotContext, location: Location) -> str:
    """The room of a place; none for direct messages, which would tell who writes there, nor if the lookup fails."""
    return "" if await context.audience.is_direct(location) else location.room
