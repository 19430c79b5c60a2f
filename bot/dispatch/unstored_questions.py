"""Tell people whose questions cannot be stored that nobody answers them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from bot import texts
from bot.answers.question import request_from_message
from bot.i18n import use_language
from bot.platform.events import MessageReceived
from bot.platform.models import Card
from engine.errors import EngineError

if TYPE_CHECKING:
    from bot.context import BotContext
    from bot.platform.events import PlatformEvent
    from engine.scheduling.supervisor import Supervisor

log = structlog.get_logger(__name__)

MAX_TOLD = 1000  # messages


class UnstoredQuestions:
    """Messages to the bot that its database did not take. A platform that repeats one has it told once."""

    def __init__(self, context: BotContext, supervisor: Supervisor) -> None:
        self._context = context
        self._supervisor = supervisor
        self._told: dict[tuple[str, str], None] = {}  # the last ones, in order

    def tell_later(self, event: PlatformEvent, error: EngineError) -> None:
        """Tell the author in the background that their message was not stored; privately if the channel can."""
        if not isinstance(event, MessageReceived) or not event.addressed:
            return
        key = event.message.location.room, event.message.id
        if key in self._told:
            return
        self._told[key] = None
        if len(self._told) > MAX_TOLD:
            del self._told[next(iter(self._told))]
        self._supervisor.spawn("tell of an unstored question", self._tell(event, error))

    async def _tell(self, event: MessageReceived, error: EngineError) -> None:
        message = event.message
        try:
            language = await self._context.find_person_language(message.location, message.author)
            with use_language(language):
                card = Card(texts.describe_error(error))
            request = request_from_message(message, overheard=False)
            await self._context.send_private(request.reply_target(), card)
        except EngineError as failed:
            log.warning("event.notify_failed", error=type(failed).__name__)
