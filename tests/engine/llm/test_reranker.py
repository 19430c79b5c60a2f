from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidApiKey
from engine.llm.config import ModelConfig
from engine.llm.reranker import LiteLLMReranker, aggregate_scores, parse_scores, split_documents, split_into_windows
from engine.text.tokenizer import O200kTokenizer
from engine.usage import UsageMeter
from tests.engine.llm.stub_provider import StubProvider
from tests.support.openai_server import Fault
from tests.support.tokenizers import CharacterTokenizer

PROVIDERS = pytest.mark.parametrize("provider", ["jina_ai/stub", "cohere/stub", "hosted_vllm/stub"])
TEXTS = ["The river is long.", "Ada runs the mill.", "Nothing at all."]

CHARACTERS = CharacterTokenizer()


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
    stub.fail(Fault(status=503))
    assert len(await make_reranker(stub, provider).rerank("Who?", TEXTS, UsageMeter())) == 3
    stub.fail(Fault(status=401))
    with pytest.raises(InvalidApiKey):
        await make_reranker(stub, provider).rerank("Who?", TEXTS, UsageMeter())
    assert stub.request_count == 3


async def test_a_long_text_is_scored_in_pieces_and_top_n_counts_texts(stub: StubProvider) -> None:
    texts = ["word " * 100 + "Ada runs the mill", "the river"]
    reranker = make_reranker(stub, max_tokens=40, top_n=1)
    assert await reranker.rerank("Who runs the mill", texts, UsageMeter()) == [0.75, None]
    assert len(stub.server.requests[0].body["documents"]) > 3


@pytest.mark.parametrize(
    ("scores", "owners", "options", "ranking"),
    [
        pytest.param([0.5, 0.8, 0.6, 0.7, 0.4], [0, 0, 0, 1, 1], {}, [(0, 0.8), (1, 0.7)], id="the best piece counts"),
        pytest.param([0.6, 0.8, 0.4], [0, 0, 1], {"strategy": "max"}, [(0, 0.8), (1, 0.4)], id="max"),
        pytest.param([0.6, 0.8, 0.4], [0, 0, 1], {"strategy": "mean"}, [(0, 0.7), (1, 0.4)], id="mean"),
        pytest.param([0.6, 0.8, 0.4], [0, 0, 1], {"strategy": "first"}, [(0, 0.6), (1, 0.4)], id="first"),
        pytest.param([0.6, 0.8, 0.4], [0, 0, 1], {"strategy": "?"}, [(0, 0.8), (1, 0.4)], id="unknown means max"),
        pytest.param([0.1], [0, 1], {}, [(0, 0.1)], id="documents without a score are absent"),
        pytest.param([], [], {}, [], id="nothing"),
        pytest.param([0.9, 0.5, 0.4, 0.3], [7, 1, -1], {}, [(1, 0.5)], id="pieces of no document are ignored"),
        pytest.param([0.9, 0.8, 0.7, 0.6, 0.1], [0, 0, 0, 1, 2], {"top_n": 2}, [(0, 0.9), (1, 0.6)], id="top_n"),
        pytest.param([0.5, 0.5, 0.5], [2, 0, 1], {}, [(0, 0.5), (1, 0.5), (2, 0.5)], id="ties keep their order"),
    ],
)
def test_scores_of_pieces_become_scores_of_documents(
    scores: list[float], owners: list[int], options: dict[str, Any], ranking: list[tuple[int, float]]
) -> None:
    made = aggregate_scores(dict(enumerate(scores)), owners, 3, **options)
    assert [document for document, _ in made] == [document for document, _ in ranking]
    assert [score for _, score in made] == pytest.approx([score for _, score in ranking])


BAD_ROWS: list[Any] = [None, "x", {"relevance_score": 0.5}, {"index": 1}]
BAD_ROWS += [{"index": index, "relevance_score": 0.5} for index in (True, "1", 2, -1)]
BAD_ROWS += [{"index": 1, "relevance_score": score} for score in ("not-a-score", math.nan, math.inf, None, True)]


@pytest.mark.parametrize("row", BAD_ROWS, ids=repr)
def test_a_bad_row_is_dropped_and_the_others_stay(row: Any) -> None:
    assert parse_scores([row, {"index": 0, "relevance_score": 0.3}], 2) == {0: 0.3}


def test_a_score_written_as_text_is_accepted() -> None:
    assert parse_scores([{"index": 0, "relevance_score": "0.8"}], 1) == {0: 0.8}


def test_long_documents_are_cut_into_overlapping_pieces_of_their_owner() -> None:
    assert split_into_windows("abc", CHARACTERS, 3, 1) == ["abc"]
    pieces = split_documents(["ab", "abcdefgh"], CHARACTERS, 4, 1)
    assert pieces.texts == ("ab", "abcd", "defg", "gh")
    assert pieces.document_indexes == (0, 1, 1, 1)


@pytest.mark.parametrize("size", [0, -3])
def test_a_piece_of_no_token_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match=str(size)):
        split_into_windows("abc", CHARACTERS, size)


@pytest.mark.long
@given(text=st.text(alphabet="abcdef", min_size=1, max_size=80), size=st.integers(1, 20), overlap=st.integers(0, 40))
def test_any_overlap_ends_and_loses_nothing(text: str, size: int, overlap: int) -> None:
    pieces = split_into_windows(text, CHARACTERS, size, overlap)
    shared = overlap if overlap < size else size // 2
    assert all(0 < len(piece) <= size for piece in pieces)
    assert pieces[0] + "".join(piece[shared:] for piece in pieces[1:]) == text
