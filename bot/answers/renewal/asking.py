"""Ask the question of a redacted answer again, and show nothing while the answer is written."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import structlog

from bot.answers.attachments import Attachments
from bot.answers.delivery import StreamingReply
from bot.answers.question import find_language, request_from_message, resolve_request_scope
from bot.answers.writer import AnswerWriter
from bot.errors import PlatformError
from bot.i18n import use_language

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.answers.draft import AnswerDraft
    from bot.answers.question import AnswerRequest
    from bot.answers.service import AnswerService
    from bot.context import BotContext
    from bot.platform.models import AnswerFooter
    from bot.store import AnswerResult, StoredAnswer

log = structlog.get_logger(__name__)

TIMEOUT = 120.0  # seconds for one answer; what it replaces is visible until then
NO_ATTACHMENTS_WAIT = 0.0  # seconds


@dataclass(frozen=True, slots=True)
class FreshAnswer:
    """An answer that was asked again: what it says if it has a source, and its tokens."""

    result: AnswerResult | None = None
    tokens: int = 0


class UnseenReply:
    """A reply that nobody sees."""

    reply_ref = ""

    async def show_status(self, words: str) -> None:
        """Show nothing."""

    async def show(self, parts: Sequence[str]) -> bool | None:
        """Show nothing."""

    async def finish(self, parts: Sequence[str], footer: AnswerFooter) -> None:
        """Show nothing."""

    async def replace(self, text: str) -> None:
        """Show nothing."""


class AnswerAsker:
    """Asks again with the question that its message has now, for the audience that its place has now."""

    def __init__(self, context: BotContext, service: AnswerService) -> None:
        self._context = context
        self._service = service

    async def find_request(self, stored: StoredAnswer) -> AnswerRequest | None:
        """The question of an answer from its message; None if it cannot be had, or needs files."""
        location = stored.location
        if not stored.message_id:
            return None
        try:
            message = await self._context.platform_for(location).fetch_message(location, stored.message_id)
        except PlatformError:
            return None
        if message is None or message.uploads:
            return None
        request = request_from_message(message)
        return replace(
            request, id=stored.id, location=location, person=stored.asker, time=stored.time, attempt=stored.attempt + 1
        )

    async def ask(self, request: AnswerRequest, *, wait: bool) -> FreshAnswer | None:
        """Ask; the result is None if nothing was found or the answer failed.

        None with `wait`, as long as texts that the answer may use are not searchable yet.
        """
        try:
            async with asyncio.timeout(TIMEOUT):
                if wait and await self._is_indexing(request):
                    return None
                return await self._ask(request)
        except Exception as error:  # noqa: BLE001 - whatever it is, a notice must replace the old text
            log.warning("answer.renewal_failed", reference=request.reference, error=type(error).__name__)
            return FreshAnswer()

    async def _is_indexing(self, request: AnswerRequest) -> bool:
        scope = (await resolve_request_scope(self._context, request)).scope
        status = await self._context.engine_context.engine.maintenance.get_status(scope)
        return status.documents.get("pending", 0) > 0

    async def _ask(self, request: AnswerRequest) -> FreshAnswer:
        if await self._service.find_budget_refusal(request):
            return FreshAnswer()
        with use_language(await find_language(self._context, request)):
            draft = await self._write(request)
        await self._service.record_usage(draft)
        tokens = sum(call.input_tokens + call.output_tokens for call in draft.written.usage)
        is_said = draft.is_supported and not (draft.written.failed or draft.written.silent)
        return FreshAnswer(draft.build_result() if is_said else None, tokens)

    async def _write(self, request: AnswerRequest) -> AnswerDraft:
        limits = self._context.platform_for(request.location).limits
        delivery = StreamingReply(UnseenReply(), limits, _save_nothing, self._context.clock)
        attachments = Attachments(request, self._service.file_ingest, NO_ATTACHMENTS_WAIT, self._context.clock)
        writer = AnswerWriter(self._context, self._service.writer_parts, request, delivery, attachments)
        await writer.write()
        return writer.draft


async def _save_nothing(reply_ref: str) -> None:
    del reply_ref  # there is none
