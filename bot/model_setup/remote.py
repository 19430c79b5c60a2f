"""Open the models of providers. A program without any does without what this module imports."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.context import RULES_EXTRACT
from bot.model_setup.opened import EngineModels
from bot.model_setup.openers import open_embedder
from bot.model_setup.roles import (
    build_context_window,
    chat_model_settings,
    rerank_model_settings,
    role_model_settings,
    vision_model_settings,
)
from engine import LiteLLMReranker, LLMConfig, ModelClient, O200kTokenizer, OfflineModel
from engine.ingest.estimate import IndexingEstimator
from engine.llm.checked_embedder import wrap_embedder
from engine.llm.client.protocol import UNOBSERVED
from engine.llm.client.subprocess import SubprocessProvider
from engine.llm.config import CallTimeouts
from engine.llm.picture_describer import LiteLLMPictureDescriber
from engine.llm.remote_model import LiteLLMModel, PartlyRuledModel
from engine.llm.traits.remembered import load_thinking, save_thinking

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from bot.settings import Settings
    from engine import Clock, Embedder, LanguageModel, PictureDescriber, Reranker, UsageMeter
    from engine.llm.client.protocol import CallObservers


@asynccontextmanager
async def open_remote(
    settings: Settings, clock: Clock, observers: CallObservers | None = None
) -> AsyncIterator[EngineModels]:
    """Open the models of the settings, of which at least one is a provider's."""
    timeouts = CallTimeouts(
        settings.llm_timeout_seconds,
        settings.llm_stream_idle_timeout_seconds,
        settings.llm_thinking_timeout_seconds,
        settings.llm_max_attempts,
    )
    observers = UNOBSERVED if observers is None else observers
    calls = ModelClient(settings.llm_max_concurrency, timeouts, SubprocessProvider(), clock, observers)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(calls.close)
        if settings.llm_model:
            calls.thinking_models.recall(load_thinking(settings.data_path))
            stack.callback(_keep_thinking, settings.data_path, calls)
        embedder = wrap_embedder(await open_embedder(settings, calls, stack))
        yield EngineModels(
            _build_language(settings, calls, embedder),
            embedder,
            build_reranker(settings, calls),
            calls,
            vision_model_settings(settings) if settings.vision_model else None,
        )


def _keep_thinking(data_dir: Path, calls: ModelClient) -> None:
    """Keep how models think, so that the first answer of the next program streams."""
    with suppress(OSError):
        save_thinking(data_dir, calls.thinking_models.list_learned())


def build_reranker(settings: Settings, calls: ModelClient) -> Reranker | None:
    """The reranker of the settings, if one is set."""
    return LiteLLMReranker(rerank_model_settings(settings), calls, O200kTokenizer()) if settings.rerank_model else None


def build_estimator(settings: Settings, models: EngineModels) -> IndexingEstimator | None:
    """What estimates the cost of texts; None if no model reads them."""
    if models.calls is None or not settings.llm_model or settings.extraction_by == "rules":
        return None
    model = role_model_settings(settings, "extraction")
    reads_messages = settings.extraction_by == "model"
    return IndexingEstimator(models.calls, model, settings.extraction_concurrency, reads_messages)


def build_describer(
    models: EngineModels, record_usage: Callable[[UsageMeter], Awaitable[None]]
) -> PictureDescriber | None:
    """What describes pictures; None if no model does. `record_usage`: receives the usage of each call."""
    if models.calls is None or models.vision is None:
        return None
    return LiteLLMPictureDescriber(models.vision, models.calls, record_usage)


def _build_language(settings: Settings, calls: ModelClient, embedder: Embedder) -> LanguageModel:
    if not settings.llm_model:
        return OfflineModel(embedder)
    config = LLMConfig(
        chat_model_settings(settings),
        extraction_model=role_model_settings(settings, "extraction"),
        query_model=role_model_settings(settings, "query"),
        extraction_format=settings.extraction_format,
        rules_extract=RULES_EXTRACT[settings.extraction_by],
        gleaning=settings.extraction_gleaning,
        context_window=build_context_window(settings),
        extraction_window=build_context_window(settings, "extraction"),
        query_window=build_context_window(settings, "query"),
    )
    if types := tuple(part.strip() for part in settings.entity_types.split(",") if part.strip()):
        config = replace(config, entity_types=types)
    if settings.description_language:
        config = replace(config, description_language=settings.description_language)
    kind = LiteLLMModel if config.rules_extract == "nothing" else PartlyRuledModel
    return kind(config, calls, O200kTokenizer().count)
