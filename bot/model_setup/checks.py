"""Check the models of the settings, and remember what was found."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import structlog

from bot.model_setup.openers import build_reranker, open_embedder
from bot.model_setup.roles import (
    build_context_window,
    chat_model_settings,
    embedding_model_settings,
    rerank_model_settings,
    role_model_settings,
    vision_model_settings,
)
from engine import ModelClient
from engine.errors import EngineError
from engine.llm.client.subprocess import SubprocessProvider
from engine.llm.config import CallTimeouts
from engine.llm.traits.model_check import (
    CheckedRole,
    ModelCheck,
    Problem,
    check_chat,
    check_embedder,
    check_reranker,
    describe_failure,
)
from engine.llm.traits.remembered import model_key, save_check

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from bot.settings import Settings
    from engine import Clock
    from engine.llm.client.protocol import Provider

log = structlog.get_logger(__name__)

ATTEMPTS = 2  # of each call: a check is quick


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A role that the settings give a model, and its check."""

    role: CheckedRole
    check: Awaitable[ModelCheck]


async def check_models(settings: Settings, clock: Clock, provider: Provider | None = None) -> list[ModelCheck]:
    """Check the model of each role with a few tiny calls; what is built in needs none. Raises BadSetting."""
    timeouts = CallTimeouts(
        settings.llm_timeout_seconds,
        settings.llm_stream_idle_timeout_seconds,
        settings.llm_thinking_timeout_seconds,
        min(ATTEMPTS, settings.llm_max_attempts),
    )
    async with AsyncExitStack() as stack:
        client = ModelClient(settings.llm_max_concurrency, timeouts, provider or SubprocessProvider(), clock)
        stack.push_async_callback(client.close)
        chosen = [*_list_chat_roles(settings, client), *_list_other_roles(settings, client, stack)]
        checks = list(await asyncio.gather(*(_finish(each) for each in chosen)))
    _remember(settings, clock, [(each.role, check) for each, check in zip(chosen, checks, strict=True)])
    return checks


async def log_problems(settings: Settings, clock: Clock) -> None:
    """Check all models, and log each problem as a warning; nothing depends on it."""
    try:
        for check in await check_models(settings, clock):
            names = {"role": check.role, "model": check.model}
            for each in check.problems:
                log.warning("models.check_problem", **names, problem=each.text, hint=each.hint)
    except EngineError as error:
        log.warning("models.check_failed", error=str(error))


async def _finish(chosen: _Chosen) -> ModelCheck:
    try:
        return await chosen.check
    except EngineError as error:
        problem: Problem = describe_failure(error, chosen.role)
        return ModelCheck(chosen.role.name, chosen.role.model.model, {"error": str(error)}, (problem,))


def _list_chat_roles(settings: Settings, client: ModelClient) -> list[_Chosen]:
    if not settings.llm_model:
        return []
    models = [
        ("answers", chat_model_settings(settings), "LLM", build_context_window(settings)),
        (
            "extraction",
            role_model_settings(settings, "extraction"),
            "EXTRACTION",
            build_context_window(settings, "extraction"),
        ),
        ("queries", role_model_settings(settings, "query"), "QUERY", build_context_window(settings, "query")),
    ]
    if settings.vision_model:
        window = build_context_window(settings, "vision")
        models.append(("pictures", vision_model_settings(settings), "VISION", window))
    roles = [CheckedRole(name, model, f"THREADLORE_{prefix}", window.size) for name, model, prefix, window in models]
    return [_Chosen(role, check_chat(client, role)) for role in roles]


def _list_other_roles(settings: Settings, client: ModelClient, stack: AsyncExitStack) -> list[_Chosen]:
    chosen = list[_Chosen]()
    if settings.embedding_model:
        role = CheckedRole("vectors", embedding_model_settings(settings), "THREADLORE_EMBEDDING")
        chosen.append(_Chosen(role, check_embedder(lambda: open_embedder(settings, client, stack), role)))
    if (reranker := build_reranker(settings, client)) is not None:
        role = CheckedRole("reranking", rerank_model_settings(settings), "THREADLORE_RERANK")
        chosen.append(_Chosen(role, check_reranker(reranker, role)))
    return chosen


def _remember(settings: Settings, clock: Clock, checked: list[tuple[CheckedRole, ModelCheck]]) -> None:
    """Keep what was found in the data directory, if there is one that takes it."""
    if not settings.data_path.is_dir():
        return
    now = clock.now().isoformat(timespec="seconds")
    working = [(role, check) for role, check in checked if "error" not in check.facts]
    facts = {model_key(role.model): {**check.facts, "checked_at": now} for role, check in working}
    roles = {check.role: {**asdict(check), "checked_at": now} for _, check in checked}
    try:
        save_check(settings.data_path, facts, roles)
    except OSError as error:
        log.warning("models.check_not_remembered", error=error.strerror)
