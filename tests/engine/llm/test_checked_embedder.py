from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from engine.errors import EngineError, InvalidApiKey, ModelPaused, ModelRefused, ModelUnavailable
from engine.llm.checked_embedder import OTHER_UNRELATED_TEXTS, UNRELATED_TEXTS, wrap_embedder
from engine.usage import UsageMeter
from tests.support.engine_fixture import Panic
from tests.support.fake_embedder import HashEmbedder, TwoWayEmbedder


class FaultyEmbedder(HashEmbedder):
    """Spoils the vectors of every call, or raises instead."""

    def __init__(self, fault: BaseException | Callable[[np.ndarray], object]) -> None:
        super().__init__(dim=4)
        self.fault = fault

    async def embed(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        if isinstance(self.fault, BaseException):
            raise self.fault
        return self.fault(await super().embed(texts, meter))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        pytest.param(ModelUnavailable("HTTP 500"), "HTTP 500", id="an error of its own"),
        pytest.param(ConnectionResetError(), "ConnectionResetError", id="a foreign error"),
        pytest.param(Panic(), "Panic", id="a panic"),
        pytest.param(asyncio.CancelledError(), "CancelledError", id="a cancellation that nobody asked for"),
        pytest.param(GeneratorExit(), "GeneratorExit", id="a generator exit"),
        pytest.param(lambda vectors: vectors * np.nan, "not finite", id="NaN"),
        pytest.param(lambda vectors: vectors * 0, "a vector of zeros", id="zeros"),
        pytest.param(lambda vectors: vectors + np.inf, "not finite", id="infinity"),
        pytest.param(lambda vectors: vectors.astype(float) * 1e300, "not finite", id="too large for a float32"),
        pytest.param(lambda vectors: vectors[:-1], "returned 1 vectors for 2", id="one vector too few"),
        pytest.param(lambda vectors: np.vstack([vectors, vectors]), "returned 4 vectors for 2", id="too many vectors"),
        pytest.param(lambda vectors: vectors[:, :-1], "3 dimensions, not 4", id="another dimension"),
        pytest.param(lambda vectors: vectors[0], "returned 4 vectors for 2", id="a single row"),
        pytest.param(lambda _: 7, "returned 0 vectors for 2", id="a number"),
    ],
)
async def test_whatever_an_embedder_does_wrong_is_named(
    fault: BaseException | Callable[[np.ndarray], object], sentence: str
) -> None:
    with pytest.raises(ModelUnavailable, match=sentence):
        await wrap_embedder(FaultyEmbedder(fault)).embed(["one", "two"], UsageMeter())


@pytest.mark.parametrize(
    ("error", "is_down", "at_fault"),
    [
        pytest.param(ModelRefused("no"), True, True, id="a refusal"),
        pytest.param(InvalidApiKey("no"), False, False, id="a wrong key"),
        pytest.param(ModelPaused("away"), False, False, id="a call that was not sent"),
        pytest.param(ModelUnavailable("away"), False, True, id="another text is embedded"),
        pytest.param(ModelUnavailable("away"), True, False, id="no text is embedded"),
    ],
)
async def test_a_text_is_at_fault_if_its_error_says_so_or_another_text_is_embedded(
    error: EngineError, *, is_down: bool, at_fault: bool
) -> None:
    embedder = FaultyEmbedder(OSError()) if is_down else HashEmbedder()
    assert await wrap_embedder(embedder).is_text_at_fault(error, UsageMeter()) is at_fault


async def test_questions_are_embedded_in_their_own_way_if_there_is_one() -> None:
    two_way, plain = TwoWayEmbedder(), HashEmbedder()
    [question] = await wrap_embedder(two_way).embed_queries(["boat"], UsageMeter())
    [expected, text] = await plain.embed(["asked boat", "boat"], UsageMeter())
    assert np.array_equal(question, expected)
    assert np.array_equal(await wrap_embedder(plain).embed_queries(["boat"], UsageMeter()), [text])
    assert (await wrap_embedder(two_way).embed_queries([], UsageMeter())).shape == (0, two_way.dim)


async def test_whatever_is_wrong_with_the_vector_of_a_question_is_named() -> None:
    class Spoiled(TwoWayEmbedder):
        async def embed_queries(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
            return (await super().embed_queries(texts, meter)) * np.nan

    with pytest.raises(ModelUnavailable, match="not finite"):
        await wrap_embedder(Spoiled()).embed_queries(["boat"], UsageMeter())


async def test_unrelated_texts_are_compared_as_questions_with_texts() -> None:
    embedder = TwoWayEmbedder()
    scale = await wrap_embedder(embedder).measure_scale(UsageMeter())
    assert len(embedder.asked) == len(UNRELATED_TEXTS)
    queries = await embedder.embed_queries(UNRELATED_TEXTS, meter := UsageMeter())
    texts = await embedder.embed([*UNRELATED_TEXTS, *OTHER_UNRELATED_TEXTS], meter)
    products = queries @ texts.T
    assert scale.unrelated == pytest.approx((products.sum() - np.trace(products)) / (products.size - len(products)))


async def test_the_scale_is_measured_once_and_can_be_recalled() -> None:
    embedder = wrap_embedder(inner := HashEmbedder())
    measured = await embedder.measure_scale(UsageMeter())
    assert await embedder.measure_scale(UsageMeter()) == measured
    assert len(inner.batches) == 1
    other = wrap_embedder(unused := HashEmbedder())
    other.recall_scale(measured)
    assert await other.measure_scale(UsageMeter()) == measured
    assert unused.batches == []


async def test_the_scale_of_words_is_measured_with_the_first_words() -> None:
    embedder = wrap_embedder(inner := HashEmbedder())
    vectors, measured = await embedder.embed_words(["oar", "mast"], UsageMeter())
    again, same = await embedder.embed_words(["oar", "mast"], UsageMeter())
    assert len(inner.batches) == 2
    assert same == measured
    assert len(vectors) == 2
    assert (vectors == again).all()
