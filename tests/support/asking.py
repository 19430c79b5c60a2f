"""A household in which questions are asked, with a language whose answers may be written down beforehand."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.answers.request import commanded, heard
from bot.answers.service import Answering
from bot.context import House
from bot.ingest.service import Listening
from bot.monitoring import Metrics
from bot.permissions.quotas import Guards
from bot.permissions.resolver import Readers
from bot.platform.events import Asked
from bot.platform.models import Person
from bot.settings import Settings
from bot.store import Store
from engine.parsers import Reader
from engine.usage import Usage
from tests.support import parrot
from tests.support.fake_platform import START, FakePlatform
from tests.support.household import Household

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from pathlib import Path

    from bot.platform.models import Message, Place, Upload
    from engine.models import Prompt
    from engine.usage import Bill
    from tests.support.fake_platform import Written


class Speaker(parrot.Parrot):
    """Says `reply`, or else what a parrot says; an error among the pieces is raised.

    `cut_off`: the model stops before it has finished; `filtered`: because of a filter. `going`: a gate before every
    piece but the first. `prompts` are what it was asked, `said` is set with each piece.
    """

    cut_off = False
    filtered = False

    def __init__(self, *reply: str | Exception) -> None:
        super().__init__()
        self.reply = reply
        self.going = asyncio.Event()
        self.going.set()
        self.said = asyncio.Event()
        self.prompts: list[Prompt] = []

    async def answer(self, prompt: Prompt, bill: Bill) -> AsyncGenerator[str, None]:
        self.prompts.append(prompt)
        bill.add(
            Usage("answer", self.name, input_tokens=100, output_tokens=10, cut_off=self.cut_off, filtered=self.filtered)
        )
        if not self.reply:
            async for said in super().answer(prompt, bill):
                yield said
            return
        for number, piece in enumerate(self.reply):
            if number:
                await self.going.wait()
            if isinstance(piece, Exception):
                raise piece
            yield piece
            self.said.set()


@dataclass(frozen=True, slots=True)
class Asking(Household):
    """A household that answers."""

    answering: Answering
    language: Speaker
    metrics: Metrics

    async def ask(self, place: Place, person: str, text: str, uploads: tuple[Upload, ...] = ()) -> Written:
        """Somebody mentions the bot; gives the reply in the end."""
        message = self.platform.say(place, person, f"<@BOT> {text}", uploads=uploads)
        await self.answer(message)
        return self.reply

    async def answer(self, message: Message) -> None:
        """The bot answers a message."""
        await self.answering.answer(heard(message))

    async def command(self, place: Place, person: str, text: str, *, private: bool = True, **more: Any) -> Written:
        """Somebody asks by a command."""
        await self.answering.answer(commanded(Asked("c1", place, person, text, START, private=private, **more)))
        return self.reply

    @property
    def reply(self) -> Written:
        """The latest reply."""
        return self.platform.replies[-1]

    async def learnt(self) -> None:
        """Return once all that was said is searchable."""
        await self.house.desk.engine.settled()


@asynccontextmanager
async def asking(
    home: Path, language: Speaker | None = None, platform: FakePlatform | None = None, **settings: Any
) -> AsyncIterator[Asking]:
    """Open one in this folder; a second one in the same folder is a restart."""
    platform, language, metrics = platform or FakePlatform(), language or Speaker(), Metrics()
    chosen = Settings(home=home, **settings)
    async with (
        parrot.desk(home, language) as desk,
        Store.open(home / "bot.db") as store,
        Reader(desk.limits) as reader,
    ):
        platforms = {platform.name: platform}
        house = House(desk, store, Readers(platforms, store, chosen.member_age), platforms, chosen)
        listening = Listening(house, reader)
        guards = Guards(store, chosen.questions_per_minute, chosen.tokens_per_day)
        answering = Answering(house, guards, listening.filing, metrics)
        yield Asking(house, listening, platform, answering, language, metrics)


def guest(platform: FakePlatform, name: str) -> str:
    """Somebody who may not read every open channel."""
    platform.people[name] = Person(name, name.title(), guest=True)
    return name
