"""The bot: what happens on the platforms goes through the inbox to the rooms that know what it means."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import structlog

from bot import commands, texts
from bot.answers.buttons import Clicks
from bot.answers.corrections import AnswerCorrector
from bot.answers.history import Historian
from bot.answers.request import begun, commanded, heard, spoken
from bot.answers.service import Answering
from bot.commands.home import homepage
from bot.context import House
from bot.dispatch.addressing import Following
from bot.dispatch.event_queue import Inbox
from bot.dispatch.follow_up.question_rules import is_small_talk
from bot.dispatch.visibility_changes import Changes
from bot.errors import NotConnected, PlatformError, Withheld
from bot.ingest.service import Listening
from bot.monitoring import Metrics, complaints
from bot.permissions.quotas import Guards
from bot.permissions.resolver import Readers
from bot.platform.events import Asked, Called, Changed, Clicked, Edited, Ended, Heard, platform_of
from bot.platform.models import Card
from bot.platform.ports import Target
from engine.errors import EngineError
from engine.parsers import Reader
from engine.scheduling.tasks import end

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.answers.request import Request
    from bot.engine_context import Desk
    from bot.platform.events import Happening
    from bot.platform.models import Message, Place
    from bot.platform.ports import Platform
    from bot.settings import Settings
    from bot.store import Store

log = structlog.get_logger(__name__)

CONNECTING = 60.0  # seconds that what happened waits for its platform to be connected
HELP = frozenset(
    {"help", "help!", "help?", "hi", "hi!", "hello", "hello!"}
)  # who says no more to the bot is told what it can do
REFRESH = 15.0  # seconds between two looks at how much waits in the inbox, and at what failed


class Bot:
    """One bot for all platforms. `async with Bot.open(...) as bot`; adapters attach their platform and let it hear."""

    def __init__(self, house: House, platforms: dict[str, Platform], reader: Reader) -> None:
        self.house = house
        self.settings = house.settings
        self.store = house.store
        self.metrics = Metrics()
        guards = Guards(house.store, house.settings.questions_per_minute, house.settings.tokens_per_day)
        self.listening = Listening(house, reader)
        self.answering = Answering(house, guards, self.listening.filing, self.metrics)
        self.supervisor = house.desk.engine.supervisor
        self.metrics.supervise(self.supervisor)
        self.inbox = Inbox(house.store, self, supervisor=self.supervisor)
        self._changes = Changes(house.readers, self.inbox, self.listening)
        self._following = Following(house, Historian(house))
        self._clicks = Clicks(house, self.metrics)
        self.corrector = AnswerCorrector(house)
        self._platforms = platforms
        self._attached: dict[str, asyncio.Event] = {}
        self._asked: set[tuple[str, str]] = set()
        self._depth = 0

    @classmethod
    @asynccontextmanager
    async def open(cls, desk: Desk, store: Store, settings: Settings) -> AsyncIterator[Bot]:
        """Begin to work on what the inbox holds; when left, what is under way is finished first."""
        platforms: dict[str, Platform] = {}
        house = House(desk, store, Readers(platforms, store, settings.member_age), platforms, settings)
        async with Reader(desk.limits) as reader:
            await store.answers.blank_pending()
            bot = cls(house, platforms, reader)
            bot.metrics.waiting(lambda: bot._depth)
            async with bot.inbox:
                run = bot.supervisor.run
                tasks = (
                    run("background work", bot.listening.work),
                    run("answer corrections", bot.corrector.work),
                    run("watch", bot._watch),
                )
                try:
                    yield bot
                finally:
                    await end(*tasks)

    # What adapters call.

    def attach(self, platform: Platform) -> None:
        """The platform can be spoken to from now on."""
        self._platforms[platform.name] = platform
        self._event(platform.name).set()
        self.store.corrections.news.set()
        self.alive(platform.name)
        self.inbox.retry_now()

    async def hear(self, happening: Happening, *keys: str) -> bool:
        """Keep what happened; durable when it returns. False if it was known already by one of the keys."""
        if isinstance(happening, Changed):
            return await self._changes.hear(happening, *keys)
        return await self.inbox.put(happening, *keys)

    async def suggest(self, person: str, place: Place, prefix: str) -> list[str]:
        """Names that begin like this, as far as the person may read of them; none if that cannot be known."""
        with suppress(EngineError):
            return await self.house.desk.engine.names(prefix, await self.house.readers.scope_alone(place, person))
        return []

    async def home(self, platform: str, workspace: str, person: str) -> Card:
        """A page for one person: what is indexed that they may read, and what they can do."""
        return await homepage(self.house, platform, workspace, person, datetime.now(UTC))

    def alive(self, platform: str) -> None:
        """The platform gave a sign of life."""
        self.metrics.heard(platform)

    def doubt(self, platform: str) -> None:
        """Who reads what there may have changed unnoticed: no space is believed until `catch_up`, which follows."""
        self._changes.doubt(platform)

    async def catch_up(self, platform: str) -> None:
        """The connection had been lost: look for what was missed."""
        self.inbox.retry_now()
        await self._changes.catch_up(platform)

    def complaints(self) -> list[str]:
        """Why the bot is not well; nothing if it is."""
        return complaints(self.metrics, self._attached, working=self.inbox.working)

    async def limitations(self) -> list[str]:
        """What fails, or was given up, while the bot goes on working."""
        return [*await self.house.desk.engine.limitations(), *await self.inbox.limitations()]

    # What the inbox calls.

    def lane(self, happening: Happening) -> str:
        """What happens in a room is learnt from in order; questions and commands wait for nothing."""
        match happening:
            case Asked() | Called() | Clicked():
                return ""
            case Ended():
                return f"{happening.platform}:{happening.workspace}"
            case Heard(message) | Edited(message):
                return message.place.room
            case _:
                return happening.place.room

    async def listen(self, happening: Happening) -> None:
        """Learn from it."""
        await self._connected(platform_of(happening))
        if (
            isinstance(happening, Heard)
            and not happening.addressed
            and await self._following.answers(happening.message)
        ):
            happening = Heard(happening.message, addressed=True)
        if isinstance(happening, Heard) and happening.addressed:
            self._asked.add((happening.message.place.room, happening.message.id))
        await self.listening.take(happening)

    async def follow(self, happening: Happening) -> None:
        """Answer, obey, or take files in."""
        match happening:
            case Heard(message):
                key = (message.place.room, message.id)
                if key not in self._asked:
                    await self.listening.filing.file(message)
                    return
                await self._reply(message, overheard=not happening.addressed)
                self._asked.discard(key)
            case Asked():
                await self.answering.answer(commanded(happening))
            case Called():
                await self._obey(happening)
            case Clicked():
                await self._click(happening)

    async def _reply(self, message: Message, *, overheard: bool) -> None:
        """Answer a message; one that was overheard, and is none of the bot's, is learned from instead."""
        if spoken(message.text).casefold() in HELP and not message.uploads and not overheard:
            thread = replace(message.place, thread=message.thread)
            await self._obey(Called(message.id, thread, message.author, "help", time=message.time, message=message))
        elif not overheard and not message.uploads and is_small_talk(spoken(message.text)):
            with suppress(Withheld):
                await self.house.platform(message.place).sign(message.place, message.id, "done")
        elif not await self._following.stop(message) and not await self.answering.answer(
            heard(message, overheard=overheard)
        ):
            await self.listening.learn(message)

    async def give_up(self, happening: Happening, error: Exception) -> None:
        """It was tried often enough: whoever waits is told."""
        request = self._request(happening)
        if isinstance(happening, Heard):
            self._asked.discard((happening.message.place.room, happening.message.id))
        try:
            if request is not None:
                await self.answering.give_up(request, error)
            elif isinstance(happening, Heard) and happening.message.uploads:
                await self.listening.filing.give_up(happening.message, error)
            elif isinstance(happening, Called | Clicked):
                await self.store.answers.abandon(begun(happening))
                await self._whisper(happening, Card(texts.failure(error)))
            elif isinstance(happening, Changed) and not isinstance(error, PlatformError):
                self._changes.owe(happening)
        except EngineError as silent:
            log.warning("nobody_was_told", error=type(silent).__name__)

    def _request(self, happening: Happening) -> Request | None:
        match happening:
            case Heard(message) if (message.place.room, message.id) in self._asked:
                return heard(message, overheard=not happening.addressed)
            case Asked():
                return commanded(happening)
        return None

    async def _obey(self, call: Called) -> None:
        try:
            card = await commands.run(self, call)
        except EngineError as error:
            if isinstance(error, PlatformError) and not isinstance(error, Withheld):
                raise  # it may pass
            card = Card(texts.failure(error))
        if card is not None:
            await self._whisper(call, card)

    async def _click(self, clicked: Clicked) -> None:
        """A button below an answer; any other one is a command."""
        if self._clicks.knows(clicked):
            await self._clicks.take(clicked)
            return
        await self._obey(
            Called(clicked.id, clicked.place, clicked.person, clicked.action, clicked.value, handle=clicked.handle)
        )

    async def _whisper(self, to: Called | Clicked, card: Card) -> None:
        said = to.message if isinstance(to, Called) and not to.handle else None  # it was called in words
        below = said.id if said is not None else ""
        await self.house.whisper(Target("", to.place, to.person, below, private=not below, handle=to.handle), card)

    # Being connected.

    def expect(self, platform: str) -> None:
        """The platform will be attached; what happened there waits for it."""
        self._event(platform)

    def _event(self, platform: str) -> asyncio.Event:
        return self._attached.setdefault(platform, asyncio.Event())

    async def _connected(self, platform: str) -> None:
        waiting = self._attached.get(platform)
        if waiting is not None and not waiting.is_set():
            try:
                async with asyncio.timeout(CONNECTING):
                    await waiting.wait()
            except TimeoutError:
                raise NotConnected(f"There is no connection to {platform} yet.") from None

    async def _watch(self) -> None:
        while True:
            self._depth = await self.inbox.depth()
            await self._changes.make_up()
            self.supervisor.succeeded("watch")
            await asyncio.sleep(REFRESH)
