"""A house for tests of the bot: a platform in memory, the bot's own tables, a light engine, and what is in them."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bot.context import House
from bot.ingest.service import Listening
from bot.permissions.resolver import Readers
from bot.platform.events import Deleted, Edited, Heard, Joined
from bot.settings import Settings
from bot.store import Store
from engine.models import Scope
from engine.parsers import Reader
from tests.support import parrot
from tests.support.fake_platform import FakePlatform

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.platform.models import Message, Place
    from engine.llm.base import Embedder
    from engine.parsers import Limits
    from engine.storage.ledger.queries.stats import Listed


@dataclass(frozen=True, slots=True)
class Household:
    """The house, who listens in it, and the platform that it stands on."""

    house: House
    listening: Listening
    platform: FakePlatform

    async def joined(self, channel: str, *members: str, **facts: Any) -> Place:
        """A channel that the bot was taken into, with its back-fill behind it."""
        place = self.platform.open(channel, *members, **facts)
        await self.listening.take(Joined(place))
        await self.listening.past()
        return place

    async def hear(self, message: Message, *, addressed: bool = False) -> Message:
        """The bot is told of a message."""
        await self.listening.take(Heard(message, addressed))
        return message

    async def say(self, place: Place, author: str, text: str, **facts: Any) -> Message:
        """Somebody says something, and the bot is told."""
        return await self.hear(self.platform.say(place, author, text, **facts))

    async def edit(self, message: Message, text: str) -> Message:
        """Somebody edits a message, and the bot is told."""
        edited = self.platform.edit(message, text)
        await self.listening.take(Edited(edited))
        return edited

    async def delete(self, *messages: Message) -> None:
        """Messages are deleted, and the bot is told."""
        for message in messages:
            self.platform.delete(message)
        await self.listening.take(Deleted(messages[0].place.main, tuple(each.id for each in messages)))

    async def documents(self, place: Place) -> list[Listed]:
        """What the engine holds of a room, by key."""
        found = await self.house.desk.engine.documents(Scope(frozenset(), frozenset({place.room})))
        return sorted(found, key=lambda each: each.key)

    async def texts(self, place: Place) -> dict[str, list[str]]:
        """The passages that the engine holds of a room, by document, without rooms and times."""
        scope = Scope(frozenset(), frozenset({place.room}))
        found = {}
        for each in await self.documents(place):
            document = await self.house.desk.engine.document(each.key, scope)
            found[each.key.removeprefix(f"{place.room}:")] = [
                p.text.partition("] ")[2] or p.text for p in document.passages
            ]
        return found


@asynccontextmanager
async def household(
    home: Path,
    platform: FakePlatform | None = None,
    *,
    limits: Limits | None = None,
    embedder: Embedder | None = None,
    reader: Any = None,
    **settings: Any,
) -> AsyncIterator[Household]:
    """Open one in this folder; a second one in the same folder is a restart."""
    platform = platform or FakePlatform()
    chosen = Settings(home=home, **settings)
    async with (
        parrot.desk(home, embedder=embedder) as opened,
        Store.open(home / "bot.db") as store,
        Reader(limits or opened.limits) as own,
    ):
        desk = replace(opened, limits=limits or opened.limits)
        platforms = {platform.name: platform}
        house = House(desk, store, Readers(platforms, store, chosen.member_age), platforms, chosen)
        yield Household(house, Listening(house, reader or own, platform.present), platform)
