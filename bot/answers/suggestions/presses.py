"""Ask a suggested question for the person who presses its button, once, where the answer with the button is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot import texts
from bot.answers.question import request_from_command
from bot.answers.review.rights import can_read_room
from bot.i18n import gettext
from bot.permissions.provenance import can_read, provenance_of_answer
from bot.platform.events import QuestionAsked
from bot.platform.models import Card
from bot.platform.ports import ReplyTarget
from bot.texts import control as control_texts
from bot.texts import suggestions as suggestion_texts

if TYPE_CHECKING:
    from bot.answers.question import AnswerRequest
    from bot.answers.service import AnswerService
    from bot.context import BotContext
    from bot.platform.events import ButtonPressed
    from bot.store import StoredAnswer


class SuggestionPresses:
    """Handles the buttons of suggestions. An event may be handled again, and then goes on with the same answer."""

    def __init__(self, context: BotContext, service: AnswerService) -> None:
        self._context = context
        self._service = service

    async def handle(self, pressed: ButtonPressed) -> None:
        """Ask the question, or tell the person why not. Raises PlatformError."""
        if notice := await self._ask(pressed):
            await self._context.send_private(ReplyTarget.of_presser(pressed), Card(notice))

    async def post_failure(self, pressed: ButtonPressed, error: Exception) -> None:
        """Report that a suggested question could not be answered."""
        stored, text = await self._find(pressed)
        if stored is not None and text:
            await self._service.post_failure(self._build_request(pressed, stored, text), error)

    async def _ask(self, pressed: ButtonPressed) -> str:
        """Ask the question; gives why not, if it is refused."""
        stored, text = await self._find(pressed)
        if stored is None:
            return gettext(texts.NO_ANSWER)
        if stored.private and pressed.person != stored.asker:
            return gettext(texts.NOT_THE_ASKER)
        if not text or not await self._may_read(pressed, stored):
            await self._withdraw(self._build_request(pressed, stored, text))
            is_replaced = stored.state != "redacted" and pressed.value.split(":")[1] != str(stored.attempt)
            return gettext(control_texts.REPLACED if is_replaced else texts.NO_ANSWER)
        request = self._build_request(pressed, stored, text)
        answers = self._context.store.answers
        begun = await answers.get(request.id)
        if begun is not None and begun.state == "failed":
            await answers.delete(request.id)
            begun = None
        if begun is not None and begun.state != "started":
            return gettext(suggestion_texts.ALREADY_ASKED)
        if begun is None:
            refusal, _ = await self._service.find_refusal(request)
            if refusal:
                return refusal
            await answers.begin(request.to_stored_answer())
        await self._service.answer(request)
        return ""

    async def _withdraw(self, request: AnswerRequest) -> None:
        """Take back what a process that crashed had begun to post of a question that may not be asked any more."""
        answers = self._context.store.answers
        begun = await answers.get(request.id)
        if begun is not None and begun.state == "started":
            await answers.fail(request.id)
            await answers.redact_one(request.id)

    async def _find(self, pressed: ButtonPressed) -> tuple[StoredAnswer | None, str]:
        """The answer with the button, and its question; empty if it is not suggested any more."""
        id_, _, rest = pressed.value.partition(":")
        attempt, _, number = rest.partition(":")
        stored = await self._context.store.answers.get(id_)
        if stored is None or not (attempt.isdecimal() and number.isdecimal()) or not _is_place_of(pressed, stored):
            return None, ""
        is_shown = stored.state == "done" and int(attempt) == stored.attempt and int(number) < len(stored.suggestions)
        return stored, stored.suggestions[int(number)] if is_shown else ""

    def _build_request(self, pressed: ButtonPressed, stored: StoredAnswer, text: str) -> AnswerRequest:
        """The question as a command of the person, which has the same id whenever they press the button.

        Its words come from what the answer with the button rests on, and go with that.
        """
        asked = QuestionAsked(
            f"suggestion:{pressed.value}:{pressed.person}",
            stored.location if stored.private else pressed.location,
            pressed.person,
            text,
            self._context.clock.now(),
            private=stored.private,
            handle=pressed.handle if stored.private else "",
            locale=pressed.locale,
        )
        return replace(request_from_command(asked), question_keys=stored.documents)

    async def _may_read(self, pressed: ButtonPressed, stored: StoredAnswer) -> bool:
        """Whether the person certainly can read the channel and all that the answer rests on."""
        location, person = stored.location, pressed.person
        if not await can_read_room(self._context, location.room, location, person):
            return False
        return bool(await can_read(self._context.audience, provenance_of_answer(stored), location, person))


def _is_place_of(pressed: ButtonPressed, stored: StoredAnswer) -> bool:
    """Whether a button was pressed where its answer is; a private one may be in a direct message."""
    if stored.private:
        return pressed.location.workspace_key == stored.location.workspace_key
    return pressed.location.room == stored.location.room
