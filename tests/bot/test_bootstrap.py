from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.bootstrap import MIB, build_engine_options, build_parser_limits, open_models
from bot.errors import BadSetting
from bot.model_setup.roles import (
    build_context_window,
    chat_model_settings,
    embedding_model_settings,
    embedding_prefixes,
    rerank_model_settings,
    role_model_settings,
)
from bot.settings import load_settings
from engine import EngineOptions
from engine.clock import SYSTEM_CLOCK
from engine.llm.checked_embedder import CheckedEmbedder
from engine.llm.embedder import LiteLLMEmbedder
from engine.llm.minilm.embedder import MiniLMEmbedder
from engine.llm.offline.model import OfflineModel
from engine.llm.remote_model import LiteLLMModel, PartlyRuledModel
from engine.llm.reranker import LiteLLMReranker
from engine.llm.traits.remembered import save_facts

CHAT: dict[str, Any] = {"llm_model": "openai/chat", "llm_api_base": "http://127.0.0.1:1/v1", "llm_api_key": "one"}
EMBEDDING = {"embedding_model": "openai/e", "embedding_dimensions": 8}
ALL = {**CHAT, **EMBEDDING, "extraction_model": "small", "rerank_model": "cohere/r", "extraction_format": "json"}


@pytest.mark.parametrize(
    ("settings", "kinds", "names"),
    [
        ({}, (OfflineModel, MiniLMEmbedder, type(None)), ()),
        (CHAT, (PartlyRuledModel, MiniLMEmbedder, type(None)), ()),
        (CHAT | {"extraction_by": "model"}, (LiteLLMModel, MiniLMEmbedder, type(None)), ()),
        (
            ALL,
            (PartlyRuledModel, LiteLLMEmbedder, LiteLLMReranker),
            ("extract=openai/small", "format=json", "openai/e@8"),
        ),
    ],
    ids=["no model", "a chat model", "a chat model for all texts", "all models"],
)
async def test_each_skill_has_the_model_of_its_settings(
    settings: dict[str, Any], kinds: tuple[type, ...], names: tuple[str, ...]
) -> None:
    async with open_models(load_settings(**settings), SYSTEM_CLOCK) as models:
        assert isinstance(models.embedder, CheckedEmbedder)
        assert tuple(map(type, (models.language, models.embedder.embedder, models.reranker))) == kinds
        assert all(name in models.language.name + models.embedder.name for name in names)


@pytest.mark.parametrize(
    ("settings", "api_base", "api_key"),
    [
        ({"embedding_model": "openai/e"}, "http://127.0.0.1:1/v1", "one"),
        ({"embedding_model": "voyage/e"}, "", ""),
        ({"embedding_model": "openai/e", "embedding_api_base": "http://b"}, "http://b", ""),
        ({"embedding_model": "openai/e", "embedding_api_key": "two"}, "http://127.0.0.1:1/v1", "two"),
    ],
)
def test_address_and_key_are_shared_with_the_same_provider_only(
    settings: dict[str, Any], api_base: str, api_key: str
) -> None:
    model = embedding_model_settings(load_settings(**CHAT, **settings))
    assert (model.api_base, model.api_key) == (api_base, api_key)


def test_the_reranker_has_a_key_of_its_own() -> None:
    model = rerank_model_settings(load_settings(**CHAT, rerank_model="cohere/r", rerank_api_key="three"))
    assert (model.api_base, model.api_key) == ("", "three")


def test_the_budgets_follow_from_the_context_of_the_model() -> None:
    def options(**settings: int) -> Any:
        return build_engine_options(load_settings(**CHAT, **settings))

    chosen = options(llm_context_tokens=4096, llm_output_reserve_tokens=1000)
    assert (chosen.context_window.size, chosen.context_window.reply_tokens) == (4096, 1000)
    assert (chosen.chunking.size, chosen.summary_limits.call_tokens < 3000) == (1200, True)
    assert options(llm_context_tokens=2048).chunking.size < 700
    assert options().context_window.size == 0
    assert options(llm_context_tokens=8192, llm_max_output_tokens=3000).context_window.reply_tokens == 3000


@pytest.mark.parametrize(
    ("model", "settings", "size", "num_ctx"),
    [
        ("ollama_chat/qwen3", {"ollama_num_ctx": 8192}, 8192, 8192),
        ("ollama_chat/qwen3", {"llm_context_tokens": 4096}, 4096, 4096),
        ("ollama_chat/qwen3", {"llm_context_tokens": 4096, "ollama_num_ctx": 8192}, 4096, 8192),
        ("ollama_chat/qwen3", {}, 16_384, 16_384),
        ("openai/chat", {"ollama_num_ctx": 8192}, 0, None),
    ],
)
def test_ollama_is_given_the_context(model: str, settings: dict[str, Any], size: int, num_ctx: int | None) -> None:
    chosen = load_settings(llm_model=model, **settings)
    assert build_context_window(chosen).size == size
    assert num_ctx is None or chat_model_settings(chosen).num_ctx == num_ctx


