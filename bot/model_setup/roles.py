"""The models of the settings: endpoint, parameters and context window of each role."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from bot.errors import BadSetting
from bot.model_setup.key_kinds import find_foreign_key, find_name_mistake
from engine import ModelConfig
from engine.llm.config import OLLAMA_PROVIDERS
from engine.llm.traits.prefixes import EmbeddingPrefixes, find_prefixes
from engine.llm.traits.reasoning import LOWEST
from engine.llm.traits.remembered import load_facts
from engine.options import MIN_CONTEXT_TOKENS, ContextWindow

if TYPE_CHECKING:
    from bot.settings import Settings

Role = Literal["llm", "extraction", "query", "vision"]

# Ollama allocates memory for the whole window, and cuts longer prompts silently if it is not told the size.
OLLAMA_DEFAULT_WINDOW = 16_384
NO_PREFIX = "none"
CORRECT_HINT = "Correct it in the settings, or run `threadlore init` again."


def chat_model_settings(settings: Settings) -> ModelConfig:
    """The model that answers."""
    model = ModelConfig(
        settings.llm_model,
        settings.llm_api_base,
        settings.llm_api_key.get_secret_value(),
        settings.llm_temperature,
        settings.llm_max_output_tokens,
        _read_extra(settings, "llm"),
        reasoning_effort=settings.llm_reasoning_effort,
    )
    return _with_window(settings, _refuse_misplaced(model, "LLM"), "llm")


def role_model_settings(settings: Settings, role: Literal["extraction", "query"]) -> ModelConfig:
    """The model that extracts and summarizes, or rewrites questions: that of the answers with parameters of its own."""
    chat = chat_model_settings(settings)
    name: str = getattr(settings, f"{role}_model")
    temperature: float | None = getattr(settings, f"{role}_temperature")
    model = replace(
        chat.with_model(name),
        temperature=chat.temperature if temperature is None else temperature,
        reasoning_effort=getattr(settings, f"{role}_reasoning_effort") or LOWEST,
    )
    extra = _read_extra(settings, role)
    model = _refuse_misplaced(replace(model, extra={**model.extra, **extra}), role.upper())
    return _with_window(settings, model, role)


def vision_model_settings(settings: Settings) -> ModelConfig:
    """The model that describes pictures; base URL and key as for embedding."""
    base, key = settings.vision_api_base, settings.vision_api_key.get_secret_value()
    model = replace(
        _refuse_misplaced(_inherit_chat_settings(settings, settings.vision_model, base, key), "VISION"),
        temperature=settings.vision_temperature,
        reasoning_effort=settings.vision_reasoning_effort or LOWEST,
        extra=_read_extra(settings, "vision"),
    )
    return _with_window(settings, model, "vision")


def embedding_model_settings(settings: Settings) -> ModelConfig:
    """The embedding model; inherits base URL and key from the chat model of the same provider."""
    base, key = settings.embedding_api_base, settings.embedding_api_key.get_secret_value()
    return _refuse_misplaced(_inherit_chat_settings(settings, settings.embedding_model, base, key), "EMBEDDING")


def embedding_prefixes(settings: Settings) -> EmbeddingPrefixes:
    """What the embedding model expects before questions and passages: as set, else as its name tells."""
    known = find_prefixes(settings.embedding_model)
    query, passage = settings.embedding_query_prefix, settings.embedding_passage_prefix
    if query:
        known = replace(known, query=_read_prefix(query), query_parameters={})
    if passage:
        known = replace(known, passage=_read_prefix(passage), passage_parameters={})
    return known


def rerank_model_settings(settings: Settings) -> ModelConfig:
    """The reranking model; base URL and key as for embedding."""
    base, key = settings.rerank_api_base, settings.rerank_api_key.get_secret_value()
    return _refuse_misplaced(_inherit_chat_settings(settings, settings.rerank_model, base, key), "RERANK")


def build_context_window(settings: Settings, role: Role = "llm") -> ContextWindow:
    """The context window of the model of a role. Raises BadSetting if the one that is set cannot be used.

    One that is not set keeps nothing from starting: it is at least what prompts need, and leaves the usual space for a
    reply if the longest one does not fit into it. The check of the models names both.
    """
    variable, size, is_set = _find_window(settings, _base_model(settings, role), role)
    if size and size < MIN_CONTEXT_TOKENS:
        if is_set:
            raise BadSetting(f"{variable} must be 0 or at least {MIN_CONTEXT_TOKENS:,}, not {size:,}.")
        size = MIN_CONTEXT_TOKENS
    longest = settings.llm_max_output_tokens or 0
    try:
        return ContextWindow(size, settings.llm_output_reserve_tokens or longest, longest)
    except ValueError as error:
        if not is_set:
            return ContextWindow(size, 0, longest)
        hint = f"Lower THREADLORE_LLM_OUTPUT_RESERVE_TOKENS or THREADLORE_LLM_MAX_OUTPUT_TOKENS, or raise {variable}."
        raise BadSetting(f"{variable} cannot be used: {error}.", hint=hint) from error


def _base_model(settings: Settings, role: Role) -> ModelConfig:
    """The model of a role by name and endpoint alone."""
    chat = ModelConfig(settings.llm_model, settings.llm_api_base)
    return chat.with_model(settings.llm_model if role == "llm" else getattr(settings, f"{role}_model"))


def _find_window(settings: Settings, model: ModelConfig, role: Role) -> tuple[str, int, bool]:
    """The variable that sets the window of a role, its tokens (0 if not known), and whether it is set.

    What is not set is what the provider said at the last check; for Ollama, at most what its memory is likely to hold.
    """
    own: int = getattr(settings, f"{role}_context_tokens")
    if own:
        return f"THREADLORE_{role.upper()}_CONTEXT_TOKENS", own, True
    if settings.llm_context_tokens:
        return "THREADLORE_LLM_CONTEXT_TOKENS", settings.llm_context_tokens, True
    known = load_facts(settings.data_path).find_window(model)
    if model.provider in OLLAMA_PROVIDERS:
        size = settings.ollama_num_ctx or min(known or OLLAMA_DEFAULT_WINDOW, OLLAMA_DEFAULT_WINDOW)
        return "THREADLORE_OLLAMA_NUM_CTX", size, bool(settings.ollama_num_ctx)
    return "THREADLORE_LLM_CONTEXT_TOKENS", known, False


def _refuse_misplaced(model: ModelConfig, prefix: str) -> ModelConfig:
    """The model. Raises BadSetting if its name is a key or an address, or if its key is of another provider."""
    if mistake := find_name_mistake(model.model):
        raise BadSetting(f"THREADLORE_{prefix}_MODEL: {mistake}", hint=CORRECT_HINT)
    if not model.api_base and (mistake := find_foreign_key(model.api_key, model.model)):
        raise BadSetting(f"THREADLORE_{prefix}_API_KEY: {mistake}", hint=CORRECT_HINT)
    return model


def _with_window(settings: Settings, model: ModelConfig, role: Role) -> ModelConfig:
    """The model with the window that is requested from Ollama."""
    if model.provider not in OLLAMA_PROVIDERS:
        return replace(model, num_ctx=0)
    return replace(model, num_ctx=settings.ollama_num_ctx or _find_window(settings, model, role)[1])


def _read_extra(settings: Settings, role: Role) -> dict[str, Any]:
    """The further parameters of a role. Raises BadSetting."""
    text: str = getattr(settings, f"{role}_extra_parameters")
    variable = f"THREADLORE_{role.upper()}_EXTRA_PARAMETERS"
    try:
        found = json.loads(text or "{}")
    except ValueError as error:
        raise BadSetting(f"{variable} is no JSON: {error}.") from error
    if not isinstance(found, dict):
        raise BadSetting(f'{variable} must be a JSON object, such as {{"top_p": 0.9}}.')
    return found


def _read_prefix(setting: str) -> str:
    return "" if setting.strip().casefold() == NO_PREFIX else f"{setting.rstrip()} "


def _inherit_chat_settings(settings: Settings, model: str, base: str, key: str) -> ModelConfig:
    chat = ModelConfig(settings.llm_model, settings.llm_api_base, settings.llm_api_key.get_secret_value())
    other = ModelConfig(model)
    if chat.provider == other.provider and not base:
        base, key = chat.api_base, key or chat.api_key
    return replace(other, api_base=base, api_key=key)
