"""Documents, stored replies and questions, the same for both systems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks import synthetic
from benchmarks.quality.sets import load_passages, load_rows
from benchmarks.replay_language import parse_reading
from engine.models import Extraction

DELIMITER, END = "<|#|>", "<|COMPLETE|>"
SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class ReplayDocument:
    """A document of one chunk, and what a model replies when it is asked to extract from it."""

    key: str
    text: str
    reply: str

    def edited(self) -> ReplayDocument:
        """The document with one more line, which states nothing new."""
        return replace(self, text=f"{self.text}\nThis line was added later.")


@dataclass(frozen=True, slots=True)
class ReplayQuestion:
    """A question with its keywords and the documents that hold its answer."""

    text: str
    low: tuple[str, ...]
    high: tuple[str, ...]
    gold: frozenset[str]

    def keywords(self) -> dict[str, str | tuple[str, ...]]:
        """What a runner process is given of it."""
        return {"text": self.text, "low": self.low, "high": self.high}


def format_reply(extraction: Extraction) -> str:
    """An extraction as rows of LightRAG's delimiter format, which both systems parse."""
    rows = [("entity", mention.name, mention.type, mention.description) for mention in extraction.mentions]
    links = [("relation", link.source, link.target, link.keywords, link.description) for link in extraction.links]
    lines = [DELIMITER.join(SPACES.sub(" ", field) for field in row) for row in (*rows, *links)]
    return "\n".join((*lines, END))


def find_names(question: str, names: Iterable[str]) -> tuple[str, ...]:
    """The names that occur in the question as whole words, longest first; none that is part of a longer one.

    A single word counts only where the question writes it with a capital or a digit.
    """
    found, rest = list[str](), question
    unique = {name.casefold(): name for name in names}
    for folded in sorted(unique, key=lambda each: (-len(each), each)):
        if folded not in rest.casefold():
            continue
        match = re.search(rf"(?<!\w){re.escape(folded)}(?!\w)", rest, re.IGNORECASE)
        if match and (" " in folded or not match[0][0].islower()):
            found.append(unique[folded])
            rest = f"{rest[: match.start()]}\0{rest[match.end() :]}"
    return tuple(found)


def build_question(row: Mapping[str, Any], names: Iterable[str]) -> ReplayQuestion:
    """Low keywords: the names in the question, else the question itself; high keyword: the question itself."""
    text = row["question"]
    return ReplayQuestion(text, find_names(text, names) or (text,), (text,), frozenset(row["gold"]))


def build_synthetic(number: int) -> ReplayDocument:
    document = synthetic.build_document(number)
    [passage] = document.passages
    return ReplayDocument(document.key, passage.text, synthetic.build_reply([{"content": passage.text}]))


def load_musique(data: Path) -> tuple[list[ReplayDocument], list[ReplayQuestion]]:
    """The passages of MuSiQue with their stored extraction, and its questions."""
    passages, stored, names = load_passages(data), dict[str, str](), set[str]()
    for row in load_rows(data / "openie.jsonl"):
        extraction = parse_reading(passages[row["id"]].passages[0].text, row["entities"], row["triples"])
        stored[row["id"]] = format_reply(extraction)
        names.update(mention.name for mention in extraction.mentions)
    documents = [
        ReplayDocument(key, passage.passages[0].text.strip(), stored.get(key, END)) for key, passage in passages.items()
    ]
    return documents, [build_question(row, names) for row in load_rows(data / "queries.jsonl")]


def extend(documents: Sequence[ReplayDocument], count: int) -> list[ReplayDocument]:
    """The first `count` documents; after the given ones follow synthetic documents."""
    further = (build_synthetic(number) for number in range(max(0, count - len(documents))))
    return [*documents[:count], *islice(further, count)]
