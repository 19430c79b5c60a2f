from __future__ import annotations

import numpy as np
import pytest

from engine.errors import InvalidApiKey, ModelUnavailable
from engine.llm.embedder import LiteLLMEmbedder
from engine.usage import UsageMeter
from tests.engine.llm.stub_provider import StubProvider
from tests.support.openai_server import Fault
from tests.support.openai_wire import hash_vector


@pytest.fixture
def embedder(stub: StubProvider) -> LiteLLMEmbedder:
    return LiteLLMEmbedder(stub.model, stub.client, stub.server.dim, batch=4)


async def test_vectors_have_length_one_and_the_order_of_the_texts(embedder: LiteLLMEmbedder) -> None:
    texts, meter = ["the mill", "the river by the mill", "Ada"], UsageMeter()
    vectors = await embedder.embed(texts, meter)
    expected = np.stack([hash_vector(text, embedder.dim) for text in texts])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    (usage,) = meter.items
    assert (usage.purpose, usage.model, usage.input_tokens > 0) == ("embed", "openai/stub", True)


@pytest.mark.parametrize(("count", "batches"), [(0, []), (1, [1]), (10, [2, 4, 4])])
async def test_many_texts_go_in_batches(
    stub: StubProvider, embedder: LiteLLMEmbedder, count: int, batches: list[int]
) -> None:
    texts = [f"text {number}" for number in range(count)]
    vectors = await embedder.embed(texts, meter := UsageMeter())
    assert vectors.shape == (count, embedder.dim)
    assert sorted(len(body["input"]) for body in stub.server.bodies("/v1/embeddings")) == batches
    assert len(meter.items) == len(batches)
    np.testing.assert_allclose(vectors[9:], await embedder.embed(texts[9:], meter), atol=1e-6)


async def test_an_empty_text_is_sent_with_a_placeholder(stub: StubProvider, embedder: LiteLLMEmbedder) -> None:
    assert (await embedder.embed(["", "a"], UsageMeter())).shape == (2, embedder.dim)
    assert all(text.strip() for text in stub.server.bodies("/v1/embeddings")[0]["input"])


async def test_the_dimension_is_found_with_a_first_call(stub: StubProvider) -> None:
    opened = await LiteLLMEmbedder.open(stub.model, stub.client, max_tokens=512)
    assert (opened.dim, opened.max_tokens) == (stub.server.dim, 512)
    assert opened.name == f"openai/stub@{stub.server.dim}"


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault(status=503, message="no capacity"), ModelUnavailable),
        (Fault(status=401, message="no key"), InvalidApiKey),
    ],
)
async def test_without_a_known_dimension_a_provider_that_fails_ends_the_start(
    stub: StubProvider, fault: Fault, kind: type[Exception]
) -> None:
    stub.server.outage = fault
    with pytest.raises(kind, match=fault.message):
        await LiteLLMEmbedder.open(stub.model, stub.client)


async def test_another_dimension_than_the_configured_one_is_an_error(stub: StubProvider) -> None:
    with pytest.raises(ModelUnavailable, match=f"{stub.server.dim} dimensions, not 384"):
        await LiteLLMEmbedder(stub.model, stub.client, 384).embed(["a"], UsageMeter())
    assert stub.request_count == 1


async def test_a_brief_failure_is_retried_and_a_bad_key_is_not(stub: StubProvider, embedder: LiteLLMEmbedder) -> None:
    stub.fail(Fault(status=503))
    assert (await embedder.embed(["a"], UsageMeter())).shape == (1, embedder.dim)
    stub.fail(Fault(status=401))
    with pytest.raises(InvalidApiKey):
        await embedder.embed(["a"], UsageMeter())
    assert stub.request_count == 3
