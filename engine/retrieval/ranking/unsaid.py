"""Find what rows of the graph say about a question that no chosen source says. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.llm.offline.sentences import split_sentences
from engine.llm.offline.words import content_words, stem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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


def list_words(text: str) -> frozenset[str]:
    """The stems of the content words of a text."""
    return frozenset(map(stem, content_words(text)))


def list_claims(description: str, names: Sequence[str], asked: frozenset[str]) -> list[Claim]:
    """The sentences of a description that are about the question, the best first; all if it asks for names alone."""
    open_words = asked - frozenset().union(*map(list_words, names))
    found: list[Claim] = []
    for sentence in split_sentences(description)[:MAX_SENTENCES_READ]:
        words = list_words(sentence)
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
