"""The composition root: settings become skills, an open engine, and a desk to work at."""

from __future__ import annotations

import asyncio
import importlib
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.admin.ingest.fingerprints import Stamps
from bot.engine_context import Desk
from bot.errors import BadSetting
from engine.engine import Engine
from engine.errors import EngineError
from engine.llm.checked_embedder import checked
from engine.llm.client.client import Calls
from engine.llm.client.subprocess import Apart
from engine.llm.config import OLLAMA, ModelSettings, Patience
from engine.llm.embedder import LiteLLMEmbedder
from engine.llm.minilm.embedder import MiniLM
from engine.llm.offline.model import EmbeddedLanguage
from engine.llm.remote_model import LLM, LLMSettings
from engine.llm.reranker import LiteLLMReranker
from engine.options import LEAST, ContextWindow, Options, Packing
from engine.options import Limits as DescribingLimits
from engine.parsers import Limits
from engine.text.tokenizer import O200k
from engine.usage import Bill

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.settings import Settings
    from engine.llm.base import Embedder, Language, Reranker

MIB = 2**20
HEAVY = ("engine.storage.vectors.lance", "engine.storage.graph.kuzu")


@dataclass(frozen=True, slots=True)
class Skills:
    """What an engine is given. `calls`: through which models are reached."""

    language: Language
    embedder: Embedder
    reranker: Reranker | None
    calls: Calls

    async def warm(self) -> None:
        """Load what the first question would wait for. Raises nothing: who needs it later is told."""
        with suppress(EngineError):
            if not isinstance(self.language, EmbeddedLanguage):
                await self.calls.ready()
            await self.embedder.embed(["warm"], Bill())


@asynccontextmanager
async def desk(settings: Settings, able: Skills, *, replace_embedder: bool = False) -> AsyncIterator[Desk]:
    """An open engine with these skills. Raises EngineError."""
    # The stores' libraries take a second to load: beside the loop, so that a prompt stays awake meanwhile.
    await asyncio.to_thread(lambda: [importlib.import_module(name) for name in HEAVY])
    chosen = replace(options(settings), replace_embedder=replace_embedder)
    opened = Engine.open(
        settings.root, language=able.language, embedder=able.embedder, reranker=able.reranker, options=chosen
    )
    async with opened as engine:
        yield Desk(engine, limits(settings), Stamps(settings.root / "filed"), O200k().count, engine.forget, engine.add)


@asynccontextmanager
async def skills(settings: Settings) -> AsyncIterator[Skills]:
    """The skills that the settings choose; without a model the embedded ones, never one in place of the other."""
    patience = Patience(settings.timeout, settings.silence, settings.thinking, settings.attempts)
    calls = Calls(settings.calls, patience, Apart())
    async with AsyncExitStack() as stack:
        stack.push_async_callback(calls.close)
        embedder = await _embedder(settings, calls, stack)
        yield Skills(_language(settings, calls, embedder), embedder, _reranker(settings, calls), calls)


def options(settings: Settings) -> Options:
    """The engine's options, as far as they are settings."""
    fits = window(settings)
    return Options(
        packing=fits.packing(Packing()),
        describing=fits.describing(DescribingLimits()),
        window=fits,
        graph=settings.graph,
        words=settings.words,
        readers=settings.readers,
        quiet=settings.quiet,
        compact_after=settings.compact_after,
    )


def window(settings: Settings) -> ContextWindow:
    """What the chat models take at once. Raises BadSetting if that is too little to work with."""
    size = settings.context_tokens or (settings.num_ctx if chat_model(settings).provider in OLLAMA else 0)
    if size and size < LEAST:
        raise BadSetting(f"THREADLORE_CONTEXT_TOKENS must be 0 or at least {LEAST:,}, not {size:,}.")
    try:
        longest = settings.max_output_tokens or 0
        return ContextWindow(size, settings.output_reserve or longest, longest)
    except ValueError as error:
        hint = "Lower THREADLORE_OUTPUT_RESERVE or THREADLORE_MAX_OUTPUT_TOKENS, or raise THREADLORE_CONTEXT_TOKENS."
        raise BadSetting(f"THREADLORE_CONTEXT_TOKENS cannot be used: {error}.", hint=hint) from error


def limits(settings: Settings) -> Limits:
    """How much one file may take."""
    return Limits(
        size=settings.file_size * MIB,
        memory=settings.file_memory * MIB,
        seconds=settings.file_seconds,
        workers=settings.file_workers,
    )


def chat_model(settings: Settings) -> ModelSettings:
    """The model that answers."""
    return ModelSettings(
        settings.model,
        settings.api_base,
        settings.api_key.get_secret_value(),
        settings.temperature,
        settings.max_output_tokens,
        num_ctx=settings.num_ctx or settings.context_tokens,
    )


def embedding_model(settings: Settings) -> ModelSettings:
    """The model that embeds; without an address and key of its own it has those of the chat's, if both are alike."""
    base, key = settings.embedding_api_base, settings.embedding_api_key.get_secret_value()
    return _beside(settings, settings.embedding_model, base, key)


def rerank_model(settings: Settings) -> ModelSettings:
    """The model that reranks; its address and key as for embedding."""
    base, key = settings.rerank_api_base, settings.rerank_api_key.get_secret_value()
    return _beside(settings, settings.rerank_model, base, key)


def _beside(settings: Settings, model: str, base: str, key: str) -> ModelSettings:
    chat = chat_model(settings)
    other = ModelSettings(model)
    if chat.provider == other.provider and not base:
        base, key = chat.api_base, key or chat.api_key
    return replace(other, api_base=base, api_key=key)


async def _embedder(settings: Settings, calls: Calls, stack: AsyncExitStack) -> Embedder:
    if not settings.embedding_model:
        minilm = MiniLM(settings.cache.expanduser())
        stack.callback(minilm.close)
        return minilm
    model, most = embedding_model(settings), settings.embedding_max_tokens
    if settings.embedding_dim:
        return LiteLLMEmbedder(model, calls, settings.embedding_dim, max_tokens=most)
    return await LiteLLMEmbedder.open(model, calls, max_tokens=most)


def _language(settings: Settings, calls: Calls, embedder: Embedder) -> Language:
    if not settings.model:
        return EmbeddedLanguage(checked(embedder))
    answer = chat_model(settings)
    chosen = LLMSettings(
        answer,
        extract=answer.instead(settings.extract_model),
        keywords=answer.instead(settings.keyword_model),
        format=settings.extraction_format,
        gleaning=settings.gleaning,
        window=window(settings),
    )
    if settings.description_language:
        chosen = replace(chosen, language=settings.description_language)
    return LLM(chosen, calls, O200k().count)


def _reranker(settings: Settings, calls: Calls) -> Reranker | None:
    return LiteLLMReranker(rerank_model(settings), calls, O200k()) if settings.rerank_model else None
