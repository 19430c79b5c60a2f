"""Synthetic documents of one chunk: 20 names drawn by Zipf's law from 20,000, and 19 relations, each told anew."""

from __future__ import annotations

import json
import random
import re
from bisect import bisect
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import Any

from engine.models import Document, Passage

NAMES = 20_000
NAMES_PER_DOCUMENT = 20
SYLLABLES = ("ka", "ro", "mi", "len", "tas", "ver", "do", "qui", "bel", "nor", "sha", "pe", "lu", "gan", "wy", "zor")
VERBS = ("supplies", "audits", "follows", "blocks", "owns", "repairs", "warns", "visits", "pays", "trains")
THINGS = ("the pump", "a ledger", "the north gate", "an invoice", "the engine", "a survey", "the archive", "a permit")
LINE = re.compile(r"^(\S+ \S+) (\S+) (.+?) for (\S+ \S+) in case (\S+)\.$", re.MULTILINE)
SEVERAL = re.compile(r'^\{"number": (\d+), (.*)\]\}$', re.MULTILINE)
DELIMITER = "<|#|>"


@cache
def build_names() -> tuple[str, ...]:
    """Twenty thousand two-word names."""
    words = [a + b for a in SYLLABLES for b in SYLLABLES]
    count = len(words)
    return tuple(f"{words[i % count].title()} {words[i // count].title()}{i % 7}" for i in range(NAMES))


@cache
def _shares() -> list[float]:
    return list(accumulate(1 / rank for rank in range(1, NAMES + 1)))


def build_document(number: int, space: str = "bench") -> Document:
    """The document of that number, always the same."""
    chance, shares, everyone = random.Random(number), _shares(), build_names()
    drawn: dict[str, None] = {}
    while len(drawn) < NAMES_PER_DOCUMENT:
        drawn[everyone[bisect(shares, chance.random() * shares[-1])]] = None
    lines = [
        f"{a} {chance.choice(VERBS)} {chance.choice(THINGS)} for {b} in case {number:x}-{i:x}."
        for i, (a, b) in enumerate(pairwise(drawn))
    ]
    return Document(f"doc-{number}", space, "bench", f"Case {number}", (Passage("1", "\n".join(lines)),))


def build_reply(messages: Sequence[Mapping[str, Any]]) -> str:
    """What a model that reads perfectly says of such a document; nothing more when asked again; short summaries."""
    asked = str(messages[-1]["content"])
    if len(messages) > 2:
        return "<|COMPLETE|>"
    if several := SEVERAL.findall(asked):
        rows = [
            f"summary{DELIMITER}{number}{DELIMITER}Known from many cases, of late: {texts[-160:]}"
            for number, texts in several
        ]
        return "\n".join((*rows, "<|COMPLETE|>"))
    if excerpts := [json.loads(line) for line in asked.split("\n") if line.startswith('{"number": ')]:
        rows = [
            row for excerpt in excerpts for row in (f"excerpt{DELIMITER}{excerpt['number']}", *_rows(excerpt["text"]))
        ]
        return "\n".join((*rows, "<|COMPLETE|>"))
    rows = _rows(asked)
    return "\n".join((*rows, "<|COMPLETE|>")) if rows else f"Known from many cases, of late: {asked[-160:]}"


def _rows(text: str) -> list[str]:
    found, rows = LINE.findall(text), list[str]()
    for a, verb, thing, b, case in found:
        rows.append(f"entity{DELIMITER}{a}{DELIMITER}Organization{DELIMITER}{a} {verb} {thing} in case {case}.")
        rows.append(DELIMITER.join(("relation", a, b, f"{verb},case", f"{a} {verb} {thing} for {b} in case {case}.")))
    if found:
        _, _, thing, b, case = found[-1]
        rows.append(f"entity{DELIMITER}{b}{DELIMITER}Organization{DELIMITER}{b} is served with {thing} in case {case}.")
    return rows
