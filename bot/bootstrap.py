"""The composition root, from the bottom to the top: models, the engine, the bot's database, what works on both.

A bot (`bot/bot.py`) adds its platforms, answers and the queue of events; a program without one has `LazyParts`.
"""

from __future__ import annotations

import asyncio
import shutil
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from bot.capabilities.access.control import AccessControl
from bot.capabilities.deps import BotParts
from bot.context import BotContext, EngineContext, build_indexing_limits
from bot.errors import BadSetting
from bot.model_setup.opened import EngineModels
from bot.model_setup.openers import open_builtin_embedder, open_parser_service, read_languages
from bot.model_setup.roles import build_context_window
from bot.permissions.resolver import AudienceResolver
from bot.platform.people import build_people_rules, load_people_defaults
from bot.settings import STORES_GROUP, list_stores_names
from bot.store import BotStore
from bot.store.file_fingerprints import FileFingerprints
from engine import (
    ChunkingOptions,
    Engine,
    EngineOptions,
    FileParser,
    O200kTokenizer,
    OfflineModel,
    ParserLimits,
)
from engine.llm.checked_embedder import wrap_embedder
from engine.options import CopySizes, SummaryLimits
from engine.parsers.sandbox.probe import SandboxProbe
from engine.storage.journal import UPLOADS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from bot.ingest.service import IngestService
    from bot.platform.ports import Platform
    from bot.settings import Settings
    from engine import Clock
    from engine.llm.client.protocol import CallObservers
    from engine.options import StoresOpener

MIB = 2**20
FILES_WAIT_SECONDS = 1.0  # that small texts of files wait for others to share a call


class StoresPlugin(Protocol):
    """Builds what opens a graph and a vector store of another kind; an entry point of STORES_GROUP."""

    def __call__(self, settings: Settings) -> StoresOpener:
        """What opens them. Raises BadSetting."""


@asynccontextmanager
async def open_engine(
    settings: Settings, models: EngineModels, clock: Clock, *, replace_embedder: bool = False
) -> AsyncIterator[EngineContext]:
    """Open an engine with these models. Raises EngineError."""
    options = replace(build_engine_options(settings), replace_embedder=replace_embedder)
    opened = Engine.open(
        settings.data_path,
        language=models.language,
        embedder=models.embedder,
        reranker=models.reranker,
        options=options,
        clock=clock,
    )
    limits = build_parser_limits(settings)
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(opened)
        describer, estimator = None, None
        if models.calls is not None:
            from bot.model_setup import remote  # noqa: PLC0415  - as in `open_models`

            describer = remote.build_describer(models, engine.maintenance.record_usage)
            estimator = remote.build_estimator(settings, models)
        yield EngineContext(
            engine,
            await stack.enter_async_context(FileParser(limits, describer, open_parser_service(settings))),
            FileFingerprints(settings.data_path / "fingerprints"),
            O200kTokenizer().count,
            settings.data_path / UPLOADS,
            SandboxProbe(limits),
            settings.space,
            list_models(settings),
            settings.retrieval_mode,
            settings.compaction_delay_seconds,
            estimator,
            settings.contradictions == "on",
        )


@asynccontextmanager
async def open_context(
    engine_context: EngineContext, settings: Settings, platforms: Mapping[str, Platform]
) -> AsyncIterator[BotContext]:
    """Open the bot's database over an engine, and who reads what on these platforms. Raises EngineError."""
    engine, clock = engine_context.engine, engine_context.clock
    file_access = engine.maintenance.file_access
    async with BotStore.open(settings.store_place, clock, engine.processes.id, file_access) as store:
        engine.processes.lost.on_set(store.abandon)
        audience = AudienceResolver(platforms, store, settings.membership_cache_seconds, clock)
        yield BotContext(engine_context, store, audience, platforms, settings, clock)


class LazyParts:
    """Parts over the bot's database beside which no bot runs; what first needs them opens it, until `close`."""

    def __init__(self, engine_context: EngineContext, settings: Settings) -> None:
        self._engine_context = engine_context
        self._settings = settings
        self._stack = AsyncExitStack()
        self._lock = asyncio.Lock()
        self._parts: BotParts | None = None

    async def find(self) -> BotParts | None:
        place = self._settings.store_place
        if self._parts is None and isinstance(place, Path) and not place.exists():
            return None
        return await self.open()

    async def open(self) -> BotParts:
        async with self._lock:
            if self._parts is None:
                self._parts = await self._open()
        return self._parts

    async def _open(self) -> BotParts:
        opening = open_context(self._engine_context, self._settings, {})
        context = await self._stack.enter_async_context(opening)
        access = AccessControl(context.store, context.clock)
        return BotParts(context.store, partial(_open_ingest, context), access)

    async def close(self) -> None:
        """Close the database, if it was opened."""
        await self._stack.aclose()


