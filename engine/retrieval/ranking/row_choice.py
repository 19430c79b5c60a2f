"""Rank relations, and choose the rows of the graph that a prompt shows: what no chosen source says. Pure.

Sources come first. A row is shown for a sentence about the question that no source says, for a relation between names
of different sources, and for an entity that the sources call otherwise than the question does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from engine.llm.offline.sentences import split_sentences
from engine.llm.offline.words import content_stems
from engine.retrieval.ranking.fusion import sort_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from engine.options import RankingOptions
    from engine.retrieval.ranking.passages import PieceId, SourceChoice


MAX_SENTENCES = 3  # of one description
MAX_SENTENCES_READ = 40  # of one description
SAID_SHARE = 0.7  # of the words of a sentence: a text that has so many of them says it
SUPPORT_SHARE = 0.4  # of the words of a sentence: a passage that has so many of them supports it
ASKED_SHARE = 1 / 3  # of the words of the question, without the names of the row: a sentence with so many is about it


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a row of the graph, with its words; `weight`: how many words of the question it has."""

    sentence: str
    words: frozenset[str]
    weight: int


def list_claims(description: str, names: Sequence[str], asked: frozenset[str]) -> list[Claim]:
    """The sentences of a description that are about the question, the best first; all if it asks for names alone."""
    open_words = asked - frozenset().union(*map(content_stems, names))
    found: list[Claim] = []
    for sentence in split_sentences(description)[:MAX_SENTENCES_READ]:
        words = content_stems(sentence)
        weight = len(words & open_words)
        if words and weight >= ASKED_SHARE * len(open_words):
            found.append(Claim(sentence, words, weight))
    return sorted(found, key=lambda claim: -claim.weight)[:MAX_SENTENCES]


def share_said(words: frozenset[str], text: frozenset[str]) -> float:
    """The share of the words that a text has; 1.0 without words."""
    return len(words & text) / len(words) if words else 1.0


def is_said(words: frozenset[str], texts: Iterable[frozenset[str]]) -> bool:
    """Whether one of the texts, given by their words, has almost all of these."""
    return any(share_said(words, text) >= SAID_SHARE for text in texts)


ALIAS_TEXT = "Also called: {names}."


@dataclass(frozen=True, slots=True)
class RowCandidate:
    """A row of the graph: the name of an entity, or both names of a relation, and the chunks that state it.

    `spellings`: all names of an entity, case-folded.
    """

    names: tuple[str, ...]
    description: str
    evidence: Sequence[int]
    spellings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RowBudget:
    """What rows may take. `tokens`: of the rows and of the sources that they add. `total`: of all sources then.

    `max_chunks`: chunks of all sources then. `measure`: the tokens of a row with this text instead of its description.
    """

    tokens: int
    total: int
    max_chunks: int
    measure: Callable[[int, str], int]


