from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from engine.errors import InvalidApiKey, ModelUnavailable
from engine.llm.embedder import LiteLLMEmbedder
from engine.usage import UsageMeter
from tests.support.openai_server import Fault, OpenAIServer
from tests.support.openai_wire import hash_vector

if TYPE_CHECKING:
    from engine.llm.client.client import ModelClient
    from engine.llm.config import ModelConfig

PATH = "/v1/embeddings"


async def test_vectors_have_length_one_and_the_order_of_the_texts(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    texts = ["the mill", "the river by the mill", "Ada"]
    bill = UsageMeter()
    made = await LiteLLMEmbedder(model, calls, server.dim).embed(texts, bill)
    expected = np.stack([hash_vector(text, server.dim) for text in texts])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert made.dtype == np.float32
    np.testing.assert_allclose(made, expected, atol=1e-6)
    (usage,) = bill.items
    assert (usage.purpose, usage.model) == ("embed", "openai/stub")
    assert usage.input_tokens > 0


async def test_many_texts_go_in_batches(server: OpenAIServer, calls: ModelClient, model: ModelConfig) -> None:
    embedder = LiteLLMEmbedder(model, calls, server.dim, batch=4)
    texts = [f"text {number}" for number in range(10)]
    made = await embedder.embed(texts, bill := UsageMeter())
    assert made.shape == (10, server.dim)
    assert sorted(len(body["input"]) for body in server.bodies(PATH)) == [2, 4, 4]
    assert len(bill.items) == 3
    one = await embedder.embed(texts[9:], UsageMeter())
    np.testing.assert_allclose(made[9:], one, atol=1e-6)


async def test_no_texts_are_no_call(server: OpenAIServer, calls: ModelClient, model: ModelConfig) -> None:
    made = await LiteLLMEmbedder(model, calls, 7).embed([], UsageMeter())
    assert made.shape == (0, 7)
    assert not server.requests


async def test_a_text_of_nothing_is_sent_as_something(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    made = await LiteLLMEmbedder(model, calls, server.dim).embed(["", "a"], UsageMeter())
    assert made.shape == (2, server.dim)
    assert all(text.strip() for text in server.bodies(PATH)[0]["input"])


async def test_the_dimension_is_learnt_from_a_first_call(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    embedder = await LiteLLMEmbedder.open(model, calls, max_tokens=512)
    assert (embedder.dim, embedder.max_tokens) == (server.dim, 512)
    assert embedder.name == f"openai/stub@{server.dim}"


async def test_another_dimension_than_the_one_given_is_an_error(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    with pytest.raises(ModelUnavailable, match=f"{server.dim} dimensions, not 384"):
        await LiteLLMEmbedder(model, calls, 384).embed(["a"], UsageMeter())
    assert len(server.requests) == 1


async def test_a_passing_failure_is_tried_again_and_a_bad_key_is_not(
    server: OpenAIServer, calls: ModelClient, model: ModelConfig
) -> None:
    embedder = LiteLLMEmbedder(model, calls, server.dim)
    server.faults.append(Fault(status=503))
    assert (await embedder.embed(["a"], UsageMeter())).shape == (1, server.dim)
    server.faults.append(Fault(status=401))
    with pytest.raises(InvalidApiKey):
        await embedder.embed(["a"], UsageMeter())
    assert len(server.requests) == 3
