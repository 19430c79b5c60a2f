"""A house for tests of the bot: a platform in memory, the bot's own tables, a light engine, and what is in them."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bot.context import BotContext
from bot.ingest.service import IngestService
from bot.permissions.resolver import AudienceResolver
from bot.platform.events import BotAdded, MessageEdited, MessageReceived, MessagesDeleted
from bot.settings import Settings
from bot.store import BotStore
from engine import FileParser
from engine.models import Scope
from tests.support import echo_language
from tests.support.fake_platform import FakePlatform

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bot.platform.models import Location, Message
    from engine import ParserLimits
    from engine.llm.base import Embedder
    from engine.storage.ledger.records.query_results import DocumentInfo


@dataclass(frozen=True, slots=True)
class BotFixture:
    """The house, who listens in it, and the platform that it stands on."""

    context: BotContext
    ingest_service: IngestService
    platform: FakePlatform

    async def join_channel(self, channel: str, *members: str, **facts: Any) -> Location:
        """A channel that the bot was taken into, with its back-fill behind it."""
        place = self.platform.add_channel(channel, *members, **facts)
        await self.ingest_service.handle(BotAdded(place))
        await self.ingest_service.run_sync()
        return place

    async def receive(self, message: Message, *, addressed: bool = False) -> Message:
        """The bot is told of a message."""
        await self.ingest_service.handle(MessageReceived(message, addressed))
        return message

    async def post(self, place: Location, author: str, text: str, **facts: Any) -> Message:
        """Somebody says something, and the bot is told."""
        return await self.receive(self.platform.add_message(place, author, text, **facts))

    async def edit(self, message: Message, text: str) -> Message:
        """Somebody edits a message, and the bot is told."""
        edited = self.platform.edit_message(message, text)
        await self.ingest_service.handle(MessageEdited(edited))
        return edited

    async def delete(self, *messages: Message) -> None:
        """Messages are deleted, and the bot is told."""
        for message in messages:
            self.platform.delete_message(message)
        await self.ingest_service.handle(
            MessagesDeleted(messages[0].location.without_thread, tuple(each.id for each in messages))
        )

    async def list_documents(self, place: Location) -> list[DocumentInfo]:
        """What the engine holds of a room, by key."""
        found = await self.context.engine_context.engine.list_documents(Scope(frozenset(), frozenset({place.room})))
        return sorted(found, key=lambda each: each.key)

    async def document_texts(self, place: Location) -> dict[str, list[str]]:
        """The passages that the engine holds of a room, by document, without rooms and times."""
        scope = Scope(frozenset(), frozenset({place.room}))
        found = {}
        for each in await self.list_documents(place):
            document = await self.context.engine_context.engine.get_document(each.key, scope)
            found[each.key.removeprefix(f"{place.room}:")] = [
                p.text.partition("] ")[2] or p.text for p in document.passages
            ]
        return found


@asynccontextmanager
async def open_bot_fixture(
    home: Path,
    platform: FakePlatform | None = None,
    *,
    limits: ParserLimits | None = None,
    embedder: Embedder | None = None,
    reader: Any = None,
    **settings: Any,
) -> AsyncIterator[BotFixture]:
    """Open one in this folder; a second one in the same folder is a restart."""
    platform = platform or FakePlatform()
    chosen = Settings(data_dir=home, **settings)
    async with (
        echo_language.open_engine_context(home, embedder=embedder) as opened,
        BotStore.open(home / "bot.db") as store,
        FileParser(limits or opened.parser_limits) as own,
    ):
        desk = replace(opened, parser_limits=limits or opened.parser_limits)
        platforms = {platform.name: platform}
        house = BotContext(
            desk, store, AudienceResolver(platforms, store, chosen.membership_cache_seconds), platforms, chosen
        )
        yield BotFixture(house, IngestService(house, reader or own, platform.current_time), platform)
