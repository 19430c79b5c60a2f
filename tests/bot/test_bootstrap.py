from __future__ import annotations

import pytest

from bot.bootstrap import (
    build_context_window,
    build_engine_options,
    build_parser_limits,
    chat_model_settings,
    embedding_model_settings,
    open_models,
    rerank_model_settings,
)
from bot.errors import BadSetting
from bot.settings import load_settings
from engine.llm.embedder import LiteLLMEmbedder
from engine.llm.minilm.embedder import MiniLMEmbedder
from engine.llm.offline.model import OfflineModel
from engine.llm.remote_model import LiteLLMModel
from engine.llm.reranker import LiteLLMReranker

CHAT = {"llm_model": "openai/chat", "llm_api_base": "http://127.0.0.1:1/v1", "llm_api_key": "one"}


async def test_without_a_model_everything_is_embedded() -> None:
    async with open_models(load_settings()) as able:
        assert isinstance(able.language, OfflineModel)
        assert isinstance(able.embedder, MiniLMEmbedder)
        assert able.reranker is None


async def test_with_models_each_skill_is_the_provider_s() -> None:
    chosen = {
        "extraction_model": "small",
        "embedding_model": "openai/e",
        "embedding_dimensions": 8,
        "rerank_model": "cohere/r",
    }
    async with open_models(load_settings(**CHAT, **chosen, extraction_format="json")) as able:
        assert isinstance(able.language, LiteLLMModel)
        assert "extract=openai/small" in able.language.name
        assert "format=json" in able.language.name
        assert isinstance(able.embedder, LiteLLMEmbedder)
        assert able.embedder.name == "openai/e@8"
        assert isinstance(able.reranker, LiteLLMReranker)


async def test_a_model_alone_does_not_change_the_embedder() -> None:
    async with open_models(load_settings(**CHAT)) as able:
        assert isinstance(able.embedder, MiniLMEmbedder)


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"embedding_model": "openai/e"}, ("http://127.0.0.1:1/v1", "one")),
        ({"embedding_model": "voyage/e"}, ("", "")),
        ({"embedding_model": "openai/e", "embedding_api_base": "http://b"}, ("http://b", "")),
        ({"embedding_model": "openai/e", "embedding_api_key": "two"}, ("http://127.0.0.1:1/v1", "two")),
    ],
)
def test_address_and_key_are_shared_with_the_same_provider_only(given: dict[str, str], place: tuple[str, str]) -> None:
    model = embedding_model_settings(load_settings(**CHAT, **given))
    assert (model.api_base, model.api_key) == place


def test_the_reranker_has_a_key_of_its_own() -> None:
    model = rerank_model_settings(load_settings(**CHAT, rerank_model="cohere/r", rerank_api_key="three"))
    assert (model.api_base, model.api_key) == ("", "three")


def test_the_budgets_follow_from_the_context_of_the_model() -> None:
    chosen = build_engine_options(load_settings(**CHAT, llm_context_tokens=4096, llm_output_reserve_tokens=1000))
    assert (chosen.context_window.size, chosen.context_window.reply_tokens) == (4096, 1000)
    assert chosen.chunking.size == 1200
    assert build_engine_options(load_settings(**CHAT, llm_context_tokens=2048)).chunking.size < 700
    assert chosen.summary_limits.call_tokens < 3000
    assert build_engine_options(load_settings(**CHAT)).context_window.size == 0
    assert (
        build_engine_options(
            load_settings(**CHAT, llm_context_tokens=8192, llm_max_output_tokens=3000)
        ).context_window.reply_tokens
        == 3000
    )


@pytest.mark.parametrize(
    ("given", "size", "num_ctx"),
    [
        ({"ollama_num_ctx": 8192}, 8192, 8192),
        ({"llm_context_tokens": 4096}, 4096, 4096),
        ({"llm_context_tokens": 4096, "ollama_num_ctx": 8192}, 4096, 8192),
        ({}, 0, 0),
    ],
)
def test_ollama_is_given_the_context(given: dict[str, int], size: int, num_ctx: int) -> None:
    settings = load_settings(llm_model="ollama_chat/qwen3", **given)
    assert (build_context_window(settings).size, chat_model_settings(settings).num_ctx) == (size, num_ctx)
    assert build_context_window(load_settings(**CHAT, ollama_num_ctx=8192)).size == 0


@pytest.mark.parametrize(
    "given", [{"llm_context_tokens": 500}, {"llm_context_tokens": 4096, "llm_output_reserve_tokens": 4000}]
)
def test_a_context_without_room_is_refused(given: dict[str, int]) -> None:
    with pytest.raises(BadSetting, match="THREADLORE_LLM_CONTEXT_TOKENS"):
        build_engine_options(load_settings(**CHAT, **given))


def test_numbers_reach_the_engine() -> None:
    settings = load_settings(
        graph_backend="ladybug",
        summary_cooldown_seconds=3,
        extraction_concurrency=2,
        max_file_size_mb=1,
        parser_timeout_seconds=5,
    )
    assert (
        build_engine_options(settings).graph_backend,
        build_engine_options(settings).summary_cooldown,
        build_engine_options(settings).extraction_concurrency,
    ) == ("ladybug", 3, 2)
    assert (build_parser_limits(settings).max_file_size, build_parser_limits(settings).timeout_seconds) == (2**20, 5)
