from __future__ import annotations

from typing import Any

import pytest

from engine.llm.traits.description import describe_model
from tests.support.raw_replies import RawReplies

LISTED = {"object": "list"}


@pytest.mark.parametrize(
    ("model", "replies", "window"),
    [
        ("ollama_chat/small", {"/api/show": {"model_info": {"tiny.context_length": 40_960}}}, 40_960),
        (
            "ollama/small",
            {"/api/show": {"parameters": "stop x\nnum_ctx 8192", "model_info": {"tiny.context_length": 40_960}}},
            8_192,
        ),
        ("hosted_vllm/small", {"/v1/models": {**LISTED, "data": [{"id": "small", "max_model_len": 16_384}]}}, 16_384),
        (
            "lm_studio/small",
            {
                "/api/v0/models": {
                    "data": [{"id": "small", "loaded_context_length": 4_096, "max_context_length": 32_768}, {"id": "b"}]
                }
            },
            4_096,
        ),
        ("openai/small", {"/props": {"default_generation_settings": {"n_ctx": 6_144}}}, 6_144),
        ("hosted_vllm/small", {"/v1/models": {"data": [{"id": "a"}, {"id": "b"}]}}, 0),
    ],
    ids=["Ollama", "Ollama with a size", "vLLM", "LM Studio", "llama.cpp", "unknown"],
)
async def test_servers_state_the_window_of_their_model(model: str, replies: dict[str, Any], window: int) -> None:
    async with RawReplies() as server:
        server.replies = replies
        base = server.address if model.startswith("ollama") else server.api_base
        found = await describe_model({}, {"model": model, "api_base": base})
    assert (found.window, found.window_origin) == (window, "provider" if window else "")


async def test_openrouter_states_window_reply_and_price() -> None:
    row = {
        "id": "acme/small",
        "context_length": 32_768,
        "pricing": {"prompt": "0.1"},
        "top_provider": {"max_completion_tokens": 2_048},
    }
    async with RawReplies() as server:
        server.replies = {"/v1/models": {"data": [{"id": "acme/other"}, row]}}
        found = await describe_model({}, {"model": "openrouter/acme/small", "api_base": server.api_base})
    assert (found.window, found.output_limit, found.price_known) == (32_768, 2_048, True)


async def test_what_no_server_states_is_looked_up() -> None:
    known = {"max_input_tokens": 1000, "max_output_tokens": 100, "supports_reasoning": True}
    known["input_cost_per_token"] = 1
    found = await describe_model(known, {"model": "openai/known"})
    assert (found.window, found.window_origin, found.output_limit) == (1000, "map", 100)
    assert (found.reasons, found.effort, found.price_known) == (True, "low", True)
