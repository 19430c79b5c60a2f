"""Check the models of the settings, and remember what was found."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import structlog

from bot.model_setup.openers import open_embedder
from bot.model_setup.remote import build_reranker
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
    WindowProbe,
    check_chat,
    check_embedder,
    check_reranker,
    describe_failure,
)
from engine.llm.traits.remembered import list_checked_roles, load_facts, model_key, save_check

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bot.settings import Settings
    from engine import Clock
    from engine.llm.client.protocol import Provider

log = structlog.get_logger(__name__)

ATTEMPTS = 2  # of each call: a check is quick
REMEMBERED_DAYS = 30  # that a start takes the last check of the same settings for its own


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A role that the settings give a model, and its check."""

    role: CheckedRole
    check: Callable[[], Awaitable[ModelCheck]]
    last: ModelCheck | None = None  # that holds, too
    checked_at: str = ""


async def check_models(
    settings: Settings, clock: Clock, provider: Provider | None = None, *, is_start: bool = False
) -> list[ModelCheck]:
    """Check the model of each role with a few tiny calls; what is built in needs none. Raises BadSetting.

    `is_start`: a chat model whose check with the same settings is remembered is not called, and none is probed.
    """
    timeouts = CallTimeouts(
        settings.llm_timeout_seconds,
        settings.llm_stream_idle_timeout_seconds,
        settings.llm_thinking_timeout_seconds,
        min(ATTEMPTS, settings.llm_max_attempts),
    )
    async with AsyncExitStack() as stack:
        client = ModelClient(settings.llm_max_concurrency, timeouts, provider or SubprocessProvider(), clock)
        stack.push_async_callback(client.close)
        chat = _list_chat_roles(settings, client, None if is_start else WindowProbe())
        chat = [_recall(settings, role, clock) for role in chat] if is_start else chat
        chosen = [*chat, *_list_other_roles(settings, client, stack)]
        checks = list(await asyncio.gather(*(_finish(role) for role in chosen)))
    _remember(settings, clock, list(zip(chosen, checks, strict=True)))
    return checks


async def log_problems(settings: Settings, clock: Clock) -> None:
    """Check the models of new settings, and log each problem of a model once as a warning; nothing depends on it."""
    roles = dict[tuple[str, Problem], list[str]]()
    try:
        for check in await check_models(settings, clock, is_start=True):
            for problem in check.problems:
                roles.setdefault((check.model, problem), []).append(check.role)
        for (model, problem), names in roles.items():
            told = {"role": ", ".join(names), "model": model, "problem": problem.text, "hint": problem.hint}
            log.warning("models.check_problem", **told)
    except EngineError as error:
        log.warning("models.check_failed", error=str(error))


async def _finish(chosen: _Chosen) -> ModelCheck:
    if chosen.last is not None:
        return chosen.last
    try:
        return await chosen.check()
    except EngineError as error:
        problem: Problem = describe_failure(error, chosen.role)
        return ModelCheck(chosen.role.name, chosen.role.model.model, {"error": str(error)}, (problem,))


def _recall(settings: Settings, chosen: _Chosen, clock: Clock) -> _Chosen:
    """The role with its last check, if that was made with the same settings, and not long ago."""
    for role in list_checked_roles(settings.data_path):
        if role.get("settings") != chosen.role.fingerprint:
            continue
        with suppress(KeyError, TypeError, ValueError):
            problems = tuple(Problem(**problem) for problem in role["problems"])
            last = ModelCheck(role["role"], role["model"], role["facts"], problems)
            if clock.now() - datetime.fromisoformat(role["checked_at"]) < timedelta(days=REMEMBERED_DAYS):
                return replace(chosen, last=last, checked_at=role["checked_at"])
    return chosen


def _list_chat_roles(settings: Settings, client: ModelClient, probe: WindowProbe | None) -> list[_Chosen]:
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
    inheriting = {"EXTRACTION": not settings.extraction_model, "QUERY": not settings.query_model}
    roles = [
        CheckedRole(name, model, f"THREADLORE_{prefix}", window.size, inheriting.get(prefix, False))
        for name, model, prefix, window in models
    ]
    return [_Chosen(role, partial(check_chat, client, role, probe)) for role in roles]


def _list_other_roles(settings: Settings, client: ModelClient, stack: AsyncExitStack) -> list[_Chosen]:
    chosen = list[_Chosen]()
    if settings.embedding_model:
        role = CheckedRole("vectors", embedding_model_settings(settings), "THREADLORE_EMBEDDING")
        remembered = 0 if settings.embedding_dimensions else load_facts(settings.data_path).find_dimension(role.model)
        opened = partial(open_embedder, settings, client, stack, is_check=True)
        chosen.append(_Chosen(role, partial(check_embedder, opened, role, remembered)))
    if (reranker := build_reranker(settings, client)) is not None:
        role = CheckedRole("reranking", rerank_model_settings(settings), "THREADLORE_RERANK")
        chosen.append(_Chosen(role, partial(check_reranker, reranker, role)))
    return chosen


def _remember(settings: Settings, clock: Clock, checked: list[tuple[_Chosen, ModelCheck]]) -> None:
    """Keep what was found in the data directory, if one takes it; only a check without an error holds later."""
    if not settings.data_path.is_dir():
        return
    now = clock.now().isoformat(timespec="seconds")
    facts, roles = dict[str, dict[str, Any]](), dict[str, dict[str, Any]]()
    for chosen, check in checked:
        checked_at, is_valid = chosen.checked_at or now, "error" not in check.facts
        held = {"settings": chosen.role.fingerprint} if is_valid else {}
        roles[check.role] = {**asdict(check), "checked_at": checked_at, **held}
        if is_valid:
            facts[model_key(chosen.role.model)] = {**check.facts, "checked_at": checked_at}
    try:
        save_check(settings.data_path, facts, roles)
    except OSError as error:
        log.warning("models.check_not_remembered", error=error.strerror)