def _open_ingest(context: BotContext) -> IngestService:
    from bot.ingest.service import IngestService  # noqa: PLC0415  - needed for changes alone

    return IngestService(context)


def list_models(settings: Settings) -> tuple[tuple[str, str], ...]:
    """The names of the models by purpose; what is built in has no name."""
    return (
        ("answers", settings.llm_model),
        ("extraction", settings.extraction_model or settings.llm_model),
        ("vectors", settings.embedding_model),
        ("reranking", settings.rerank_model),
        ("pictures", settings.vision_model),
    )


@asynccontextmanager
async def open_models(
    settings: Settings, clock: Clock, observers: CallObservers | None = None
) -> AsyncIterator[EngineModels]:
    """Open the configured models; the offline ones if no model is configured, never as a fallback."""
    if any((settings.llm_model, settings.embedding_model, settings.rerank_model, settings.vision_model)):
        from bot.model_setup import remote  # noqa: PLC0415  - what calls providers takes long to import

        async with remote.open_remote(settings, clock, observers) as models:
            yield models
        return
    async with AsyncExitStack() as stack:
        embedder = wrap_embedder(open_builtin_embedder(settings, stack))
        yield EngineModels(OfflineModel(embedder), embedder)


def build_engine_options(settings: Settings) -> EngineOptions:
    """The engine options that are settings."""
    extraction = build_context_window(settings, "extraction")
    people = build_people_rules(settings.people, load_people_defaults())
    waits = settings.extraction_wait_seconds
    copies = divide_memory(settings)
    return EngineOptions(
        chunking=extraction.fit_chunking(ChunkingOptions()),
        summary_limits=extraction.fit_summary_limits(SummaryLimits()),
        context_window=build_context_window(settings),
        prompt_tokens=settings.llm_prompt_tokens,
        database=settings.database.get_secret_value(),
        open_stores=load_stores(settings),
        graph_backend=settings.graph_backend,
        fts_tokenizer=settings.fulltext_tokenizer,
        languages=read_languages(settings),
        extraction_concurrency=settings.extraction_concurrency,
        extraction_linger=waits if settings.extraction_by == "model" else min(waits, FILES_WAIT_SECONDS),
        indexing_limits=build_indexing_limits(settings),
        summary_cooldown=settings.summary_cooldown_seconds,
        join_duplicates=settings.join_duplicate_names,
        suggest_duplicates=settings.suggest_duplicate_names,
        spaces_without_people=people.list_prefixes("off", "names"),
        spaces_without_authors=people.list_prefixes("off"),
        compaction_delay=settings.compaction_delay_seconds,
        disk_reserve_bytes=settings.disk_reserve_mb * MIB,
        vector_cache_bytes=copies.vectors,
        word_cache_bytes=copies.words,
        graph_cache_bytes=copies.graph,
    )


def divide_memory(settings: Settings) -> CopySizes:
    """The memory of each copy. Raises BadSetting if a process needs more than it may take."""
    if not settings.memory_mb:
        return CopySizes()
    try:
        return CopySizes.divide(settings.memory_mb * MIB, has_database=bool(settings.database.get_secret_value()))
    except ValueError as error:
        [needed] = error.args
        raise BadSetting(
            f"THREADLORE_MEMORY_MB={settings.memory_mb} is too little: the program needs at least {needed // MIB}.",
            hint="Raise it, or leave it empty: then only copies are limited.",
        ) from error


def load_stores(settings: Settings) -> StoresOpener | None:
    """What opens the stores of the chosen plug-in; None if those of the data directory are used. Raises BadSetting."""
    if not settings.stores:
        return None
    found = entry_points(group=STORES_GROUP, name=settings.stores)
    if not found:
        known = ", ".join(list_stores_names()) or "none"
        raise BadSetting(f"THREADLORE_STORES cannot be {settings.stores}: installed are {known}.")
    plugin: StoresPlugin = next(iter(found)).load()
    return plugin(settings)


def build_parser_limits(settings: Settings) -> ParserLimits:
    """The limits for parsing one file."""
    return ParserLimits(
        max_file_size=settings.max_file_size_mb * MIB,
        max_memory=settings.parser_memory_mb * MIB,
        timeout_seconds=settings.parser_timeout_seconds,
        workers=settings.parser_workers,
        ocr_program=(shutil.which("tesseract") or "") if settings.ocr == "auto" else "",
        ocr_languages=settings.ocr_languages,
        describes_pictures=bool(settings.vision_model),
        requires_sandbox=settings.require_sandbox,
    )