@dataclass(slots=True)
class RowChoice:
    """Chooses rows for a choice of sources, to which it adds the passages that support them."""

    rows: Sequence[RowCandidate]
    sources: SourceChoice
    budget: RowBudget
    question: str
    shown: dict[int, list[str]] = field(default_factory=dict)
    _words: dict[PieceId, frozenset[str]] = field(default_factory=dict)
    _folded: dict[PieceId, str] = field(default_factory=dict)

    def choose(self) -> dict[int, str]:
        """The rows to show, by their index, with the sentences that they show."""
        for index, claim in self._list_claims():
            if not is_said(claim.words, self._list_chosen_words()):
                self._support(index, claim)
        for index, row in enumerate(self.rows):
            if others := self._list_other_names(row):
                self._show(index, ALIAS_TEXT.format(names=", ".join(others)))
            if index not in self.shown and (sentence := self._find_link(row)):
                self._show(index, sentence)
        return {index: " ".join(sentences) for index, sentences in sorted(self.shown.items())}

    def _list_claims(self) -> list[tuple[int, Claim]]:
        asked = content_stems(self.question)
        found = [
            (index, claim)
            for index, row in enumerate(self.rows)
            for claim in list_claims(row.description, row.names, asked)
        ]
        return sorted(found, key=lambda each: -each[1].weight)

    def _support(self, index: int, claim: Claim) -> None:
        """Add the passage that supports a sentence, and show the row if that passage says it in other words."""
        places = self.sources.list_pieces(self.rows[index].evidence)
        best = max(places, key=lambda place: share_said(claim.words, self._read(place)), default=None)
        if best is None or share_said(claim.words, self._read(best)) < SUPPORT_SHARE:
            return
        limit = min(self.budget.total, self.sources.tokens + self.budget.tokens - self._count_rows())
        if self.sources.add(best, limit, self.budget.max_chunks) and not is_said(claim.words, [self._read(best)]):
            self._show(index, claim.sentence)

    def _show(self, index: int, sentence: str) -> None:
        before = self.shown.get(index, [])
        self.shown[index] = [*before, sentence]
        if self._count_rows() > self.budget.tokens:
            self.shown[index] = before
            if not before:
                del self.shown[index]

    def _count_rows(self) -> int:
        return sum(self.budget.measure(index, " ".join(sentences)) for index, sentences in self.shown.items())

    def _find_link(self, row: RowCandidate) -> str:
        """What a relation says of names that stand in different sources: its first sentence that a source supports."""
        if len(row.names) < 2 or not self._is_supported(row):
            return ""
        named = [{place for place in self.sources.chosen if self._names(place, name)} for name in row.names]
        if not all(named) or set.intersection(*named):
            return ""
        sentences = split_sentences(row.description)[:MAX_SENTENCES_READ]
        return next((sentence for sentence in sentences if self._is_backed(row, sentence)), "")

    def _is_backed(self, row: RowCandidate, sentence: str) -> bool:
        """Whether a chosen source of the row says enough of a sentence; the others would be cited for another one."""
        words = content_stems(sentence)
        places = (place for place in self.sources.list_pieces(row.evidence) if place in self.sources.chosen)
        return any(share_said(words, self._read(place)) >= SUPPORT_SHARE for place in places)

    def _list_other_names(self, row: RowCandidate) -> list[str]:
        """The names by which sources call an entity that the question calls otherwise, unless a source says so."""
        question = self.question.casefold()
        asked = [name for name in row.spellings if name in question]
        others = [name for name in row.spellings if name not in question]
        if not asked or not others or not self._is_supported(row):
            return []
        if any(
            self._names(place, a) and self._names(place, b)
            for place in self.sources.chosen
            for a in asked
            for b in others
        ):
            return []
        return [name for name in others if any(self._names(place, name) for place in self.sources.chosen)]

    def _is_supported(self, row: RowCandidate) -> bool:
        return any(place in self.sources.chosen for place in self.sources.list_pieces(row.evidence))

    def _names(self, place: PieceId, name: str) -> bool:
        if place not in self._folded:
            piece = self.sources.piece(place)
            self._folded[place] = f"{piece.author}\n{piece.title}\n{piece.text}".casefold()
        return name.casefold() in self._folded[place]

    def _list_chosen_words(self) -> Iterable[frozenset[str]]:
        return [self._read(place) for place in self.sources.chosen]

    def _read(self, place: PieceId) -> frozenset[str]:
        if place not in self._words:
            piece = self.sources.piece(place)
            self._words[place] = content_stems(f"{piece.author} {piece.title} {piece.text}")
        return self._words[place]


class RankedRelation(NamedTuple):
    """A relation to be ranked; `degree`: the sum of its ends' degrees, `sort_key`: by its ends' names."""

    id: int
    similarity: float
    degree: int
    weight: float
    sort_key: Sequence[tuple[str, int]]


def rank_relations(relations: Iterable[RankedRelation], options: RankingOptions) -> list[int]:
    """The ids of relations around entities by score, the best first; ties by the names of their ends."""

    def order(relation: RankedRelation) -> tuple[float, Sequence[tuple[str, int]]]:
        score = relation_score(relation.similarity, relation.degree, relation.weight, options)
        return sort_key(score), relation.sort_key

    return [relation.id for relation in sorted(relations, key=order)]


def relation_score(similarity: float, degree: int, weight: float, options: RankingOptions) -> float:
    """Score of a relation near the entities asked for: 0.8 similarity + 0.12 d/(d+4) + 0.08 w/(w+1) by default.

    d and w are the logarithms of 1 + the degrees of both ends, and of 1 + the weight. Hubs and facts that many chunks
    state come first among equals, but never before a relation that is more similar to the question by a quarter.
    """
    degree_log, weight_log = math.log1p(max(0, degree)), math.log1p(max(0.0, weight))
    return (
        options.relation_similarity_share * similarity
        + options.relation_degree_share * degree_log / (degree_log + options.relation_degree_saturation)
        + options.relation_weight_share * weight_log / (weight_log + options.relation_weight_saturation)
    )
