from __future__ import annotations

from typing import Any

import pytest

from engine.errors import InvalidApiKey
from engine.llm.config import ModelConfig
from engine.llm.reranker import LiteLLMReranker
from engine.text.tokenizer import O200kTokenizer
from engine.usage import UsageMeter
from tests.engine.llm.stub_provider import StubProvider
from tests.support.openai_server import Fault

PROVIDERS = pytest.mark.parametrize("provider", ["jina_ai/stub", "cohere/stub", "hosted_vllm/stub"])
TEXTS = ["The river is long.", "Ada runs the mill.", "Nothing at all."]


def make_reranker(stub: StubProvider, provider: str = "cohere/stub", **limits: Any) -> LiteLLMReranker:
    model = ModelConfig(provider, f"http://127.0.0.1:{stub.server.port}", "key")
    return LiteLLMReranker(model, stub.client, O200kTokenizer(), **limits)


@PROVIDERS
async def test_scores_come_in_the_order_of_the_texts(stub: StubProvider, provider: str) -> None:
    reranker, meter = make_reranker(stub, provider), UsageMeter()
    assert await reranker.rerank("Who runs the mill?", TEXTS, meter) == [0.25, 0.75, 0.0]
    assert [usage.purpose for usage in meter.items] == ["rerank"]
    assert stub.server.requests[0].body["query"] == "Who runs the mill?"
    stub.server.scores = [{"index": 2, "relevance_score": 0.5}, {"index": 9, "relevance_score": 0.9}]
    assert await reranker.rerank("Who?", TEXTS, meter) == [None, None, 0.5]
    assert await reranker.rerank("Who?", [], meter) == []
    assert stub.request_count == 2


@PROVIDERS
async def test_errors_are_typed_and_brief_failures_retried(stub: StubProvider, provider: str) -> None:
    stub.fail(Fault(status=401))
    with pytest.raises(InvalidApiKey):
        await make_reranker(stub, provider).rerank("Who?", TEXTS, UsageMeter())
    stub.fail(Fault(status=503))
    assert len(await make_reranker(stub, provider).rerank("Who?", TEXTS, UsageMeter())) == 3
    assert stub.request_count == 3


async def test_a_long_text_is_scored_in_pieces_and_top_n_counts_texts(stub: StubProvider) -> None:
    texts = ["word " * 100 + "Ada runs the mill", "the river"]
    reranker = make_reranker(stub, max_tokens=40, top_n=1)
    assert await reranker.rerank("Who runs the mill", texts, UsageMeter()) == [0.75, None]
    assert len(stub.server.requests[0].body["documents"]) > 3
