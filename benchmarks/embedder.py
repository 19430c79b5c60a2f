"""Texts per second of the built-in embedder: `python -m benchmarks.embedder --data DATA [--passages 100]`.

The texts are those that an ingest of MuSiQue passages embeds: chunks, entities, relations. They are embedded by the
embedder as the engine calls it, by onnxruntime alone with the exact graph (the fastest of several sizes of batches of
texts of similar length, tokenized beforehand), and the same with the graph of integers; then by the multilingual
embedder, and by its graph of 4-bit blocks, with which its vectors are compared for texts of several languages. Seconds
are of the processor, in alternating runs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.hashing import HashingEmbedder
from benchmarks.plumbing import temporary_folder
from benchmarks.replay_language import ReplayLanguage, StoredEmbedder, parse_reading
from engine import Document, Engine, Passage
from engine.llm.e5.embedder import load_e5
from engine.llm.e5.weights import find_weights
from engine.llm.minilm.embedder import MiniLMEmbedder, MiniLMModel, load_minilm
from engine.llm.minilm.local_embedder import LocalModel
from engine.llm.minilm.weights import find_weights_dir
from engine.usage import UsageMeter
from scripts.minilm.e5_graphs import open_blocks

BATCHES = ((16, 512), (64, 512), (64, 1024), (64, 2048))  # texts and padded word pieces in a run
CALL = 512  # texts in a call of the engine
RUNS = 2
COMPARED_TEXTS, COMPARED_CHARACTERS = 25, 500  # of each language, and of each text


async def collect_texts(data: Path, count: int, home: Path) -> list[str]:
    """The distinct texts that an ingest of the first passages embeds."""
    rows = [json.loads(line) for line in (data / "openie.jsonl").read_text(encoding="utf-8").splitlines()][:count]
    texts = [f"{row['title']}\n{row['text']}" for row in rows]
    stored = {
        text: parse_reading(row["text"], row["entities"], row["triples"]) for text, row in zip(texts, rows, strict=True)
    }
    embedder = StoredEmbedder(HashingEmbedder(), home / "unsaved")
    async with Engine.open(home / "data", language=ReplayLanguage(stored), embedder=embedder) as engine:
        for row, text in zip(rows, texts, strict=True):
            await engine.documents.add(Document(row["id"], "musique", "musique", row["title"], (Passage("1", text),)))
        await engine.wait_until_indexed()
    return sorted(embedder.vectors)


def run_batches(
    model: MiniLMModel, rows: Sequence[Sequence[int]], most: int, pieces: int, *, exact: bool
) -> np.ndarray:
    """Vectors of all rows by onnxruntime alone, in batches of similar length."""
    vectors = np.zeros((len(rows), MiniLMEmbedder.dim), dtype=np.float32)
    order = sorted(range(len(rows)), key=lambda index: len(rows[index]))
    while order:
        longest = len(rows[order[-1]])
        batch = order[-max(1, min(most, pieces // longest)) :]
        del order[-len(batch) :]
        ids = np.array([[*rows[index], *[0] * (longest - len(rows[index]))] for index in batch], dtype=np.int64)
        mask = np.array(
            [[1] * len(rows[index]) + [0] * (longest - len(rows[index])) for index in batch], dtype=np.int64
        )
        session = model.exact if exact else model.fast
        vectors[batch] = session.run(["vectors"], {"ids": ids, "mask": mask})[0]
    return vectors


async def measure(texts: Sequence[str]) -> None:
    """Print texts per processor second of each way, and how close the vectors are."""
    embedder = await MiniLMEmbedder.open()
    model = embedder.load_model()
    rows = model.tokenize(texts)
    print(f"{len(texts)} texts, {sum(map(len, rows))} word pieces; texts per second of the processor:")
    exact = fast = np.empty(0)
    for _ in range(RUNS):
        for most, pieces in BATCHES:
            since = time.process_time()
            exact = run_batches(model, rows, most, pieces, exact=True)
            exact_rate, since = len(texts) / (time.process_time() - since), time.process_time()
            run_batches(model, rows, most, pieces, exact=False)
            rate = len(texts) / (time.process_time() - since)
            print(f"  runs of at most {most} texts, {pieces} pieces: exact {exact_rate:.0f}, integers {rate:.0f}")
        since = time.process_time()
        calls = [await embedder.embed(texts[at : at + CALL], UsageMeter()) for at in range(0, len(texts), CALL)]
        fast = np.concatenate(calls)
        print(f"  the embedder: {len(texts) / (time.process_time() - since):.0f}", flush=True)
    cosines = np.sum(exact * fast, axis=1)
    print(f"cosine to the exact vectors: mean {cosines.mean():.5f}, least {cosines.min():.5f},", end=" ")
    print(f"{np.mean(cosines < 0.999):.2%} below 0.999")
    embedder.close()


def measure_multilingual(texts: Sequence[str], corpora: Sequence[Path]) -> None:
    """Print texts per processor second of three models with one thread, and how close those of two graphs are."""
    file = find_weights()
    english, fast, blocks = load_minilm(find_weights_dir(), 1), load_e5(file, 1), open_blocks(file)
    models: dict[str, LocalModel] = {"english": english, "multilingual": fast, "blocks of 4 bits": blocks}
    for _ in range(RUNS + 1):
        rates = [f"{name} {len(texts) / embed_alone(model, texts)[1]:.0f}" for name, model in models.items()]
        print("texts per second of the processor:", ", ".join(rates), flush=True)
    for corpus in corpora:
        lines = corpus.read_text(encoding="utf-8").splitlines()[:COMPARED_TEXTS]
        read = [json.loads(line)["text"][:COMPARED_CHARACTERS] for line in lines]
        cosines = np.sum(embed_alone(fast, read)[0] * embed_alone(blocks, read)[0], axis=1)
        print(f"{corpus.parent.name}: cosine mean {cosines.mean():.4f}, least {cosines.min():.4f}", flush=True)


def embed_alone(model: LocalModel, texts: Sequence[str]) -> tuple[np.ndarray, float]:
    """The vectors, and seconds of the processor."""
    since = time.process_time()
    rows = model.tokenize(texts)
    vectors = np.zeros((len(texts), MiniLMEmbedder.dim), np.float32)
    for batch in model.batch(rows):
        vectors[batch] = model.run([rows[index] for index in batch])
    return vectors, time.process_time() - since


async def run(data: Path, passages: int, most: int) -> None:
    with temporary_folder() as folder:
        home = Path(folder)
        texts = await collect_texts(data / "musique_openie", passages, home)
        chosen = np.random.default_rng(0).permutation(len(texts))[:most]
        chosen_texts = [texts[index] for index in chosen]
        await measure(chosen_texts)
        measure_multilingual(chosen_texts, sorted((data / "languages").glob("*/corpus.jsonl")))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--passages", type=int, default=100)
    parser.add_argument("--texts", type=int, default=1000, help="at most this many of the texts, chosen at random")
    given = parser.parse_args()
    asyncio.run(run(given.data, given.passages, given.texts))


if __name__ == "__main__":
    main()
