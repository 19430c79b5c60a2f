"""A copy of the data in a temporary folder, and a bot over it that speaks to a stand-in platform and to no model."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.bootstrap import open_context, open_engine, open_models
from bot.bot import Bot
from bot.capabilities.maintenance import archive
from bot.dispatch.dispatcher import AttachedPlatforms
from bot.leaks.stand_in import StandInPlatform
from bot.monitoring.metrics import Metrics
from bot.permissions.audience import personal_space, workspace_space
from bot.platform.models import Channel, Location
from bot.settings import Settings
from engine import Scope

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.model_setup.opened import EngineModels
    from engine import Clock

KEPT = ("space", "retrieval_mode", "people", "fulltext_tokenizer", "graph_backend", "language", "suggestions")
QUESTIONS = 1_000_000  # that one asker may ask in a minute, besides three times as many commands


class StandingBot(Bot):
    """A bot without background work: nobody handles events that were stored before the copy was made."""

    def list_health_problems(self) -> list[str]:
        return []


@dataclass(frozen=True, slots=True)
class StoreCopy:
    """The bot over the copy, and the platforms by name."""

    bot: Bot
    platforms: dict[str, StandInPlatform]
    settings: Settings

    async def list_channels(self) -> list[Location]:
        """The channels that the bot knew."""
        found = [await self.bot.store.channels.list_joined(platform) for platform in self.platforms]
        return [each for some in found for each in some]


def build_settings(settings: Settings, home: Path) -> Settings:
    """Settings of the copy: without models, platforms, secrets, deletion by age and backups."""
    kept = {name: getattr(settings, name) for name in KEPT}
    return Settings.model_construct(data_dir=home, questions_per_minute=QUESTIONS, backfill_days=0, **kept)


@asynccontextmanager
async def open_copy(
    backup: Path | None, settings: Settings, clock: Clock, models: EngineModels | None = None
) -> AsyncIterator[StoreCopy]:
    """Open a copy of a backup, or an empty store. `models`: others than the embedded ones.

    Raises EngineError.
    """
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="threadlore-leaks-")))
        home = folder / "home"
        if backup is not None:
            await asyncio.to_thread(archive.restore_backup, backup, home)
        chosen = build_settings(settings, home)
        if models is None:
            models = await stack.enter_async_context(open_models(chosen, clock))
        engine_context = await stack.enter_async_context(open_engine(chosen, models, clock, replace_embedder=True))
        if backup is not None:
            await engine_context.engine.maintenance.reindex()
        attached = AttachedPlatforms()
        context = await stack.enter_async_context(open_context(engine_context, chosen, attached.platforms))
        bot = StandingBot(context, attached, Metrics(clock))
        copy = StoreCopy(bot, {}, chosen)
        await _attach_platforms(copy, attached)
        yield copy


async def _attach_platforms(copy: StoreCopy, attached: AttachedPlatforms) -> None:
    """Stand in for each platform of which the store has channels; for an invented one if there are none."""
    store = copy.bot.store
    names = await store.channels.list_platforms() or ["chat"]
    for name in names:
        platform = StandInPlatform(name)
        copy.platforms[name] = platform
        attached.attach(platform)
        for place in await store.channels.list_joined(name):
            channel = await _describe_channel(copy.bot, place)
            platform.channels[place.room] = channel


async def _describe_channel(bot: Bot, place: Location) -> Channel:
    """The facts of a channel as the store shows them: who wrote there reads it, and its documents say what it is."""
    documents = await bot.context.engine_context.engine.documents.list(Scope(frozenset(), frozenset({place.room})))
    space = documents[0].space if documents else place.room
    authors = await bot.store.messages.list_room_authors(place.room)
    name = await bot.store.channels.get_name(place.room) or place.channel
    if space == workspace_space(place.platform, place.workspace):
        return Channel(place, name, "open", frozenset(authors))
    if space == workspace_space(place.platform, place.workspace, adult=True):
        return Channel(place, name, "open", frozenset(authors), adult=True)
    if space.startswith(personal_space(place.platform, place.workspace, "")):
        return Channel(place, name, "direct", frozenset({space.rpartition(":")[2]}))
    return Channel(place, name, "closed", frozenset(authors), space="" if space == place.room else space)
