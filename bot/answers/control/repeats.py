"""Answer a question again, by a button or because it was edited, in place of its answer.

Where only the asker sees it, the answer is a new message.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from bot import texts
from bot.answers.question import AnswerRequest, request_from_message
from bot.errors import PlatformError
from bot.i18n import gettext
from bot.platform.events import QuestionAsked
from bot.platform.models import Card
from bot.platform.ports import ReplyTarget
from bot.text.speech.addressed import classify_addressed
from bot.text.speech.mentions import strip_mention
from bot.texts import control as control_texts

if TYPE_CHECKING:
    from bot.answers.service import AnswerService
    from bot.context import BotContext
    from bot.platform.events import ButtonPressed
    from bot.platform.models import Message
    from bot.store import StoredAnswer

REPEAT_ACTION = "again"
EDIT_PERIOD = timedelta(days=1)  # after which an edited question is not answered again


class AnswerRepeater:
    """Handles the button that asks again. An event may be handled again, and then goes on with the same answer."""

    def __init__(self, context: BotContext, service: AnswerService) -> None:
        self._context = context
        self._service = service

    async def handle(self, pressed: ButtonPressed) -> None:
        """Answer again, or tell the person why not. Raises PlatformError."""
        if notice := await self._repeat(pressed):
            await self._context.send_private(ReplyTarget.of_presser(pressed), Card(notice))

    async def begin_edited(self, message: Message) -> None:
        """Begin to answer a question again because its author reworded it; durable when it returns.

        One that is being answered keeps its words until that is finished, and is begun again then. An author whose
        edit may not be answered is told why.
        """
        stored = await self._context.store.answers.get_by_message(message.location.without_thread, message.id)
        if stored is None or stored.message_id != message.id or not self._is_reworded(stored, message):
            return
        if stored.state != "started" and not await self._is_refused(stored, message):
            await self._begin(stored, stored.attempt, message)

    async def answer_edited(self, message: Message) -> bool:
        """Answer a reworded question in place of its answer; false if there is none. Raises PlatformError."""
        stored = await self._context.store.answers.get_by_message(message.location.without_thread, message.id)
        if stored is None or stored.message_id != message.id:
            return False
        if self._is_reworded(stored, message):
            async with self._service.turns.take(stored.location):
                stored = await self._context.store.answers.get(stored.id) or stored
                if await self._is_refused(stored, message):
                    return True
                await self._begin(stored, stored.attempt, message)
                stored = await self._context.store.answers.get(stored.id) or stored
        if stored.attempt and await self._begin(stored, stored.attempt - 1, message):
            await self._service.answer(self._build_edited(stored, message))
        return True

    async def _is_refused(self, stored: StoredAnswer, message: Message) -> bool:
        """Whether an edit may not be answered; its author is told why."""
        request = self._build_edited(stored, message)
        refusal, _ = await self._service.find_refusal(request)
        if refusal:
            await self._context.send_private(request.reply_target(), Card(refusal))
        return bool(refusal)

    def _is_reworded(self, stored: StoredAnswer, message: Message) -> bool:
        """Whether an edit of a recent question changed more than its blanks."""
        is_recent = self._context.clock.now() - message.time < EDIT_PERIOD
        return (
            is_recent
            and not stored.private
            and bool(stored.question)
            and _words(stored.question) != _words(message.text)
            and classify_addressed(message.text) == "question"
        )

    async def _begin(self, stored: StoredAnswer, attempt: int, message: Message) -> bool:
        now, event = self._context.clock.time(), f"edit:{sha256(message.text.encode()).hexdigest()[:20]}"
        return await self._context.store.answer_repeats.begin(stored.id, attempt, event, now, message.text)

    def _build_edited(self, stored: StoredAnswer, message: Message) -> AnswerRequest:
        return replace(
            request_from_message(message), location=stored.location, time=stored.time, attempt=stored.attempt
        )

    async def report_edited(self, message: Message, error: Exception) -> None:
        """Report that a reworded question could not be answered again."""
        stored = await self._context.store.answers.get_by_message(message.location.without_thread, message.id)
        if stored and stored.message_id == message.id and stored.attempt and stored.state == "started":
            await self._service.post_failure(self._build_edited(stored, message), error)

    async def post_failure(self, pressed: ButtonPressed, error: Exception) -> None:
        """Report that a question could not be answered again."""
        stored, attempt = await self._find(pressed)
        if stored is not None and stored.attempt == attempt + 1:
            await self._service.post_failure(await self._build_request(stored, pressed, attempt), error)

    async def _repeat(self, pressed: ButtonPressed) -> str:
        """Answer again; gives why not, if it is refused."""
        stored, attempt = await self._find(pressed)
        if stored is None or stored.state == "redacted":
            return gettext(texts.NO_ANSWER)
        if pressed.person != stored.asker:
            return gettext(texts.NOT_THE_ASKER)
        request = await self._build_request(stored, pressed, attempt)
        if stored.state != "started" and stored.attempt == attempt:
            refusal, _ = await self._service.find_refusal(request)
            if refusal:
                return refusal
        now = self._context.clock.time()
        if not await self._context.store.answer_repeats.begin(stored.id, attempt, pressed.id, now):
            is_replaced = stored.attempt > attempt and stored.state != "started"
            return gettext(control_texts.REPLACED) if is_replaced else ""
        await self._service.answer(request)
        return ""

    async def _find(self, pressed: ButtonPressed) -> tuple[StoredAnswer | None, int]:
        """The answer of a button, and the attempt that the button is for."""
        id_, _, attempt = pressed.value.partition(":")
        stored = await self._context.store.answers.get(id_)
        if stored is None or not attempt.isdigit() or stored.location.workspace_key != pressed.location.workspace_key:
            return None, 0
        return stored, int(attempt)

    async def _build_request(self, stored: StoredAnswer, pressed: ButtonPressed, attempt: int) -> AnswerRequest:
        """The same question at the same place, as it was asked at that time.

        A question without a message may have been a suggested one, whose words go with what it rests on.
        """
        return AnswerRequest(
            stored.id,
            stored.location,
            stored.asker,
            stored.question,
            stored.time,
            message=stored.message_id,
            private=stored.private,
            handle=pressed.handle if stored.private else "",
            origin=await self._find_origin(stored),
            attempt=attempt + 1,
            question_keys=frozenset() if stored.message_id else stored.documents,
        )

    async def _find_origin(self, stored: StoredAnswer) -> Message | QuestionAsked | None:
        """The message of a question, if it can be fetched; or its command."""
        location = stored.location
        if not stored.message_id:
            text, private = stored.question, stored.private
            return QuestionAsked(stored.id, location, stored.asker, text, stored.time, private=private)
        with suppress(PlatformError):
            return await self._context.platform_for(location).fetch_message(location, stored.message_id)
        return None


def _words(text: str) -> list[str]:
    return strip_mention(text).split()
