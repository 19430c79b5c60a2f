"""Precision and recall of names that rules find: `python -m benchmarks.names --data DATA`.

The names and related pairs of three stored extractions of language models are taken for right, text by text: an
encyclopedia (MuSiQue, GPT-3.5), a paper (a LightRAG store), a novel (a GraphRAG store). Names are equal if their
canonical forms are; of a stored extraction, pairs without direction. Types are compared for names that both found,
where the store has types that the rules know. `--list NAME` prints the most frequent wrong and missed names of a set.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from engine.llm.offline.extraction import extract_by_rules
from engine.models import Excerpt, Extraction
from engine.text.names import normalize_name

PERCENT = 100
LISTED = 60
# Types of the stores, as the type of the rules that is right for them; a few have more than one.
TYPES: Mapping[str, frozenset[str]] = {
    "person": frozenset({"person"}),
    "organization": frozenset({"organization"}),
    "geo": frozenset({"location"}),
    "location": frozenset({"location"}),
    "event": frozenset({"event"}),
}


@dataclass(frozen=True, slots=True)
class StoredText:
    """A text with what a model once found in it: types by canonical name, and pairs of canonical names."""

    id: str
    text: str
    section: str
    types: Mapping[str, str]
    pairs: frozenset[frozenset[str]]

    @property
    def is_reported(self) -> bool:
        """Whether it is in the half that is reported; rules are chosen on the other half."""
        return sha256(self.id.encode()).digest()[0] % 2 == 1


@dataclass(slots=True)
class Tally:
    """Counts of what was found and right, found at all, and stored."""

    right: int = 0
    found: int = 0
    stored: int = 0

    def add(self, found: frozenset[Any], stored: frozenset[Any]) -> None:
        self.right += len(found & stored)
        self.found += len(found)
        self.stored += len(stored)

    def __str__(self) -> str:
        precision = PERCENT * self.right / max(1, self.found)
        recall = PERCENT * self.right / max(1, self.stored)
        return f"{precision:5.1f} / {recall:4.1f}"


@dataclass(slots=True)
class Measurement:
    """What the rules find in the texts of a set, compared with what is stored."""

    names: Tally = field(default_factory=Tally)
    pairs: Tally = field(default_factory=Tally)
    types: Counter[bool] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    mistyped: Counter[str] = field(default_factory=Counter)

    def add(self, stored: StoredText, found: Extraction) -> None:
        types = {normalize_name(mention.name): mention.type for mention in found.mentions}
        names, known = frozenset(types), frozenset(stored.types)
        self.names.add(names, known)
        self.pairs.add(_collect_pairs((link.source, link.target) for link in found.links), stored.pairs)
        self.wrong.update(names - known)
        self.missed.update(known - names)
        for name in names & known:
            if right := TYPES.get(stored.types[name]):
                self.types[types[name] in right] += 1
                if types[name] not in right:
                    self.mistyped[f"{name}: {types[name]}, not {stored.types[name]}"] += 1

    @property
    def type_share(self) -> str:
        total = self.types.total()
        return f"{PERCENT * self.types[True] / total:5.1f}" if total else "    –"


def load_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _collect_pairs(pairs: Iterable[tuple[str, str]]) -> frozenset[frozenset[str]]:
    named = (frozenset(map(normalize_name, pair)) for pair in pairs)
    return frozenset(pair for pair in named if len(pair) > 1 and "" not in pair)


def load_encyclopedia(data: Path) -> list[StoredText]:
    """Passages of MuSiQue; nothing is stored about types, and a triple without three parts is no pair."""
    return [
        StoredText(
            row["id"],
            f"{row['title']}\n{row['text']}",
            row["title"],
            {normalize_name(name): "" for name in row["entities"] if normalize_name(name)},
            _collect_pairs((triple[0], triple[2]) for triple in row["triples"] if len(triple) == 3),
        )
        for row in load_rows(data / "musique_openie" / "openie.jsonl")
    ]


def load_typed(path: Path, relations: str) -> list[StoredText]:
    """Texts with typed entities and relations, in the field of this name."""
    return [
        StoredText(
            row["id"],
            row["text"].replace("\\n", "\n"),
            "",
            {normalize_name(entity["name"]): entity["type"].casefold() for entity in row["entities"]},
            _collect_pairs((each["source"], each["target"]) for each in row[relations]),
        )
        for row in load_rows(path)
    ]


SETS: Mapping[str, Callable[[Path], list[StoredText]]] = {
    "encyclopedia": load_encyclopedia,
    "paper": lambda data: load_typed(data / "lightrag_covid" / "openie.jsonl", "relations"),
    "novel": lambda data: load_typed(data / "carol_graphrag" / "openie.jsonl", "relationships"),
}


def measure(texts: Iterable[StoredText]) -> Measurement:
    """Compare the rules with the stored extraction of each text."""
    result = Measurement()
    for text in texts:
        result.add(text, extract_by_rules(Excerpt(text.text, text.section)))
    return result


def print_set(name: str, texts: list[StoredText]) -> None:
    """Print a row for the whole set, and one for each half."""
    reported = [text for text in texts if text.is_reported]
    halves = {"all": texts, "chosen on": [text for text in texts if not text.is_reported], "reported": reported}
    for title, part in halves.items():
        start = time.perf_counter()
        result = measure(part)
        duration = 1000 * (time.perf_counter() - start) / max(1, len(part))
        row = f"{len(part):5}   {result.names}   {result.pairs}   {result.type_share}   {duration:6.2f}"
        print(f"{name:13} {title:9} {row}")


def print_errors(texts: list[StoredText]) -> None:
    """Print the most frequent wrong, missed and mistyped names of the half that rules are chosen on."""
    result = measure(text for text in texts if not text.is_reported)
    for title, counts in (("wrong", result.wrong), ("missed", result.missed), ("mistyped", result.mistyped)):
        print(f"{title} ({counts.total()}): {', '.join(f'{name} {n}' for name, n in counts.most_common(LISTED))}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder that holds the sets")
    parser.add_argument("--list", choices=SETS, help="print errors of this set instead")
    arguments = parser.parse_args()
    if arguments.data is None or not (arguments.data / "musique_openie").is_dir():
        print("skipped: no data; give the folder that holds musique_openie, lightrag_covid and carol_graphrag")
        return
    if arguments.list:
        print_errors(SETS[arguments.list](arguments.data))
        return
    print(f"{'':13} {'half':9} texts   {'names':12}   {'pairs':12}   types   ms a text")
    for name, load in SETS.items():
        print_set(name, load(arguments.data))


if __name__ == "__main__":
    main()
