"""A bot with an open and a closed channel, people of all kinds, and commands given in it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from bot.answers.question import AnswerRequest
from bot.answers.service import AnswerService
from bot.capabilities.deps import Deps
from bot.commands.table import run_command
from bot.context import BotContext
from bot.ingest.conversations import MessageRun, window_key
from bot.ingest.documents import ConversationDocuments
from bot.ingest.service import IngestService
from bot.platform.events import CommandInvoked
from bot.platform.models import Card, Location, Message, Person, Upload
from bot.store import AnswerResult, AnswerSource, FileRecord
from engine import Engine
from engine.models import Document, Passage
from tests.support.bot_fixture import BotFixture
from tests.support.builders import ROOF, make_answer
from tests.support.fake_platform import START, FakePlatform

NOW = START + timedelta(days=2)
ATTIC = replace(ROOF, channel="ATTIC")
OPEN = "slack:T1:open"


@dataclass
class RecordingAnswers:
    """Records the questions that commands ask, and those that are counted before they answer themselves."""

    asked: list[AnswerRequest] = field(default_factory=list)
    counted: list[AnswerRequest] = field(default_factory=list)
    refusal: str = ""

    async def answer(self, request: AnswerRequest) -> None:
        self.asked.append(request)

    async def find_refusal(self, request: AnswerRequest) -> tuple[str, bool]:
        self.counted.append(request)
        return self.refusal, False


@dataclass(slots=True)
class Workspace:
    """What commands need, and ways to fill it."""

    bot: BotFixture
    context: BotContext
    answer_service: RecordingAnswers | AnswerService

    @property
    def platform(self) -> FakePlatform:
        return self.bot.platform

    @property
    def ingest_service(self) -> IngestService:
        return self.bot.ingest_service

    @property
    def deps(self) -> Deps:
        return self.bot.deps

    @property
    def engine(self) -> Engine:
        return self.bot.engine

    @property
    def asked(self) -> list[AnswerRequest]:
        assert isinstance(self.answer_service, RecordingAnswers)
        return self.answer_service.asked

    async def command(self, person: str, line: str, place: Location = ROOF, uploads: tuple[Upload, ...] = ()) -> Card:
        """The card that a command shows."""
        card = await self.run(person, line, place, uploads=uploads)
        assert card is not None
        return card

    async def text(self, person: str, line: str, place: Location = ROOF) -> str:
        return (await self.command(person, line, place)).text

    async def run(self, person: str, line: str, place: Location = ROOF, **facts: Any) -> Card | None:
        """What a command shows, if it shows anything by itself."""
        name, _, words = line.partition(" ")
        invoked = CommandInvoked("c1", place, person, name, words, **{"handle": "h", "time": NOW, **facts})
        return await run_command(self, invoked)  # type: ignore[arg-type]

    async def post(self, person: str, text: str, place: Location = ROOF, *, window: str = "") -> Message:
        """A message that is indexed, in a window of its own or in the one that the message `window` began."""
        message, documents = self.platform.add_message(place, person, text), ConversationDocuments(self.context)
        rendered = await documents.render_message(message)
        assert rendered is not None
        run = MessageRun(window_key(place.room, window or message.id), "", rendered.title, (rendered,))
        await documents.add_run(run, message.location)
        await self.engine.wait_until_indexed()
        return message

    async def share(self, person: str, title: str, text: str, place: Location = ROOF) -> str:
        """A file that is indexed; gives its key."""
        key = f"{place.room}:file:f:{title}"
        await self.context.store.files.insert(FileRecord(key, place.room, "f", title, person, START))
        space = await self.context.audience.get_home_space(place)
        await self.engine.documents.add(Document(key, space, place.room, title, (Passage("1", text, "p. 1"),), START))
        await self.engine.wait_until_indexed()
        return key

    async def answer(self, id_: str, *sources: AnswerSource, result: str = "So it is. [1]", **facts: Any) -> None:
        """The bot answered Bob in the open channel, or as the facts say."""
        await self.context.store.answers.begin(make_answer(id_, **{"asker": "bob", **facts}))
        documents = frozenset(source.document for source in sources)
        await self.context.store.answers.finish(id_, AnswerResult(result, sources, documents))

    async def titles(self) -> set[str]:
        """The titles of all documents in both channels."""
        scope = await self.context.audience.scope_for_person(ROOF, "ada")
        return {each.title for each in await self.engine.documents.list(scope)}


@pytest.fixture
async def workspace(bot: BotFixture) -> Workspace:
    """Ada manages and is in both channels; Bob is in the open one; Gus is a guest and Eve a member, in neither."""
    people = (Person("ada", "Ada", is_manager=True), Person("gus", "Gus", is_guest=True), Person("eve", "Eve"))
    bot.platform.people |= {person.id: person for person in people}
    bot.platform.add_channel("ROOF", "ada", "bob")
    bot.platform.add_channel("ATTIC", "ada", kind="closed")
    for place in (ROOF, ATTIC):
        await bot.store.channels.upsert(place, place.channel.lower())
    return Workspace(bot, bot.with_settings(llm_model="openai/any"), RecordingAnswers())


@pytest.fixture
async def announced(workspace: Workspace) -> None:
    """The channels were told that they are indexed."""
    for place in (ROOF, ATTIC):
        await workspace.context.store.channels.record_announced(place.room)
