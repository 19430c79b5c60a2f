"""Engines in memory that have indexed their documents; they are closed at the end of a test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Protocol

from engine.clock import SYSTEM_CLOCK, Clock
from engine.engine import Engine
from engine.llm.base import Embedder, LanguageModel
from engine.models import Document
from engine.options import EngineOptions
from tests.support.engine_fixture import open_memory_engine
from tests.support.scripted_language import ScriptedLanguage


class OpenIndexed(Protocol):
    """Opens an engine and returns it once it has indexed the documents."""

    async def __call__(
        self,
        *documents: Document,
        language: LanguageModel | None = None,
        embedder: Embedder | None = None,
        options: EngineOptions | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> Engine: ...


@asynccontextmanager
async def indexed_engines(home: Path) -> AsyncIterator[OpenIndexed]:
    async with AsyncExitStack() as stack:

        async def open_indexed(
            *documents: Document,
            language: LanguageModel | None = None,
            embedder: Embedder | None = None,
            options: EngineOptions | None = None,
            clock: Clock = SYSTEM_CLOCK,
        ) -> Engine:
            engine = await stack.enter_async_context(
                open_memory_engine(home, language or ScriptedLanguage("?"), embedder, options, clock)
            )
            await index(engine, *documents)
            return engine

        yield open_indexed


async def index(engine: Engine, *documents: Document) -> None:
    """Add the documents and wait until they are searchable."""
    for document in documents:
        await engine.documents.add(document)
    await engine.wait_until_indexed()
