"""Precision and recall of duplicate names: `python -m benchmarks.duplicates --data DATA --labels FILE`.

The names of MuSiQue's passages (as GPT-3.5 extracted them) and of a review on COVID-19 (a stored LightRAG extraction)
are ingested, each set into its own space. Labels are JSON Lines {"set", "a", "b", "same"} by canonical names; a pair
belongs to the half that the hash of its lower name gives. Constants were chosen on the half "choose" and are reported
for the half "report". A joined pair without a label is counted apart and printed. `--pairs FILE` writes the pairs that
the engine considered, for labeling.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.plumbing import temporary_folder
from benchmarks.replay_language import ReplayLanguage, StoredEmbedder, parse_reading
from engine import Document, Engine, EngineOptions, Extraction, Passage, Scope
from engine.knowledge.duplicates.suggestions import SUGGESTION_SCORE, score_pair
from engine.llm.formats.built_facts import build_mention
from engine.llm.minilm.embedder import MiniLMEmbedder
from engine.projection.duplicate_finder import _build_features
from engine.storage.ledger.records import CandidatePair
from tests.support.fake_embedder import HashEmbedder

BENCH = Path(".bench")
MUSIQUE, COVID = "musique_openie", "lightrag_covid"
EVERYTHING = 1_000_000
NAMES_A_DOCUMENT = 20
SYLLABLES = [a + b + c for a in "bdfgklmnprstvz" for b in "aeiou" for c in ("n", "rt", "ll", "x", "")]

Pair = tuple[str, str, str]


@dataclass(slots=True)
class Score:
    """Counts of labeled pairs: found and the same, found and different, missed."""

    hits: int = 0
    errors: int = 0
    misses: int = 0
    unlabeled: list[Pair] = field(default_factory=list)

    def __str__(self) -> str:
        found, same = self.hits + self.errors, self.hits + self.misses
        precision, recall = (self.hits / max(1, each) for each in (found, same))
        return f"precision {precision:.3f} ({self.hits}/{found})   recall {recall:.3f} ({self.hits}/{same})"


def load_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def load_documents(data: Path) -> dict[str, tuple[Document, Extraction]]:
    """The documents of both sets with what was extracted from them, by text."""
    documents = {}
    for row in load_rows(data / MUSIQUE / "openie.jsonl"):
        passage = Passage("1", f"{row['title']}\n{row['text']}")
        document = Document(row["id"], MUSIQUE, MUSIQUE, row["title"], (passage,))
        documents[passage.text] = document, parse_reading(row["text"], row["entities"], row["triples"])
    for row in load_rows(data / COVID / "openie.jsonl"):
        text = row["text"].replace("\\n", "\n")
        document = Document(row["id"], COVID, COVID, row["id"], (Passage("1", text),))
        mentions = [build_mention(entity["name"], entity["type"], entity["description"]) for entity in row["entities"]]
        links = parse_reading(text, (), [(x["source"], x["keywords"], x["target"]) for x in row["relations"]]).links
        documents[text] = document, Extraction(tuple(filter(None, mentions)), links)
    return documents


def half_of(pair: Pair) -> str:
    return ("choose", "report")[sha256(pair[1].encode()).digest()[0] % 2]


def order(space: str, a: str, b: str) -> Pair:
    return space, min(a, b), max(a, b)


async def load_joins(engine: Engine, scope: Scope) -> set[Pair]:
    """Every two names that lead to the same entity."""
    groups: dict[tuple[str, str], set[str]] = {}
    async for line in engine.maintenance.export("jsonl", scope):
        row = json.loads(line)
        if row["kind"] == "alias":
            groups.setdefault((row["space"], row["target"]), {row["target"]}).add(row["name"])
    return {order(space, a, b) for (space, _), names in groups.items() for a in names for b in names if a < b}


def judge(found: Iterable[Pair], labels: Mapping[Pair, bool], half: str) -> Score:
    """Compare found pairs with the labels of one half."""
    chosen, score = {pair for pair in found if half_of(pair) == half}, Score()
    for pair in sorted(chosen):
        if pair not in labels:
            score.unlabeled.append(pair)
        elif labels[pair]:
            score.hits += 1
        else:
            score.errors += 1
            print("   wrong:", *pair)
    score.misses = sum(same and half_of(pair) == half and pair not in chosen for pair, same in labels.items())
    return score


async def collect(
    data: Path, home: Path, embedder: StoredEmbedder
) -> tuple[set[Pair], list[CandidatePair], dict[str, float]]:
    """The joined pairs, the considered pairs, and seconds."""
    documents, scope = load_documents(data), Scope(frozenset({MUSIQUE, COVID}), frozenset())
    language = ReplayLanguage({text: extraction for text, (_, extraction) in documents.items()})
    options = EngineOptions(suggest_duplicates=False)
    async with Engine.open(home, language=language, embedder=embedder, options=options) as engine:
        began = time.perf_counter()
        for document, _ in documents.values():
            await engine.documents.add(document)
        await engine.wait_until_indexed()
        embedder.save()
        ingested, processor = time.perf_counter(), time.process_time()
        await engine.corrections.find_duplicates(scope)
        compared = time.perf_counter()
        duplicates = engine._ledger.duplicates
        pairs = await duplicates.list_candidates(await engine._ledger.search.resolve_scope(scope), EVERYTHING)
        names = (await engine.maintenance.get_status(scope)).entities
        seconds = {"ingest": ingested - began, "compare": compared - ingested}
        seconds["processor ms a name"] = (time.process_time() - processor) / names * 1000
        return await load_joins(engine, scope), pairs, seconds


async def measure(arguments: argparse.Namespace) -> None:
    embedder = StoredEmbedder(await MiniLMEmbedder.open(), BENCH / "quality-vectors.npz")
    with temporary_folder() as folder:
        joined, pairs, seconds = await collect(arguments.data, Path(arguments.home or folder), embedder)
    scores = {order(pair.space, *pair.canonical): score_pair(_build_features(pair)) for pair in pairs}
    print(", ".join(f"{name} {value:.1f}" for name, value in seconds.items()))
    if arguments.pairs:
        rows = [(*order(pair.space, *pair.canonical), *pair.types, pair.similarity,
                 len(pair.neighbors_a & pair.neighbors_b), min(len(pair.neighbors_a), len(pair.neighbors_b)))
                for pair in pairs] + [(*pair, "", "", 1.0, -1, 0) for pair in sorted(joined)]  # fmt: skip
        arguments.pairs.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    labels = (
        {order(x["set"], x["a"], x["b"]): x["same"] for x in load_rows(arguments.labels)} if arguments.labels else {}
    )
    suggested = {pair for pair, score in scores.items() if score >= SUGGESTION_SCORE}
    for title, found in {
        "joined": joined,
        "joined or suggested": joined | suggested,
    }.items():
        for half in ("choose", "report"):
            score = judge(found, labels, half)
            print(f"{title:20} {half:8} {score}   {len(score.unlabeled)} without a label")
            for pair in score.unlabeled if found is joined else ():
                print("   without a label:", *pair)


async def measure_scale(names: int) -> None:
    """Milliseconds to compare a new name, by slices, as the store grows; made-up names, hashed vectors."""
    draw, documents = random.Random(1), dict[str, Extraction]()
    for number in range(names // NAMES_A_DOCUMENT):
        made = {" ".join(draw.choices(SYLLABLES, k=2)).title() + f" {draw.choice(SYLLABLES)}" for _ in range(30)}
        mentions = [build_mention(name, "concept", f"{name} stands in text {number}") for name in sorted(made)]
        documents[f"text {number}"] = Extraction(tuple(filter(None, mentions[:NAMES_A_DOCUMENT])))
    options, scope = EngineOptions(suggest_duplicates=False), Scope.of("here")
    with temporary_folder() as folder:
        async with Engine.open(
            Path(folder), language=ReplayLanguage(documents), embedder=HashEmbedder(384), options=options
        ) as engine:
            texts, before = list(documents), 0
            for start in range(0, len(texts), len(texts) // 4):
                for text in texts[start : start + len(texts) // 4]:
                    await engine.documents.add(Document(text, "here", "here", text, (Passage("1", text),)))
                await engine.wait_until_indexed()
                began, processor = time.perf_counter(), time.process_time()
                await engine.corrections.find_duplicates(scope)
                count = (await engine.maintenance.get_status(scope)).entities
                spent = (time.perf_counter() - began, time.process_time() - processor)
                wall, busy = (1000 * each / max(1, count - before) for each in spent)
                print(f"{count:,} names: {wall:.1f} ms a new name, {busy:.1f} of processor", flush=True)
                before = count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help=f"the folder that holds {MUSIQUE} and {COVID}")
    parser.add_argument("--labels", type=Path, help="labeled pairs, as JSON Lines")
    parser.add_argument("--pairs", type=Path, help="write the considered pairs here")
    parser.add_argument("--home", help="keep what was ingested here, and use it again")
    parser.add_argument("--scale", type=int, help="measure the time at this number of made-up names instead")
    arguments = parser.parse_args()
    if arguments.scale:
        asyncio.run(measure_scale(arguments.scale))
        return
    if arguments.data is None or not (arguments.data / MUSIQUE).is_dir():
        print(f"skipped: no data; give the folder that holds {MUSIQUE} and {COVID}, as --data …")
        return
    asyncio.run(measure(arguments))


if __name__ == "__main__":
    main()
