"""A workspace with an open and a closed channel, people of all kinds, and commands given in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.commands.table import run_command
from bot.context import BotContext
from bot.ingest.conversations import MessageRun, window_key
from bot.ingest.documents import ConversationDocuments
from bot.ingest.service import IngestService
from bot.permissions.resolver import AudienceResolver
from bot.platform.events import CommandInvoked
from bot.platform.models import Person
from bot.settings import load_settings
from bot.store import AnswerResult, AnswerSource, BotStore, FileRecord, StoredAnswer
from engine import FileParser
from engine.models import Document, Passage
from tests.support.fake_platform import START, FakePlatform

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.answers.request import AnswerRequest
    from bot.engine_context import EngineContext
    from bot.ingest.conversations import IndexedMessage
    from bot.platform.models import Card, Location, Message, Upload

NOW = START + timedelta(days=2)


@dataclass
class Answerer:
    """Notes what it is asked."""

    asked: list[AnswerRequest] = field(default_factory=list)

    async def answer(self, request: AnswerRequest) -> None:
        self.asked.append(request)


@dataclass(slots=True)
class Workspace:
    """The parts that commands need, and ways to fill them."""

    context: BotContext
    platform: FakePlatform
    ingest_service: IngestService
    answer_service: Answerer
    square: Location
    attic: Location

    @property
    def shelf(self) -> ConversationDocuments:
        """Where what is said is kept."""
        return ConversationDocuments(self.context)

    async def command(
        self, person: str, line: str, place: Location | None = None, uploads: tuple[Upload, ...] = ()
    ) -> Card:
        """What somebody sees who gives a command."""
        card = await self.maybe(person, line, place, uploads)
        assert card is not None
        return card

    async def maybe(
        self, person: str, line: str, place: Location | None = None, uploads: tuple[Upload, ...] = ()
    ) -> Card | None:
        name, _, words = line.partition(" ")
        called = CommandInvoked("c1", place or self.square, person, name, words, uploads, "h", time=NOW)
        return await run_command(self, called)  # type: ignore[arg-type]

    async def say(self, person: str, text: str, place: Location | None = None) -> Message:
        """Somebody says something that is indexed, in a window of its own."""
        message = self.platform.add_message(place or self.square, person, text)
        said = await self.shelf.render_message(message)
        assert said is not None
        key = window_key(message.location.room, message.id)
        await self.shelf.add_run(self.run_of(key, said), message.location)
        await self.context.engine_context.engine.wait_until_indexed()
        return message

    def run_of(self, key: str, said: IndexedMessage) -> MessageRun:
        """One message of a conversation."""
        return MessageRun(key, "", said.title, (said,))

    async def share(self, person: str, title: str, text: str, place: Location | None = None) -> str:
        """Somebody shares a file that is indexed; gives its key."""
        place = place or self.square
        key = f"{place.room}:file:f:{title}"
        await self.context.store.files.insert(FileRecord(key, place.room, "f", title, person, START))
        space = await self.context.audience.get_home_space(place)
        await self.context.engine_context.engine.add(
            Document(key, space, place.room, title, (Passage("1", text, "p. 1"),), START)
        )
        await self.context.engine_context.engine.wait_until_indexed()
        return key

    async def answered(
        self,
        id_: str,
        *sources: AnswerSource,
        asker: str = "bob",
        thread: str = "",
        private: bool = False,
        channel: str = "",
    ) -> None:
        """The bot answered in the square, or elsewhere, from these sources."""
        place = self.platform.place(channel or self.square.channel, thread)
        await self.context.store.answers.begin(StoredAnswer(id_, place, asker, "What?", START, private=private))
        outcome = AnswerResult("So it is. [1]", sources, frozenset(each.document for each in sources))
        await self.context.store.answers.finish(id_, outcome)

    async def known(self) -> set[str]:
        """The titles of all documents in both channels."""
        scope = await self.context.audience.scope_for_person(self.square, "ada")
        return {each.title for each in await self.context.engine_context.engine.list_documents(scope)}


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[BotStore]:
    async with BotStore.open(tmp_path / "bot.db") as opened:
        yield opened


@pytest.fixture
async def workspace(desk: EngineContext, store: BotStore) -> AsyncIterator[Workspace]:
    """Ada manages and is in both channels; Bob is in the square only; Gus is a guest who is in neither."""
    platform = FakePlatform()
    platform.people |= {"ada": Person("ada", "Ada", is_manager=True), "gus": Person("gus", "Gus", is_guest=True)}
    platform.people["eve"] = Person("eve", "Eve")
    square, attic = platform.add_channel("SQUARE", "ada", "bob"), platform.add_channel("ATTIC", "ada", kind="closed")
    readers = AudienceResolver({"slack": platform}, store, 60.0)
    house = BotContext(desk, store, readers, {"slack": platform}, load_settings(llm_model="openai/any"))
    for place, name in ((square, "square"), (attic, "attic")):
        await store.channels.upsert(place, name)
    async with FileParser(desk.parser_limits) as reader:
        yield Workspace(house, platform, IngestService(house, reader), Answerer(), square, attic)
