"""How much of what a question needs is retrieved: `python -m benchmarks.quality --data DATA [--sets NAME …]`.

For every data set and mode, and for plain rankings by words (BM25), vectors, and both (reciprocal rank fusion): the
share of gold documents or messages among the first results, and milliseconds. The intervals compare with naive, on
the half of the questions that played no part in choosing the numbers of the ranking. Vectors: MiniLM, kept between
runs. Extraction: a stored one for MuSiQue, else the embedded skill's. The data is read in place. `--corpus FILE` adds
the passages of a whole corpus to those of the sets; `--no-facts` takes none from the texts, for mode naive.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, median
from typing import get_args

from benchmarks.plumbing import temporary_folder
from benchmarks.quality.across_languages import FactlessModel
from benchmarks.quality.scores import has_all, ndcg_at, paired_interval, recall_at
from benchmarks.quality.sets import SETS, BenchQuestion, BenchSet, add_passages, load_set, missing_file
from benchmarks.replay_language import StoredEmbedder
from engine import Document, Engine, EngineOptions, Question, Scope
from engine.llm.minilm.embedder import MiniLMEmbedder
from engine.models import RetrievalMode
from engine.options import RankingOptions
from engine.retrieval.ranking.fusion import reciprocal_rank_fusion

BENCH = Path(".bench")
MODES: tuple[RetrievalMode, ...] = tuple(mode for mode in get_args(RetrievalMode) if mode != "bypass")
WORDS, VECTORS, FUSED = "BM25", "vectors", "BM25 and vectors (RRF)"
PLAIN = {
    WORDS: RankingOptions(vector_weight=0.0, neighbor_share=0.0),
    VECTORS: RankingOptions(fulltext_weight=0.0, neighbor_share=0.0),
}
RRF_DAMPING = 60
MAX_TOKENS = 60_000  # of a context: enough for all results

Rankings = Mapping[str, Sequence[str]]  # keys of results by question, the best first


@dataclass(frozen=True, slots=True)
class Run:
    """The rankings of one method, and the milliseconds of each question."""

    rankings: Rankings
    milliseconds: Sequence[float] = ()


async def ingest(engine: Engine, documents: Sequence[Document]) -> float:
    """Ingest the documents, and return the seconds that it took."""
    began = time.perf_counter()
    for document in documents:
        await engine.documents.add(document)
    await engine.wait_until_indexed()
    return time.perf_counter() - began


async def retrieve(engine: Engine, data: BenchSet, mode: RetrievalMode) -> Run:
    """The rankings of one mode."""
    rankings, times = dict[str, Sequence[str]](), list[float]()
    wanted = max(20, *data.cuts)
    for each in data.questions:
        scope = Scope(frozenset({each.space}), frozenset())
        question = Question(each.text, scope, mode=mode, chunk_top_k=wanted, max_total_tokens=MAX_TOKENS)
        began = time.perf_counter()
        context = await engine.retrieve(question)
        times.append((time.perf_counter() - began) * 1000)
        keys = [source.passage if data.by_passage else source.document for source in context.sources]
        rankings[each.id] = list(dict.fromkeys(keys))
    return Run(rankings, times)


async def run_set(data: BenchSet, home: Path, embedder: StoredEmbedder, modes: Sequence[RetrievalMode]) -> None:
    """Measure one data set and print its table."""
    runs: dict[str, Run] = {}
    for name, ranking in PLAIN.items():
        async with Engine.open(
            home, language=data.language, embedder=embedder, options=EngineOptions(ranking=ranking)
        ) as engine:
            await ingest(engine, data.documents)
            runs[name] = replace(await retrieve(engine, data, "naive"), milliseconds=())
    runs[FUSED] = Run(
        {
            question.id: reciprocal_rank_fusion(
                (1.0, runs[WORDS].rankings[question.id]),
                (1.0, runs[VECTORS].rankings[question.id]),
                damping=RRF_DAMPING,
            )
            for question in data.questions
        }
    )
    async with Engine.open(home, language=data.language, embedder=embedder) as engine:
        for mode in modes:
            runs[mode] = await retrieve(engine, data, mode)
    embedder.save()
    print_table(data, runs)


def print_table(data: BenchSet, runs: Mapping[str, Run]) -> None:
    """Scores of all questions and of the reported half, with intervals against naive."""
    reported = [question for question in data.questions if question.is_reported]
    measures = [f"R@{cut}" for cut in data.cuts] + [f"all@{data.all_at}"] * bool(data.all_at)
    measures += [f"nDCG@{data.ndcg_at}"] * bool(data.ndcg_at)
    print(f"\n{data.name}: {len(data.questions)} questions, {len(reported)} of them reported")
    header = [f"{'':24}", *(f"{name:>7}" for name in measures), "  |", *(f"{name:>7}" for name in measures)]
    print(*header, f"   {measures[0]} and {measures[-1]} against naive [95 %]      ms")
    baseline = [_score(question, runs["naive"], data) for question in reported] if "naive" in runs else []
    for name, run in runs.items():
        every = [_score(question, run, data) for question in data.questions]
        half = [_score(question, run, data) for question in reported]
        cells = [*(f"{mean(column):7.1f}" for column in zip(*every, strict=True)), "  |"]
        cells += [f"{mean(column):7.1f}" for column in zip(*half, strict=True)]
        for at in (0, -1) if baseline else ():
            difference = paired_interval([row[at] for row in half], [row[at] for row in baseline])
            cells.append("{:+6.1f} [{:+.1f}, {:+.1f}]".format(*difference))
        print(f"{name:24}", *cells, f"{median(run.milliseconds):6.0f}" if run.milliseconds else "")


def _score(question: BenchQuestion, run: Run, data: BenchSet) -> list[float]:
    ranking = run.rankings[question.id]
    scores = [recall_at(ranking, question.gold, cut) for cut in data.cuts]
    scores += [has_all(ranking, question.gold, data.all_at)] * bool(data.all_at)
    return [*scores, ndcg_at(ranking, question.gold, data.ndcg_at)] if data.ndcg_at else scores


def _limit(data: BenchSet, limit: int) -> BenchSet:
    """At most so many questions, evenly spread."""
    step = max(1, len(data.questions) // limit) if limit else 1
    return replace(data, questions=data.questions[::step])


async def measure(arguments: argparse.Namespace) -> None:
    embedder = StoredEmbedder(await MiniLMEmbedder.open(), BENCH / "quality-vectors.npz")
    with temporary_folder() as folder:
        for name in arguments.sets:
            if missing := missing_file(arguments.data, name):
                print(f"\n{name}: skipped, because {missing} does not exist")
                continue
            data = _limit(load_set(arguments.data, name), arguments.limit)
            data = replace(data, language=None) if arguments.rules else data
            data = replace(data, language=FactlessModel(embedder)) if arguments.no_facts else data
            data = add_passages(data, arguments.corpus) if arguments.corpus else data
            await run_set(data, Path(arguments.home or folder) / name, embedder, arguments.modes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder that holds the data sets")
    parser.add_argument("--home", help="keep the data directories here, and use them again")
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    parser.add_argument("--limit", type=int, default=300, help="questions of a set, at most about; 0 for all")
    parser.add_argument("--corpus", type=Path, help="a file of passages to add to each set")
    parser.add_argument("--no-facts", action="store_true", help="no facts; mode naive alone needs none")
    parser.add_argument("--rules", action="store_true", help="facts by rules, also where a model's are stored")
    arguments = parser.parse_args()
    if arguments.data is None or not arguments.data.is_dir():
        print("skipped: no data; give the folder that holds the data sets, as DATA=…")
        sys.exit(0)
    asyncio.run(measure(arguments))


if __name__ == "__main__":
    main()
