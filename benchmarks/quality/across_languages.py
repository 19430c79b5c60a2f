"""Questions in one language about texts in another: `python -m benchmarks.quality.across_languages --data DATA`.

`--questions de en`, `--texts en`: languages of the paragraphs and questions of XQuAD, which say the same in each. Of
several languages of texts each paragraph is in one, by the hash of its id. Mode naive, without facts; the share of
questions whose paragraph is among the first. The numbers of retrieval were chosen looking at all of these questions.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.plumbing import temporary_folder
from engine import Document, Engine, OfflineModel, Passage, Question, Scope
from engine.llm.builtin_models import choose_builtin
from engine.models import Excerpt, Extraction
from engine.usage import UsageMeter

SPACE = "xquad"
CUTS = (1, 2, 5)


class FactlessModel(OfflineModel):
    """Finds no facts, so that only chunks are embedded."""

    async def extract(self, excerpt: Excerpt, meter: UsageMeter) -> Extraction:
        return Extraction()


def read_rows(file: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def hash_byte(key: str) -> int:
    """A number below 256 of a key."""
    return hashlib.sha256(key.encode()).digest()[-1]


def read_paragraphs(data: Path, languages: Sequence[str]) -> list[dict[str, Any]]:
    """The paragraphs, each in one of these languages."""
    sets = [read_rows(data / f"xquad_{language}" / "corpus.jsonl") for language in languages]
    return [same[hash_byte(same[0]["id"]) % len(same)] for same in zip(*sets, strict=True)]


async def ask(engine: Engine, row: dict[str, Any]) -> list[bool]:
    """Whether the paragraph of a question is among the first, for each cut."""
    context = await engine.retrieve(Question(row["question"], Scope.of(SPACE), mode="naive"))
    found = list(dict.fromkeys(source.document for source in context.sources))
    return [set(row["gold"]) <= set(found[:cut]) for cut in CUTS]


async def measure(data: Path, texts: Sequence[str], questions: Sequence[str], embedder: str) -> None:
    """Print a row for each language of questions."""
    model = await choose_builtin(("en",) if embedder == "english" else ("de", "en")).open()
    with temporary_folder() as home:
        async with Engine.open(Path(home), language=FactlessModel(model), embedder=model) as engine:
            for row in read_paragraphs(data, texts):
                passages = (Passage("p", row["text"], "p"),)
                await engine.documents.add(Document(row["id"], SPACE, "", row["title"] or row["id"], passages))
            await engine.wait_until_indexed()
            for language in questions:
                rows = read_rows(data / f"xquad_{language}" / "queries.jsonl")
                hits = [await ask(engine, row) for row in rows]
                cells = [f"{100 * mean(hit[at] for hit in hits):6.1f}" for at in range(len(CUTS))]
                print(f"{language} about {' '.join(texts)}, {embedder}, {len(rows)}: R@1/2/5", *cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder that holds the data sets")
    parser.add_argument("--texts", nargs="+", default=["en"])
    parser.add_argument("--questions", nargs="+", default=["de", "en"])
    parser.add_argument("--embedder", choices=("english", "multilingual"), default="multilingual")
    arguments = parser.parse_args()
    folder = arguments.data / "languages" if arguments.data else None
    if folder is None or not folder.is_dir():
        print("skipped: no data; give the folder that holds the data sets, as DATA=…")
        sys.exit(0)
    asyncio.run(measure(folder, arguments.texts, arguments.questions, arguments.embedder))


if __name__ == "__main__":
    main()
