"""The one fixture for tests of the bot: a platform in memory, the bot's database, a light engine, and a model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.answers.control.buttons import AnswerButtons
from bot.answers.corrections import AnswerCorrector
from bot.answers.question import request_from_command, request_from_message
from bot.answers.service import AnswerService
from bot.bot import Bot
from bot.capabilities.access.control import AccessControl
from bot.capabilities.deps import BotParts, Deps, RunningParts
from bot.context import BotContext
from bot.dispatch.dispatcher import AttachedPlatforms
from bot.ingest.service import IngestService
from bot.monitoring.metrics import Metrics
from bot.permissions.askers import Quotas
from bot.permissions.resolver import AudienceResolver
from bot.platform.events import BotAdded, MessageEdited, MessageReceived, MessagesDeleted, QuestionAsked
from bot.platform.models import Location, Message, Upload
from bot.store import BotStore, ChannelSettings, StoredAnswer
from engine import Clock, Engine, FileParser, ParserLimits, PictureDescriber
from engine.llm.base import Embedder
from engine.models import Scope
from engine.storage.ledger.records.query_results import DocumentInfo
from tests.support import echo_language
from tests.support.canned_language import CannedLanguage
from tests.support.clock import ManualClock
from tests.support.databases import find_database
from tests.support.fake_platform import START, FakePlatform, RecordedReply
from tests.support.patience import PATIENCE
from tests.support.plain_settings import plain_settings


@dataclass(frozen=True, slots=True)
class BotFixture:
    """The parts of a bot, and short ways to let something happen and to see what came of it."""

    context: BotContext
    ingest_service: IngestService
    answer_service: AnswerService
    platform: FakePlatform
    language: CannedLanguage
    metrics: Metrics

    @property
    def engine(self) -> Engine:
        return self.context.engine_context.engine

    @property
    def deps(self) -> Deps:
        access = AccessControl(self.store, self.clock, self.context.audience)
        parts = BotParts(self.store, lambda: self.ingest_service, access)
        return Deps(self.context.engine_context, RunningParts(parts), self.metrics)

    @property
    def clock(self) -> Clock:
        return self.context.clock

    @property
    def store(self) -> BotStore:
        return self.context.store

    # What happens.

    async def join(self, channel: str, *members: str, **facts: Any) -> Location:
        """Add the bot to a channel, and index its history."""
        place = self.platform.add_channel(channel, *members, **facts)
        await self.ingest_service.handle(BotAdded(place))
        await self.ingest_service.run_sync()
        return place

    async def receive(self, message: Message, *, addressed: bool = False) -> Message:
        await self.ingest_service.handle(MessageReceived(message, addressed))
        return message

    async def post(self, place: Location, author: str, text: str, **facts: Any) -> Message:
        """Post a message that the bot receives."""
        return await self.receive(self.platform.add_message(place, author, text, **facts))

    async def post_indexed(self, place: Location, author: str, text: str) -> Message:
        """Post a message, and wait until questions find it."""
        message = await self.post(place, author, text)
        await self.engine.wait_until_indexed()
        return message

    async def edit(self, message: Message, text: str) -> Message:
        edited = self.platform.edit_message(message, text)
        await self.ingest_service.handle(MessageEdited(edited))
        return edited

    async def delete(self, *messages: Message) -> None:
        for message in messages:
            self.platform.delete_message(message)
        place = messages[0].location.without_thread
        await self.ingest_service.handle(MessagesDeleted(place, tuple(message.id for message in messages)))

    def share(self, place: Location, *uploads: Upload, author: str = "ada", text: str = "") -> Message:
        """Post files that the bot does not know of yet."""
        return self.platform.add_message(place, author, text, uploads=uploads)

    async def save_settings(self, place: Location, settings: ChannelSettings | None = None, **changes: Any) -> None:
        await self.store.channel_settings.save(place.room, settings or ChannelSettings(**changes))

    def change_channel(self, place: Location, **facts: Any) -> None:
        """Change the facts of a channel, and let the bot look them up again."""
        self.platform.change_channel(place.channel, **facts)
        self.context.audience.invalidate(place)

    async def forget_person(self, person: str) -> None:
        await self.ingest_service.forget_person("slack", "T1", person)

    async def reconcile(self, later: float = 0.0) -> None:
        """Compare all channels with what the bot knows of them, `later` seconds after the last message."""
        self.platform.advance(later)
        await self.ingest_service.start_reconciliation("slack")
        await self.ingest_service.run_sync()

    async def backfill(self, place: Location, days: int = 3650) -> None:
        await self.ingest_service.start_backfill(place, days)
        await self.ingest_service.run_sync()

    async def rejoin(self, place: Location) -> None:
        await self.ingest_service.handle(BotAdded(place))
        await self.ingest_service.run_sync()

    # Questions and answers.

    async def ask(self, place: Location, person: str, text: str, uploads: tuple[Upload, ...] = ()) -> RecordedReply:
        """Mention the bot; gives its reply."""
        await self.answer(self.platform.add_message(place, person, f"<@BOT> {text}", uploads=uploads))
        return self.last_reply

    async def answer(self, message: Message) -> None:
        await self.answer_service.answer(request_from_message(message))

    async def ask_by_command(
        self, place: Location, person: str, text: str, *, private: bool = True, id_: str = "c1", **more: Any
    ) -> RecordedReply:
        asked = QuestionAsked(id_, place, person, text, START, private=private, **more)
        await self.answer_service.answer(request_from_command(asked))
        return self.last_reply

    def answer_buttons(self) -> AnswerButtons:
        """What handles the buttons below answers."""
        return AnswerButtons(self.context, self.metrics)

    async def correct_answers(self, now: float | None = None) -> None:
        """Replace posted answers that lost a source."""
        context = self.context
        if now:
            context = replace(context, clock=ManualClock(datetime.fromtimestamp(now, UTC)))
        await AnswerCorrector(context).process_due()

    @property
    def last_reply(self) -> RecordedReply:
        return self.platform.replies[-1]

    async def stored(self, reply: RecordedReply) -> StoredAnswer:
        found = await self.store.answers.get(reply.target.answer)
        assert found is not None
        return found

    async def wait_for_reply(self, text: str) -> None:
        """Return once the latest reply shows this text."""
        async with asyncio.timeout(PATIENCE):
            while not self.platform.replies or self.last_reply.text.strip() != text.strip():  # noqa: ASYNC110 - no event
                await asyncio.sleep(0.005)

    # What is known.

    async def list_documents(self, place: Location) -> list[DocumentInfo]:
        """The documents of a room by key."""
        found = await self.engine.documents.list(Scope(frozenset(), frozenset({place.room})))
        return sorted(found, key=lambda each: each.key)

    async def spaces(self, place: Location) -> list[str]:
        return [document.space for document in await self.list_documents(place)]

    async def document_texts(self, place: Location) -> dict[str, list[str]]:
        """The passages of a room by document, without room names and times."""
        scope, found = Scope(frozenset(), frozenset({place.room})), {}
        for each in await self.list_documents(place):
            document = await self.engine.documents.get(each.key, scope)
            texts = [passage.text.partition("] ")[2] or passage.text for passage in document.passages]
            found[each.key.removeprefix(f"{place.room}:")] = texts
        return found

    @asynccontextmanager
    async def run_bot(self) -> AsyncIterator[Bot]:
        """The whole bot with its event queue, attached to the platform."""
        attached, seconds = AttachedPlatforms(), self.context.settings.membership_cache_seconds
        audience = AudienceResolver(attached.platforms, self.store, seconds, self.clock)
        context = replace(self.context, audience=audience, platforms=attached.platforms)
        async with Bot.open(context, attached) as bot:
            bot.attach(self.platform)
            yield bot

    def with_settings(self, **changes: Any) -> BotContext:
        """The context with other settings."""
        return replace(self.context, settings=self.context.settings.model_copy(update=changes))


@asynccontextmanager
async def open_bot(
    home: Path,
    platform: FakePlatform | None = None,
    language: CannedLanguage | None = None,
    *,
    limits: ParserLimits | None = None,
    embedder: Embedder | None = None,
    parser: Any = None,
    describer: PictureDescriber | None = None,
    **settings: Any,
) -> AsyncIterator[BotFixture]:
    """Open a bot in this folder; a second one in the same folder is a restart."""
    platform, language = platform or FakePlatform(), language or CannedLanguage()
    clock = platform.clock
    metrics = Metrics(clock)
    limits = replace(limits or ParserLimits(workers=1), describes_pictures=describer is not None)
    chosen = plain_settings(data_dir=home, **settings)
    async with (
        echo_language.open_engine_context(home, language, embedder, clock) as opened,
        BotStore.open(find_database(home) or home / "bot.db", clock) as store,
        FileParser(limits, describer) as own,
    ):
        platforms = {platform.name: platform}
        audience = AudienceResolver(platforms, store, chosen.membership_cache_seconds, clock)
        engine_context = replace(opened, parser=parser or own)
        context = BotContext(engine_context, store, audience, platforms, chosen, clock)
        ingest = IngestService(context)
        quotas = Quotas(store, chosen.questions_per_minute, chosen.daily_token_budget, clock)
        answers = AnswerService(context, quotas, ingest.files, metrics)
        yield BotFixture(context, ingest, answers, platform, language, metrics)


def run_before(owner: Any, name: str, action: Callable[[], Any]) -> None:
    """Let something happen before the next call of an asynchronous method."""
    method = getattr(owner, name)

    async def call(*args: Any, **kwargs: Any) -> Any:
        setattr(owner, name, method)
        await action()
        return await method(*args, **kwargs)

    setattr(owner, name, call)


async def wait_for_call(owner: Any, name: str) -> None:
    """Wait until an asynchronous method is called the next time."""
    called = asyncio.Event()

    async def record_call() -> None:
        called.set()

    run_before(owner, name, record_call)
    await asyncio.wait_for(called.wait(), PATIENCE)


def with_settings(**settings: Any) -> pytest.MarkDecorator:
    """Open the `bot` of a test with these settings."""
    return pytest.mark.parametrize("bot", [settings], indirect=True, ids=["bot"])
