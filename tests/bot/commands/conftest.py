"""A workspace with an open and a closed channel, people of all kinds, and commands given in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.commands import run
from bot.context import House
from bot.ingest.conversations import Run, window_key
from bot.ingest.documents import Shelf
from bot.ingest.service import Listening
from bot.permissions.resolver import Readers
from bot.platform.events import Called
from bot.platform.models import Person
from bot.settings import load
from bot.store import Drawn, Filed, Outcome, Store, Stored
from engine.models import Document, Passage
from engine.parsers import Reader
from tests.support.fake_platform import START, FakePlatform

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.answers.request import Request
    from bot.engine_context import Desk
    from bot.ingest.conversations import Spoken
    from bot.platform.models import Card, Message, Place, Upload

NOW = START + timedelta(days=2)


@dataclass
class Answerer:
    """Notes what it is asked."""

    asked: list[Request] = field(default_factory=list)

    async def answer(self, request: Request) -> None:
        self.asked.append(request)


@dataclass(slots=True)
class Workspace:
    """The parts that commands need, and ways to fill them."""

    house: House
    platform: FakePlatform
    listening: Listening
    answering: Answerer
    square: Place
    attic: Place

    @property
    def shelf(self) -> Shelf:
        """Where what is said is kept."""
        return Shelf(self.house)

    async def command(
        self, person: str, line: str, place: Place | None = None, uploads: tuple[Upload, ...] = ()
    ) -> Card:
        """What somebody sees who gives a command."""
        card = await self.maybe(person, line, place, uploads)
        assert card is not None
        return card

    async def maybe(
        self, person: str, line: str, place: Place | None = None, uploads: tuple[Upload, ...] = ()
    ) -> Card | None:
        name, _, words = line.partition(" ")
        called = Called("c1", place or self.square, person, name, words, uploads, "h", time=NOW)
        return await run(self, called)  # type: ignore[arg-type]

    async def say(self, person: str, text: str, place: Place | None = None) -> Message:
        """Somebody says something that is indexed, in a window of its own."""
        message = self.platform.say(place or self.square, person, text)
        said = await self.shelf.written(message)
        assert said is not None
        key = window_key(message.place.room, message.id)
        await self.shelf.put(self.run_of(key, said), message.place)
        await self.house.desk.engine.settled()
        return message

    def run_of(self, key: str, said: Spoken) -> Run:
        """One message of a conversation."""
        return Run(key, "", said.title, (said,))

    async def share(self, person: str, title: str, text: str, place: Place | None = None) -> str:
        """Somebody shares a file that is indexed; gives its key."""
        place = place or self.square
        key = f"{place.room}:file:f:{title}"
        await self.house.store.files.note(Filed(key, place.room, "f", title, person, START))
        space = await self.house.readers.home(place)
        await self.house.desk.engine.add(Document(key, space, place.room, title, (Passage("1", text, "p. 1"),), START))
        await self.house.desk.engine.settled()
        return key

    async def answered(
        self, id_: str, *sources: Drawn, asker: str = "bob", thread: str = "", private: bool = False, channel: str = ""
    ) -> None:
        """The bot answered in the square, or elsewhere, from these sources."""
        place = self.platform.place(channel or self.square.channel, thread)
        await self.house.store.answers.begin(Stored(id_, place, asker, "What?", START, private=private))
        outcome = Outcome("So it is. [1]", sources, frozenset(each.document for each in sources))
        await self.house.store.answers.finish(id_, outcome)

    async def known(self) -> set[str]:
        """The titles of all documents in both channels."""
        scope = await self.house.readers.scope_alone(self.square, "ada")
        return {each.title for each in await self.house.desk.engine.documents(scope)}


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with Store.open(tmp_path / "bot.db") as opened:
        yield opened


@pytest.fixture
async def workspace(desk: Desk, store: Store) -> AsyncIterator[Workspace]:
    """Ada manages and is in both channels; Bob is in the square only; Gus is a guest who is in neither."""
    platform = FakePlatform()
    platform.people |= {"ada": Person("ada", "Ada", manager=True), "gus": Person("gus", "Gus", guest=True)}
    platform.people["eve"] = Person("eve", "Eve")
    square, attic = platform.open("SQUARE", "ada", "bob"), platform.open("ATTIC", "ada", kind="closed")
    readers = Readers({"slack": platform}, store, 60.0)
    house = House(desk, store, readers, {"slack": platform}, load(model="openai/any"))
    for place, name in ((square, "square"), (attic, "attic")):
        await store.rooms.note(place, name)
    async with Reader(desk.limits) as reader:
        yield Workspace(house, platform, Listening(house, reader), Answerer(), square, attic)
