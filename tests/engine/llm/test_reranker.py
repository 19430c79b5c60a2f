from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.errors import InvalidApiKey
from engine.llm.config import ModelConfig
from engine.llm.reranker import LiteLLMReranker
from engine.text.tokenizer import O200kTokenizer
from engine.usage import UsageMeter
from tests.support.openai_server import Fault, OpenAIServer

if TYPE_CHECKING:
    from engine.llm.client.client import ModelClient

TEXTS = ["The river is long.", "Ada runs the mill.", "Nothing at all."]


def base(server: OpenAIServer) -> str:
    return f"http://127.0.0.1:{server.port}"


@pytest.fixture(params=["jina_ai/stub", "cohere/stub", "hosted_vllm/stub"])
def reranker(request: pytest.FixtureRequest, server: OpenAIServer, calls: ModelClient) -> LiteLLMReranker:
    return LiteLLMReranker(ModelConfig(request.param, base(server), "key"), calls, O200kTokenizer())


async def test_scores_come_in_the_order_of_the_texts(server: OpenAIServer, reranker: LiteLLMReranker) -> None:
    scores = await reranker.rerank("Who runs the mill?", TEXTS, bill := UsageMeter())
    assert scores == [0.25, 0.75, 0.0]
    (usage,) = bill.items
    assert usage.purpose == "rerank"
    assert server.requests[0].body["query"] == "Who runs the mill?"


async def test_bad_rows_leave_their_texts_without_a_score(server: OpenAIServer, reranker: LiteLLMReranker) -> None:
    server.scores = [{"index": 2, "relevance_score": 0.5}, {"index": 9, "relevance_score": 0.9}]
    assert await reranker.rerank("Who?", TEXTS, UsageMeter()) == [None, None, 0.5]


async def test_no_texts_are_no_call(server: OpenAIServer, reranker: LiteLLMReranker) -> None:
    assert await reranker.rerank("Who?", [], UsageMeter()) == []
    assert not server.requests


async def test_errors_are_typed(server: OpenAIServer, reranker: LiteLLMReranker) -> None:
    server.faults.append(Fault(status=401))
    with pytest.raises(InvalidApiKey):
        await reranker.rerank("Who?", TEXTS, UsageMeter())
    server.faults.append(Fault(status=503))
    assert len(await reranker.rerank("Who?", TEXTS, UsageMeter())) == 3
    assert len(server.requests) == 3


async def test_a_long_text_is_scored_in_pieces_and_top_n_counts_texts(server: OpenAIServer, calls: ModelClient) -> None:
    model = ModelConfig("cohere/stub", base(server), "key")
    reranker = LiteLLMReranker(model, calls, O200kTokenizer(), max_tokens=40, top_n=1)
    long = "word " * 100 + "Ada runs the mill"
    assert await reranker.rerank("Who runs the mill", [long, "the river"], UsageMeter()) == [0.75, None]
    assert len(server.requests[0].body["documents"]) > 3
