"""A synthetic workspace: documents of one chunk in spaces of very different sizes, with hubs among the names."""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate, islice, pairwise
from zlib import crc32

import numpy as np

from benchmarks.hashing import HashingEmbedder
from benchmarks.replay_language import ReplayLanguage
from benchmarks.synthetic import LINE, SYLLABLES, THINGS, VERBS, build_names
from engine import Document, Passage, Question, Scope
from engine.llm.formats.built_facts import build_link, build_mention
from engine.models import Excerpt, Extraction
from engine.usage import UsageMeter

HUB_FLATNESS = 20  # Zipf's law from this rank on: the most frequent name is in 3 % of the documents with 5 names
OPEN_SHARE = 0.5  # of the documents: in the first space; Zipf's law gives the others
LOCAL_SHARE = 0.5  # of the names in a document: drawn by the preferences of its space
FILLER_WORDS, VOCABULARY = 60, 30_000
NOISE = 0.3  # length of the noise that is added to the vectors of questions
MIN_RANK = 1_000  # of the names that questions say: the walk starts at names that few chunks mention


@dataclass(frozen=True)
class Corpus:
    """Documents with `facts` relations each, between names of their space; all draws follow Zipf's law."""

    documents: int
    spaces: int
    facts: int

    @cached_property
    def _space_shares(self) -> list[float]:
        """Cumulative: half of the documents are in the open space, the others by Zipf's law."""
        others = [1 / rank for rank in range(1, self.spaces)]
        open_share = sum(others) * OPEN_SHARE / (1 - OPEN_SHARE) or 1.0
        return list(accumulate([open_share, *others]))

    def space_of(self, number: int) -> int:
        """The space of a document; the first documents are in one space each, so that no space is empty."""
        if number < self.spaces:
            return number
        return _draw(random.Random(-1 - number), self._space_shares)

    def build_document(self, number: int) -> Document:
        """The document of that number, always the same."""
        space, chance = self.space_of(number), random.Random(number)
        lines = [
            f"{a} {chance.choice(VERBS)} {chance.choice(THINGS)} for {b} in case {number:x}-{i:x}."
            for i, (a, b) in enumerate(pairwise(self._draw_names(space, chance)))
        ]
        filler = " ".join(_draw_words(chance, FILLER_WORDS)).capitalize()
        passage = Passage("1", "\n".join((*lines, f"{filler}.")))
        return Document(f"doc-{number}", space_name(space), space_name(space), f"Case {number}", (passage,))

    def _draw_names(self, space: int, chance: random.Random) -> list[str]:
        names, shares, drawn = build_names(), _name_shares(), dict[str, None]()
        while len(drawn) < self.facts + 1:
            rank = _draw(chance, shares)
            local = chance.random() < LOCAL_SHARE
            drawn[names[(rank + space * 7919 * local) % len(names)]] = None
        return list(drawn)

    def scope_of(self, spaces: int) -> Scope:
        """The open space and the largest others."""
        return Scope.of(*map(space_name, range(spaces)))

    def build_questions(self, spaces: int, amount: int) -> list[Question]:
        """Questions about facts that documents in the first `spaces` spaces state, which name both ends."""
        first, step = self.documents // 3, 37
        numbers = (number for number in range(first, first + step * self.documents, step))
        made = (self._build_question(number % self.documents, spaces) for number in numbers)
        return list(islice((question for question in made if question is not None), amount))

    def _build_question(self, number: int, spaces: int) -> Question | None:
        if self.space_of(number) >= spaces:
            return None
        text = self.build_document(number).passages[0].text
        for a, verb, _, b, _ in LINE.findall(text):
            if min(_rank(a), _rank(b)) >= MIN_RANK:
                filler = " ".join(text.rsplit("\n", 1)[1].strip(".").split()[5:8])
                asked = f"What does {a} for {b}, and what is known of {filler}?"
                return Question(asked, self.scope_of(spaces), low=(a, b), high=(verb, "case"), rerank=False)
        return None


class QuestionEmbedder(HashingEmbedder):
    """Adds some noise to the vectors of questions: otherwise thousands of texts would be equally similar to them."""

    async def embed_queries(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        """float32 of shape (len(texts), dim), rows of length one."""
        vectors = await self.embed(texts, meter)
        noise = [np.random.default_rng(crc32(text.encode())).standard_normal(self.dim) for text in texts]
        vectors += np.float32(NOISE / self.dim**0.5) * np.array(noise, np.float32)
        unit: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


class LineLanguage(ReplayLanguage):
    """Extracts the facts of synthetic lines, in this process."""

    def __init__(self) -> None:
        super().__init__({})

    def _extract(self, excerpt: Excerpt) -> Extraction:
        mentions, links = [], []
        for a, verb, thing, b, case in LINE.findall(excerpt.text):
            mentions.append(build_mention(a, "Organization", f"{a} {verb} {thing} in case {case}."))
            mentions.append(build_mention(b, "Organization", f"{b} is served with {thing} in case {case}."))
            links.append(build_link(a, b, f"{verb},case", f"{a} {verb} {thing} for {b} in case {case}."))
        return Extraction(tuple(filter(None, mentions)), tuple(filter(None, links)))


def space_name(number: int) -> str:
    return f"space-{number:03}"


def _draw(chance: random.Random, shares: Sequence[float]) -> int:
    return bisect(shares, chance.random() * shares[-1])


@cache
def _name_shares() -> list[float]:
    return list(accumulate(1 / (rank + HUB_FLATNESS) for rank in range(1, len(build_names()) + 1)))


@cache
def _word_shares() -> list[float]:
    return list(accumulate(1 / (rank + 2) for rank in range(1, VOCABULARY + 1)))


def _draw_words(chance: random.Random, amount: int) -> list[str]:
    """Lower-case words by Zipf's law."""
    return [_spell(_draw(chance, _word_shares())) for _ in range(amount)]


@cache
def _spell(number: int) -> str:
    parts = list[str]()
    while number or not parts:
        number, rest = divmod(number, len(SYLLABLES))
        parts.append(SYLLABLES[rest])
    return "".join(parts)


@cache
def _ranks() -> dict[str, int]:
    return {name: rank for rank, name in enumerate(build_names())}


def _rank(name: str) -> int:
    """The global rank of a name; the preferences of a space shift it."""
    return _ranks()[name]
