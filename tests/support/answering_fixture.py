"""A household in which questions are asked, with a language whose answers may be written down beforehand."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.answers.request import request_from_command, request_from_message
from bot.answers.service import AnswerService
from bot.context import BotContext
from bot.ingest.service import IngestService
from bot.monitoring import Metrics
from bot.permissions.quotas import Quotas
from bot.permissions.resolver import AudienceResolver
from bot.platform.events import QuestionAsked
from bot.platform.models import Person
from bot.settings import Settings
from bot.store import BotStore
from engine import FileParser
from engine.usage import Usage
from tests.support import echo_language
from tests.support.bot_fixture import BotFixture
from tests.support.fake_platform import START, FakePlatform

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from pathlib import Path

    from bot.platform.models import Location, Message, Upload
    from engine.models import Prompt
    from engine.usage import UsageMeter
    from tests.support.fake_platform import RecordedReply


class CannedLanguage(echo_language.EchoLanguage):
    """Says `reply`, or else what a parrot says; an error among the pieces is raised.

    `cut_off`: the model stops before it has finished; `filtered`: because of a filter. `going`: a gate before every
    piece but the first. `prompts` are what it was asked, `said` is set with each piece.
    """

    cut_off = False
    filtered = False

    def __init__(self, *reply: str | Exception) -> None:
        super().__init__()
        self.reply = reply
        self.gate = asyncio.Event()
        self.gate.set()
        self.piece_sent = asyncio.Event()
        self.prompts: list[Prompt] = []

    async def answer(self, prompt: Prompt, bill: UsageMeter) -> AsyncGenerator[str, None]:
        self.prompts.append(prompt)
        bill.record(
            Usage("answer", self.name, input_tokens=100, output_tokens=10, cut_off=self.cut_off, filtered=self.filtered)
        )
        if not self.reply:
            async for said in super().answer(prompt, bill):
                yield said
            return
        for number, piece in enumerate(self.reply):
            if number:
                await self.gate.wait()
            if isinstance(piece, Exception):
                raise piece
            yield piece
            self.piece_sent.set()


@dataclass(frozen=True, slots=True)
class AnsweringFixture(BotFixture):
    """A household that answers."""

    answer_service: AnswerService
    language: CannedLanguage
    metrics: Metrics

    async def ask(self, place: Location, person: str, text: str, uploads: tuple[Upload, ...] = ()) -> RecordedReply:
        """Somebody mentions the bot; gives the reply in the end."""
        message = self.platform.add_message(place, person, f"<@BOT> {text}", uploads=uploads)
        await self.answer(message)
        return self.last_reply

    async def answer(self, message: Message) -> None:
        """The bot answers a message."""
        await self.answer_service.answer(request_from_message(message))

    async def ask_by_command(
        self, place: Location, person: str, text: str, *, private: bool = True, **more: Any
    ) -> RecordedReply:
        """Somebody asks by a command."""
        await self.answer_service.answer(
            request_from_command(QuestionAsked("c1", place, person, text, START, private=private, **more))
        )
        return self.last_reply

    @property
    def last_reply(self) -> RecordedReply:
        """The latest reply."""
        return self.platform.replies[-1]

    async def wait_until_indexed(self) -> None:
        """Return once all that was said is searchable."""
        await self.context.engine_context.engine.wait_until_indexed()


@asynccontextmanager
async def open_answering_bot(
    home: Path, language: CannedLanguage | None = None, platform: FakePlatform | None = None, **settings: Any
) -> AsyncIterator[AnsweringFixture]:
    """Open one in this folder; a second one in the same folder is a restart."""
    platform, language, metrics = platform or FakePlatform(), language or CannedLanguage(), Metrics()
    chosen = Settings(data_dir=home, **settings)
    async with (
        echo_language.open_engine_context(home, language) as desk,
        BotStore.open(home / "bot.db") as store,
        FileParser(desk.parser_limits) as reader,
    ):
        platforms = {platform.name: platform}
        house = BotContext(
            desk, store, AudienceResolver(platforms, store, chosen.membership_cache_seconds), platforms, chosen
        )
        listening = IngestService(house, reader)
        guards = Quotas(store, chosen.questions_per_minute, chosen.daily_token_budget)
        answering = AnswerService(house, guards, listening.files, metrics)
        yield AnsweringFixture(house, listening, platform, answering, language, metrics)


def add_guest(platform: FakePlatform, name: str) -> str:
    """Somebody who may not read every open channel."""
    platform.people[name] = Person(name, name.title(), is_guest=True)
    return name
