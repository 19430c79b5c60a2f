"""The bot: what happens on the platforms goes through the inbox to the rooms that know what it means."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import structlog

from bot import commands, texts
from bot.answers.buttons import AnswerButtons
from bot.answers.corrections import AnswerCorrector
from bot.answers.history import ThreadHistory
from bot.answers.request import request_from_command, request_from_message, started_answer_id, strip_mention
from bot.answers.service import AnswerService
from bot.commands.home import build_home_card
from bot.context import BotContext
from bot.dispatch.addressing import ReplyPolicy
from bot.dispatch.event_queue import EventQueue
from bot.dispatch.follow_up.question_rules import is_small_talk
from bot.dispatch.visibility_changes import VisibilityChanges
from bot.errors import NotConnected, PermissionDenied, PlatformError
from bot.ingest.service import IngestService
from bot.monitoring import Metrics, list_health_problems
from bot.permissions.quotas import Quotas
from bot.permissions.resolver import AudienceResolver
from bot.platform.events import (
    ButtonPressed,
    CommandInvoked,
    MessageEdited,
    MessageReceived,
    QuestionAsked,
    VisibilityChanged,
    WorkspaceLeft,
    platform_of,
)
from bot.platform.models import Card
from bot.platform.ports import ReplyTarget
from engine import FileParser, cancel_tasks
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.answers.request import AnswerRequest
    from bot.engine_context import EngineContext
    from bot.platform.events import PlatformEvent
    from bot.platform.models import Location, Message
    from bot.platform.ports import Platform
    from bot.settings import Settings
    from bot.store import BotStore

log = structlog.get_logger(__name__)

CONNECT_TIMEOUT = 60.0  # seconds that what happened waits for its platform to be connected
HELP_WORDS = frozenset(
    {"help", "help!", "help?", "hi", "hi!", "hello", "hello!"}
)  # who says no more to the bot is told what it can do
REFRESH_INTERVAL = 15.0  # seconds between two looks at how much waits in the inbox, and at what failed


class Bot:
    """One bot for all platforms. `async with Bot.open(...) as bot`; adapters attach their platform and let it hear."""

    def __init__(self, house: BotContext, platforms: dict[str, Platform], reader: FileParser) -> None:
        self.context = house
        self.settings = house.settings
        self.store = house.store
        self.metrics = Metrics()
        guards = Quotas(house.store, house.settings.questions_per_minute, house.settings.daily_token_budget)
        self.ingest_service = IngestService(house, reader)
        self.answer_service = AnswerService(house, guards, self.ingest_service.files, self.metrics)
        self.supervisor = house.engine_context.engine.supervisor
        self.metrics.register_supervisor(self.supervisor)
        self.event_queue = EventQueue(house.store, self, supervisor=self.supervisor)
        self._visibility_changes = VisibilityChanges(house.audience, self.event_queue, self.ingest_service)
        self._reply_policy = ReplyPolicy(house, ThreadHistory(house))
        self._answer_buttons = AnswerButtons(house, self.metrics)
        self.corrector = AnswerCorrector(house)
        self._platforms = platforms
        self._attached: dict[str, asyncio.Event] = {}
        self._addressed: set[tuple[str, str]] = set()
        self._queue_depth = 0

    @classmethod
    @asynccontextmanager
    async def open(cls, desk: EngineContext, store: BotStore, settings: Settings) -> AsyncIterator[Bot]:
        """Begin to work on what the inbox holds; when left, what is under way is finished first."""
        platforms: dict[str, Platform] = {}
        house = BotContext(
            desk, store, AudienceResolver(platforms, store, settings.membership_cache_seconds), platforms, settings
        )
        async with FileParser(desk.parser_limits) as reader:
            await store.answers.redact_pending()
            bot = cls(house, platforms, reader)
            bot.metrics.set_queue_depth(lambda: bot._queue_depth)
            async with bot.event_queue:
                run = bot.supervisor.run
                tasks = (
                    run("background work", bot.ingest_service.run),
                    run("answer corrections", bot.corrector.run),
                    run("watch", bot._monitor),
                )
                try:
                    yield bot
                finally:
                    await cancel_tasks(*tasks)

    # What adapters call.

    def attach(self, platform: Platform) -> None:
        """The platform can be spoken to from now on."""
        self._platforms[platform.name] = platform
        self._attached_event(platform.name).set()
        self.store.answer_corrections.updated.set()
        self.record_activity(platform.name)
        self.event_queue.retry_now()

    async def receive(self, happening: PlatformEvent, *keys: str) -> bool:
        """Keep what happened; durable when it returns. False if it was known already by one of the keys."""
        if isinstance(happening, VisibilityChanged):
            return await self._visibility_changes.receive(happening, *keys)
        return await self.event_queue.enqueue(happening, *keys)

    async def suggest_names(self, person: str, place: Location, prefix: str) -> list[str]:
        """Names that begin like this, as far as the person may read of them; none if that cannot be known."""
        with suppress(EngineError):
            return await self.context.engine_context.engine.find_names(
                prefix, await self.context.audience.scope_for_person(place, person)
            )
        return []

    async def build_home_card(self, platform: str, workspace: str, person: str) -> Card:
        """A page for one person: what is indexed that they may read, and what they can do."""
        return await build_home_card(self.context, platform, workspace, person, datetime.now(UTC))

    def record_activity(self, platform: str) -> None:
        """The platform gave a sign of life."""
        self.metrics.record_activity(platform)

    def suspend_visibility(self, platform: str) -> None:
        """Who reads what there may have changed unnoticed: no space is believed until `catch_up`, which follows."""
        self._visibility_changes.suspend(platform)

    async def reconcile(self, platform: str) -> None:
        """The connection had been lost: look for what was missed."""
        self.event_queue.retry_now()
        await self._visibility_changes.reconcile(platform)

    def list_health_problems(self) -> list[str]:
        """Why the bot is not well; nothing if it is."""
        return list_health_problems(self.metrics, self._attached, working=self.event_queue.is_running)

    async def limitations(self) -> list[str]:
        """What fails, or was given up, while the bot goes on working."""
        return [*await self.context.engine_context.engine.list_problems(), *await self.event_queue.limitations()]

    # What the inbox calls.

    def ordering_key(self, happening: PlatformEvent) -> str:
        """What happens in a room is learnt from in order; questions and commands wait for nothing."""
        match happening:
            case QuestionAsked() | CommandInvoked() | ButtonPressed():
                return ""
            case WorkspaceLeft():
                return f"{happening.platform}:{happening.workspace}"
            case MessageReceived(message) | MessageEdited(message):
                return message.location.room
            case _:
                return happening.location.room

    async def ingest(self, happening: PlatformEvent) -> None:
        """Learn from it."""
        await self._wait_for_platform(platform_of(happening))
        if (
            isinstance(happening, MessageReceived)
            and not happening.addressed
            and await self._reply_policy.should_answer(happening.message)
        ):
            happening = MessageReceived(happening.message, addressed=True)
        if isinstance(happening, MessageReceived) and happening.addressed:
            self._addressed.add((happening.message.location.room, happening.message.id))
        await self.ingest_service.handle(happening)

    async def process(self, happening: PlatformEvent) -> None:
        """Answer, obey, or take files in."""
        match happening:
            case MessageReceived(message):
                key = (message.location.room, message.id)
                if key not in self._addressed:
                    await self.ingest_service.files.ingest_and_confirm(message)
                    return
                await self._answer_message(message, overheard=not happening.addressed)
                self._addressed.discard(key)
            case QuestionAsked():
                await self.answer_service.answer(request_from_command(happening))
            case CommandInvoked():
                await self._run_command(happening)
            case ButtonPressed():
                await self._handle_button(happening)

    async def _answer_message(self, message: Message, *, overheard: bool) -> None:
        """Answer a message; one that was overheard, and is none of the bot's, is learned from instead."""
        if strip_mention(message.text).casefold() in HELP_WORDS and not message.uploads and not overheard:
            thread = replace(message.location, thread=message.reply_thread)
            await self._run_command(
                CommandInvoked(message.id, thread, message.author, "help", time=message.time, message=message)
            )
        elif not overheard and not message.uploads and is_small_talk(strip_mention(message.text)):
            with suppress(PermissionDenied):
                await self.context.platform_for(message.location).set_reaction(message.location, message.id, "done")
        elif not await self._reply_policy.handle_stop(message) and not await self.answer_service.answer(
            request_from_message(message, overheard=overheard)
        ):
            await self.ingest_service.ingest_unaddressed(message)

    async def handle_failure(self, happening: PlatformEvent, error: Exception) -> None:
        """It was tried often enough: whoever waits is told."""
        request = self._build_request(happening)
        if isinstance(happening, MessageReceived):
            self._addressed.discard((happening.message.location.room, happening.message.id))
        try:
            if request is not None:
                await self.answer_service.post_failure(request, error)
            elif isinstance(happening, MessageReceived) and happening.message.uploads:
                await self.ingest_service.files.report_failure(happening.message, error)
            elif isinstance(happening, CommandInvoked | ButtonPressed):
                await self.store.answers.delete_unfinished(started_answer_id(happening))
                await self._send_private(happening, Card(texts.describe_error(error)))
            elif isinstance(happening, VisibilityChanged) and not isinstance(error, PlatformError):
                self._visibility_changes.retry_later(happening)
        except EngineError as silent:
            log.warning("nobody_was_told", error=type(silent).__name__)

    def _build_request(self, happening: PlatformEvent) -> AnswerRequest | None:
        match happening:
            case MessageReceived(message) if (message.location.room, message.id) in self._addressed:
                return request_from_message(message, overheard=not happening.addressed)
            case QuestionAsked():
                return request_from_command(happening)
        return None

    async def _run_command(self, call: CommandInvoked) -> None:
        try:
            card = await commands.run_command(self, call)
        except EngineError as error:
            if isinstance(error, PlatformError) and not isinstance(error, PermissionDenied):
                raise  # it may pass
            card = Card(texts.describe_error(error))
        if card is not None:
            await self._send_private(call, card)

    async def _handle_button(self, clicked: ButtonPressed) -> None:
        """A button below an answer; any other one is a command."""
        if self._answer_buttons.is_answer_button(clicked):
            await self._answer_buttons.handle(clicked)
            return
        await self._run_command(
            CommandInvoked(
                clicked.id, clicked.location, clicked.person, clicked.action, clicked.value, handle=clicked.handle
            )
        )

    async def _send_private(self, to: CommandInvoked | ButtonPressed, card: Card) -> None:
        said = to.message if isinstance(to, CommandInvoked) and not to.handle else None  # it was called in words
        below = said.id if said is not None else ""
        await self.context.send_private(
            ReplyTarget("", to.location, to.person, below, private=not below, handle=to.handle), card
        )

    # Being connected.

    def expect_platform(self, platform: str) -> None:
        """The platform will be attached; what happened there waits for it."""
        self._attached_event(platform)

    def _attached_event(self, platform: str) -> asyncio.Event:
        return self._attached.setdefault(platform, asyncio.Event())

    async def _wait_for_platform(self, platform: str) -> None:
        waiting = self._attached.get(platform)
        if waiting is not None and not waiting.is_set():
            try:
                async with asyncio.timeout(CONNECT_TIMEOUT):
                    await waiting.wait()
            except TimeoutError:
                raise NotConnected(f"There is no connection to {platform} yet.") from None

    async def _monitor(self) -> None:
        while True:
            self._queue_depth = await self.event_queue.depth()
            await self._visibility_changes.retry_failed()
            self.supervisor.record_success("watch")
            await asyncio.sleep(REFRESH_INTERVAL)
