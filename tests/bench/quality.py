"""How much of what a question needs is recalled: `python -m tests.bench.quality --data DATA [--locomo]`.

MuSiQue: 50 questions of several hops over 923 passages, each with what GPT-3.5 once extracted from it (replayed), and
MiniLMEmbedder vectors: the share of gold passages among the first 2, 5 and 10 documents of the context, by mode.
LoCoMo: 999 questions about five long chats, every message a document: the share of evidence messages among the first
5, 10, 25 and 50 sources, in naive mode, by vectors, by words, and by both. The data is read where it lies.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any, get_args

from engine import Document, Engine, EngineOptions, Passage, Question, Scope
from engine.llm.minilm.embedder import MiniLMEmbedder
from engine.models import RetrievalMode
from engine.options import RankingOptions
from tests.bench.plumbing import temporary_folder
from tests.bench.replay_language import ReplayLanguage, StoredEmbedder, parse_reading

BENCH = Path(".bench")
SLICE = 200
MODES: tuple[RetrievalMode, ...] = tuple(mode for mode in get_args(RetrievalMode) if mode != "bypass")
MUSIQUE, LOCOMO = "musique_openie", "locomo"
MUSIQUE_CUTS, LOCOMO_CUTS = (2, 5, 10), (5, 10, 25, 50)
WEIGHTS = {"vectors alone": (1.0, 0.0), "words alone": (0.0, 1.0), "both, equal": (1.0, 1.0), "both, as set": None}

# Measured on the same questions, vectors and stored extraction.
PEERS = {
    "LightRAG 1.5.7 naive, mix": (47.3, 67.0, 72.5),
    "LightRAG 1.5.7 local": (48.3, 67.2, 74.2),
}
# Measured on these 50 and 50 others: for the order of size.
PEERS_BOTH = {
    "BM25": (42.4, 50.9, 59.3),
    "MiniLMEmbedder": (47.7, 63.2, 72.7),
    "RRF of both, equal weights": (44.8, 59.3, 68.7),
    "PageRank over the triples": (45.1, 66.6, 81.6),
}
PEER_RATES = (4.9, 1.7, 1.07, 0.76, 0.63)
LOCOMO_PEERS = {
    "BM25": (49.9, 56.4, 66.8, 71.6),
    "MiniLMEmbedder": (39.4, 48.7, 62.1, 72.8),
    "RRF of both, equal weights": (48.9, 58.1, 67.7, 80.4),
}


@dataclass(frozen=True, slots=True)
class BenchQuestion:
    """A question, the space it is asked of, and the documents that hold its answer."""

    text: str
    space: str
    gold: frozenset[str]


def print_table(title: str, cuts: Sequence[int], rows: Mapping[str, Sequence[float]]) -> None:
    """Recall in percent by row and cut."""
    print(f"\n{title:38}" + "".join(f"{f'R@{cut}':>8}" for cut in cuts))
    for name, values in rows.items():
        print(f"{name:38}" + "".join(f"{value:8.1f}" for value in values))


def load_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def measure_recall(
    engine: Engine, questions: Sequence[BenchQuestion], mode: RetrievalMode, cuts: Sequence[int]
) -> tuple[list[float], list[float]]:
    """Percent of gold documents at each cut, and milliseconds of each question."""
    recalls, times = list[list[float]](), list[float]()
    for each in questions:
        scope, wanted = Scope(frozenset({each.space}), frozenset()), max(20, *cuts)
        question = Question(each.text, scope, mode=mode, chunk_top_k=wanted, max_total_tokens=60_000)
        began = time.perf_counter()
        context = await engine.retrieve(question)
        times.append((time.perf_counter() - began) * 1000)
        ranking = list(dict.fromkeys(source.document for source in context.sources))
        recalls.append([100 * len(each.gold & set(ranking[:cut])) / len(each.gold) for cut in cuts])
    return [mean(column) for column in zip(*recalls, strict=True)], times


async def ingest(engine: Engine, documents: Sequence[Document]) -> list[float]:
    """Documents a second from add to indexed, by slices."""
    rates = []
    for start in range(0, len(documents), SLICE):
        some, began = documents[start : start + SLICE], time.perf_counter()
        for document in some:
            await engine.add(document)
        await engine.wait_until_indexed()
        rates.append(len(some) / (time.perf_counter() - began))
    return rates


def load_passages(data: Path) -> dict[str, Document]:
    """One document a passage: its title, then its text, as it was extracted from."""
    documents = {}
    for row in load_rows(data / "corpus.jsonl"):
        passage = Passage("1", f"{row['title']}\n{row['text']}")
        documents[row["id"]] = Document(row["id"], "musique", "musique", row["title"], (passage,))
    return documents


def load_messages(data: Path) -> list[Document]:
    """One document a message, in the space of its chat."""
    documents = []
    for row in load_rows(data / "messages.jsonl"):
        caption = f" [{row['image_caption']}]" if row["image_caption"] else ""
        passage = Passage("1", f"{row['user']}: {row['text']}{caption}", author=row["user"])
        documents.append(Document(row["id"], row["conv"], row["conv"], row["session_time"], (passage,)))
    return documents


async def run_musique(data: Path, home: Path, embedder: StoredEmbedder, options: EngineOptions) -> None:
    documents = load_passages(data)
    stored = {
        documents[row["id"]].passages[0].text: parse_reading(row["text"], row["entities"], row["triples"])
        for row in load_rows(data / "openie.jsonl")
    }
    rows = load_rows(data / "queries.jsonl")
    questions = [BenchQuestion(row["question"], "musique", frozenset(row["gold"])) for row in rows]
    recalls: dict[str, Sequence[float]] = {}
    times: dict[str, list[float]] = {}
    async with Engine.open(home, language=ReplayLanguage(stored), embedder=embedder, options=options) as engine:
        is_new = not await engine.list_documents(Scope.of("musique"))
        before = embedder.computed_count, embedder.requested_count
        rates = await ingest(engine, list(documents.values()))
        computed, requested = embedder.computed_count - before[0], embedder.requested_count - before[1]
        for mode in MODES:
            recalls[mode], times[mode] = await measure_recall(engine, questions, mode, MUSIQUE_CUTS)
        embedder.save()
    print_table(f"MuSiQue, {len(questions)} questions", MUSIQUE_CUTS, recalls | PEERS)
    print_table("of 100 questions, these among them", MUSIQUE_CUTS, PEERS_BOTH)
    print("\nmilliseconds a question, p50:", ", ".join(f"{mode} {median(spent):.0f}" for mode, spent in times.items()))
    if is_new:
        print(f"documents a second by slices of {SLICE}:", ", ".join(f"{rate:.1f}" for rate in rates), end=" ")
        print(f"({requested - computed} of {requested} vectors kept from an earlier run)")
        print("LightRAG 1.5.7, vectors kept:", ", ".join(map(str, PEER_RATES)))


async def run_locomo(data: Path, home: Path, embedder: StoredEmbedder, options: EngineOptions) -> None:
    documents, rows = load_messages(data), load_rows(data / "queries.jsonl")
    questions = [BenchQuestion(row["question"], row["conv"], frozenset(row["gold"])) for row in rows if row["gold"]]
    recalls: dict[str, Sequence[float]] = {}
    for name, weights in WEIGHTS.items():
        weighted = options if weights is None else EngineOptions(ranking=RankingOptions(*weights))
        async with Engine.open(home, language=ReplayLanguage({}), embedder=embedder, options=weighted) as engine:
            await ingest(engine, documents)
            recalls[f"naive, {name}"], _ = await measure_recall(engine, questions, "naive", LOCOMO_CUTS)
    embedder.save()
    print_table(f"LoCoMo messages, {len(questions)} questions", LOCOMO_CUTS, recalls | LOCOMO_PEERS)


async def measure(arguments: argparse.Namespace) -> None:
    embedder = StoredEmbedder(await MiniLMEmbedder.open(BENCH / "models"), BENCH / "quality-vectors.npz")
    options = EngineOptions(ranking=RankingOptions(arguments.vectors, arguments.words))
    with temporary_folder() as folder:
        for name, run in {MUSIQUE: run_musique, **({LOCOMO: run_locomo} if arguments.locomo else {})}.items():
            await run(arguments.data / name, Path(arguments.home or folder) / name, embedder, options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help=f"the folder that holds {MUSIQUE} (and {LOCOMO})")
    parser.add_argument("--home", help="keep what was ingested here, and use it again")
    parser.add_argument("--locomo", action="store_true", help="the second table, too")
    for name, default in (("vectors", RankingOptions().vector_weight), ("words", RankingOptions().fulltext_weight)):
        parser.add_argument(f"--{name}", type=float, default=default, help=f"weight of the search by {name}")
    arguments = parser.parse_args()
    if arguments.data is None or not (arguments.data / MUSIQUE).is_dir():
        print(f"skipped: no data; give the folder that holds {MUSIQUE}, as DATA=…")
        sys.exit(0)
    asyncio.run(measure(arguments))


if __name__ == "__main__":
    main()
