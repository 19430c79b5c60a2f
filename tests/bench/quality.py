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
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, Any, get_args

from engine import Document, Engine, EngineOptions, Passage, Question, Scope
from engine.llm.minilm.embedder import MiniLMEmbedder
from engine.models import RetrievalMode
from engine.options import RankingOptions
from tests.bench.replay_language import CachedEmbedder, ReplayLanguage, parse_reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from engine.models import Context

Spent = defaultdict[str, list[float]]

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


@dataclass(slots=True)
class RecallTable:
    """Recall by row and cut, in percent."""

    cuts: Sequence[int]
    rows: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, found: Sequence[tuple[BenchQuestion, list[str]]]) -> None:
        """A row of rankings: of each question, the documents in order."""
        self.rows[name] = [
            100 * mean(compute_recall(asked, order[:cut]) for asked, order in found) for cut in self.cuts
        ]

    def print(self, peers: Mapping[str, Sequence[float]], title: str) -> None:
        """Our rows, then the others'."""
        print(f"\n{title:38}" + "".join(f"{f'R@{cut}':>8}" for cut in self.cuts))
        for name, values in [*self.rows.items(), *peers.items()]:
            print(f"{name:38}" + "".join(f"{value:8.1f}" for value in values))


def compute_recall(asked: BenchQuestion, first: Iterable[str]) -> float:
    """The share of the gold documents that is among the first ones."""
    return len(asked.gold & set(first)) / len(asked.gold)


def load_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def ranked_documents(context: Context) -> list[str]:
    """The documents of the context's sources, in order, each once."""
    return list(dict.fromkeys(source.document for source in context.sources))


async def run_questions(
    engine: Engine, asked: Sequence[BenchQuestion], mode: RetrievalMode, wanted: int
) -> list[tuple[BenchQuestion, list[str]]]:
    found = []
    for each in asked:
        scope = Scope(frozenset({each.space}), frozenset())
        question = Question(each.text, scope, mode=mode, chunk_top_k=wanted, max_total_tokens=60_000)
        found.append((each, ranked_documents(await engine.retrieve(question))))
    return found


async def ingest(engine: Engine, documents: Sequence[Document]) -> list[float]:
    """Documents a second from add to settled, by slices."""
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


def load_messages(data: Path) -> dict[str, Document]:
    """One document a message, in the space of its chat."""
    documents = {}
    for row in load_rows(data / "messages.jsonl"):
        shown = f" [{row['image_caption']}]" if row["image_caption"] else ""
        passage = Passage("1", f"{row['user']}: {row['text']}{shown}", author=row["user"])
        documents[row["id"]] = Document(row["id"], row["conv"], row["conv"], row["session_time"], (passage,))
    return documents


async def run_musique(data: Path, home: Path, embedder: CachedEmbedder, options: EngineOptions) -> None:
    documents = load_passages(data)
    stored = {
        documents[row["id"]].passages[0].text: parse_reading(row["text"], row["entities"], row["triples"])
        for row in load_rows(data / "openie.jsonl")
    }
    asked = [
        BenchQuestion(row["question"], "musique", frozenset(row["gold"])) for row in load_rows(data / "queries.jsonl")
    ]
    async with Engine.open(home, language=ReplayLanguage(stored), embedder=embedder, options=options) as engine:
        fresh, before = (
            not await engine.list_documents(build_full_scope(documents)),
            (embedder.computed_count, embedder.requested_count),
        )
        rates = await ingest(engine, list(documents.values()))
        made, wanted = embedder.computed_count - before[0], embedder.requested_count - before[1]
        table, spent = RecallTable(MUSIQUE_CUTS), Spent(list)
        for mode in MODES:
            table.add(f"{mode}", await run_timed(engine, asked, mode, spent))
        embedder.save()
    table.print(PEERS, f"MuSiQue, {len(asked)} questions")
    RecallTable(MUSIQUE_CUTS).print(PEERS_BOTH, "of 100 questions, these among them")
    print("\nmilliseconds a question, p50:", ", ".join(f"{mode} {median(times):.0f}" for mode, times in spent.items()))
    if fresh:
        print(f"documents a second by slices of {SLICE}:", ", ".join(f"{rate:.1f}" for rate in rates), end=" ")
        print(f"({wanted - made} of {wanted} vectors kept from an earlier run)")
        print("LightRAG 1.5.7, vectors kept:", ", ".join(map(str, PEER_RATES)))


async def run_timed(
    engine: Engine, asked: Sequence[BenchQuestion], mode: RetrievalMode, spent: Spent
) -> list[tuple[BenchQuestion, list[str]]]:
    """The rankings of a mode, question by question, with the milliseconds that each took."""
    found = []
    for each in asked:
        began = time.perf_counter()
        found += await run_questions(engine, [each], mode, 20)
        spent[mode].append((time.perf_counter() - began) * 1000)
    return found


async def run_locomo(data: Path, home: Path, embedder: CachedEmbedder, options: EngineOptions) -> None:
    documents = load_messages(data)
    asked = [
        BenchQuestion(row["question"], row["conv"], frozenset(row["gold"]))
        for row in load_rows(data / "queries.jsonl")
        if row["gold"]
    ]
    table = RecallTable(LOCOMO_CUTS)
    for name, weights in WEIGHTS.items():
        weighted = options if weights is None else EngineOptions(ranking=RankingOptions(*weights))
        async with Engine.open(home, language=ReplayLanguage({}), embedder=embedder, options=weighted) as engine:
            await ingest(engine, list(documents.values()))
            table.add(f"naive, {name}", await run_questions(engine, asked, "naive", max(LOCOMO_CUTS)))
    embedder.save()
    table.print(LOCOMO_PEERS, f"LoCoMo messages, {len(asked)} questions")


def build_full_scope(documents: Mapping[str, Document]) -> Scope:
    return Scope(frozenset(document.space for document in documents.values()), frozenset())


async def measure(arguments: argparse.Namespace) -> None:
    embedder = CachedEmbedder(await MiniLMEmbedder.open(BENCH / "models"), BENCH / "quality-vectors.npz")
    options = EngineOptions(ranking=RankingOptions(arguments.vectors, arguments.words))
    wanted = {MUSIQUE: run_musique} | ({LOCOMO: run_locomo} if arguments.locomo else {})
    for name, run in wanted.items():
        home = Path(arguments.home or tempfile.mkdtemp(prefix="quality-")) / name
        try:
            await run(arguments.data / name, home, embedder, options)
        finally:
            if not arguments.home:
                shutil.rmtree(home.parent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help=f"the folder that holds {MUSIQUE} (and {LOCOMO})")
    parser.add_argument("--home", help="keep what was ingested here, and use it again")
    parser.add_argument("--locomo", action="store_true", help="the second table, too")
    parser.add_argument(
        "--vectors", type=float, default=RankingOptions().vector_weight, help="weight of the vector search"
    )
    parser.add_argument(
        "--words", type=float, default=RankingOptions().fulltext_weight, help="weight of the full-text search"
    )
    arguments = parser.parse_args()
    if arguments.data is None or not (arguments.data / MUSIQUE).is_dir():
        print(f"skipped: no data; give the folder that holds {MUSIQUE}, as DATA=…")
        sys.exit(0)
    asyncio.run(measure(arguments))


if __name__ == "__main__":
    main()
