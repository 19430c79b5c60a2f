"""Change documents while no bot is running, including what the bot's database stores about them."""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bot.access.control import AccessControl
from bot.context import BotContext
from bot.ingest.service import IngestService
from bot.ingest.sync.retention import confirm_held
from bot.permissions.resolver import AudienceResolver
from bot.store import BotStore
from engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager

    from bot.context import EngineContext
    from bot.permissions.import_destination import ImportDestination
    from bot.platform.history_source import HistorySource, RunningImport
    from bot.settings import Settings
    from bot.store.schedules.retention import HeldDeletion
    from engine import Document


async def forget(engine_context: EngineContext, settings: Settings, document: str) -> bool:
    """Delete a document; returns whether it existed. Raises EngineError."""
    async with _open_ingest_service(engine_context, settings) as service:
        return await (service.forget_document if service else engine_context.engine.forget)(document)


async def forget_workspace(engine_context: EngineContext, settings: Settings, platform: str, workspace: str) -> int:
    """Delete everything of a workspace; returns the number of its channels. Raises EngineError."""
    async with _open_ingest_service(engine_context, settings) as service:
        if service is None:
            raise NotFound(f"There is no workspace {platform}:{workspace}.")
        return await service.forget_workspace(platform, workspace)


async def replace(engine_context: EngineContext, settings: Settings, document: Document) -> bool:
    """Replace a document; returns whether it changed. Raises EngineError."""
    async with _open_ingest_service(engine_context, settings) as service:
        return await (service.replace_document if service else engine_context.engine.add)(document)


async def confirm_retention(engine_context: EngineContext, settings: Settings) -> HeldDeletion:
    """Allow the deletion by age that waits; the bot runs it once it is started. Raises EngineError."""
    async with BotStore.open(settings.store_place, engine_context.clock, engine_context.engine.processes.id) as store:
        return await confirm_held(store)


@asynccontextmanager
async def open_import(
    engine_context: EngineContext,
    settings: Settings,
    source: HistorySource,
    destination: ImportDestination | None = None,
) -> AsyncIterator[RunningImport]:
    """An import into the bot's database, which is created if there is none. Raises EngineError."""
    async with (
        _create_ingest_service(engine_context, settings) as service,
        service.open_import(source, destination) as history_import,
    ):
        yield history_import


@asynccontextmanager
async def open_access(engine_context: EngineContext, settings: Settings) -> AsyncIterator[AccessControl]:
    """The access tokens in the bot's database, which is created if there is none. Raises EngineError."""
    async with _open_store(engine_context, settings) as store:
        engine_context.engine.processes.lost.on_set(store.abandon)
        yield AccessControl(store, engine_context.clock)


def _open_store(engine_context: EngineContext, settings: Settings) -> AbstractAsyncContextManager[BotStore]:
    engine = engine_context.engine
    return BotStore.open(settings.store_place, engine.clock, engine.processes.id, engine.file_access)


@asynccontextmanager
async def _open_ingest_service(
    engine_context: EngineContext, settings: Settings
) -> AsyncIterator[IngestService | None]:
    """The ingest service over the bot's database, or None if there is no database."""
    if isinstance(settings.store_place, Path) and not settings.store_place.exists():
        yield None
        return
    async with _create_ingest_service(engine_context, settings) as service:
        yield service


@asynccontextmanager
async def _create_ingest_service(engine_context: EngineContext, settings: Settings) -> AsyncIterator[IngestService]:
    async with _open_store(engine_context, settings) as store:
        audience = AudienceResolver({}, store, settings.membership_cache_seconds, engine_context.clock)
        bot_context = BotContext(engine_context, store, audience, {}, settings, engine_context.clock)
        yield IngestService(bot_context)