@pytest.mark.parametrize(
    "settings", [{"llm_context_tokens": 500}, {"llm_context_tokens": 4096, "llm_output_reserve_tokens": 4000}]
)
def test_a_context_without_room_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(BadSetting, match="THREADLORE_LLM_CONTEXT_TOKENS"):
        build_engine_options(load_settings(**CHAT, **settings))


def test_the_memory_is_divided_between_the_copies() -> None:
    def options(**settings: Any) -> EngineOptions:
        return build_engine_options(load_settings(**CHAT, **settings))

    plain, files, database = options(), options(memory_mb=2048), options(memory_mb=2048, database="postgresql://h/d")
    assert plain.vector_cache_bytes == EngineOptions().vector_cache_bytes
    assert 3 * files.vector_cache_bytes + files.graph_cache_bytes == pytest.approx(1344 * MIB, abs=8)
    assert 3 * database.vector_cache_bytes + 2 * database.word_cache_bytes == pytest.approx(1344 * MIB, abs=8)


@pytest.mark.parametrize("memory", [1, 767])
def test_too_little_memory_is_refused_with_what_is_needed(memory: int) -> None:
    with pytest.raises(BadSetting, match=f"THREADLORE_MEMORY_MB={memory} is too little.* at least 768"):
        build_engine_options(load_settings(**CHAT, memory_mb=memory))


async def test_a_vision_model_shares_the_key_of_its_provider() -> None:
    async with open_models(load_settings(**CHAT, vision_model="openai/eyes"), SYSTEM_CLOCK) as models:
        assert models.vision is not None
        chat = chat_model_settings(load_settings(**CHAT))
        assert models.vision == replace(chat, model="openai/eyes", reasoning_effort="lowest")
    assert build_parser_limits(load_settings(vision_model="openai/eyes")).describes_pictures


def test_each_role_has_parameters_of_its_own() -> None:
    settings = load_settings(
        **CHAT,
        llm_temperature=0.7,
        llm_extra_parameters='{"top_p": 0.9}',
        extraction_model="openai/small",
        extraction_context_tokens=4096,
        query_extra_parameters='{"seed": 1}',
    )
    answers, query = chat_model_settings(settings), role_model_settings(settings, "query")
    extraction = role_model_settings(settings, "extraction")
    assert (answers.temperature, extraction.temperature, query.temperature) == (0.7, 0.0, 0.7)
    assert (answers.reasoning_effort, extraction.reasoning_effort) == ("", "lowest")
    assert query.extra == {"top_p": 0.9, "seed": 1}
    assert (extraction.model, extraction.api_key) == ("openai/small", "one")
    assert (build_context_window(settings).size, build_context_window(settings, "extraction").size) == (0, 4096)


@pytest.mark.parametrize("text", ["[1]", "{"])
def test_parameters_that_are_no_object_are_refused(text: str) -> None:
    with pytest.raises(BadSetting, match="THREADLORE_LLM_EXTRA_PARAMETERS"):
        chat_model_settings(load_settings(**CHAT, llm_extra_parameters=text))


def test_a_window_that_the_provider_stated_is_kept_to(tmp_path: Path) -> None:
    chosen = load_settings(llm_model="hosted_vllm/small", data_dir=tmp_path)
    save_facts(tmp_path, {"hosted_vllm/small": {"window": 8192, "window_origin": "provider"}})
    assert build_context_window(chosen).size == 8192
    save_facts(tmp_path, {"hosted_vllm/small": {"window": 8192, "window_origin": "map"}})
    assert build_context_window(chosen).size == 0


async def test_a_prefix_of_a_known_embedding_model_is_part_of_its_identity() -> None:
    chosen = load_settings(embedding_model="ollama/nomic-embed-text", embedding_dimensions=8)
    assert embedding_prefixes(chosen).query == "search_query: "
    async with open_models(chosen, SYSTEM_CLOCK) as models:
        assert models.embedder.name == "ollama/nomic-embed-text@8 “search_document:”"
    none = {"embedding_query_prefix": "none", "embedding_passage_prefix": "none"}
    assert embedding_prefixes(load_settings(embedding_model="ollama/nomic-embed-text", **none)).is_plain
    assert embedding_prefixes(load_settings(embedding_model="openai/e", embedding_query_prefix="ask:")).query == "ask: "


def test_without_a_vision_model_nothing_is_described() -> None:
    assert not build_parser_limits(load_settings(**CHAT)).describes_pictures


def test_numbers_reach_the_engine() -> None:
    numbers = {"summary_cooldown_seconds": 3, "extraction_concurrency": 2, "max_file_size_mb": 1}
    settings = load_settings(graph_backend="ladybug", parser_timeout_seconds=5, **numbers)
    options, limits = build_engine_options(settings), build_parser_limits(settings)
    assert (options.graph_backend, options.summary_cooldown, options.extraction_concurrency) == ("ladybug", 3, 2)
    assert options.open_stores is None
    assert (limits.max_file_size, limits.timeout_seconds) == (2**20, 5)
