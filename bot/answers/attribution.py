"""Which sources an answer used: those it cites, those whose words it contains, and those behind facts of the graph.

What an answer used decides whether the posted answer is replaced when a source is edited or removed. A model may also
paraphrase or translate what it was shown: text of its own that no citation follows may come from any of that. What is
stored of such an answer loses its words with anything that the model was shown.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bot.store.models import source_keys, unknown_part_key
from bot.text.excerpts import content_words, has_any_word, strip_speaker
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from engine import Context, Source
    from engine.storage.ledger.records import StatingPassage

    KeyedText = tuple[str, frozenset[str]]  # the text of an earlier turn, and the keys of what it rests on

UNEXPLAINED_WORDS = (
    3  # words of a model's answer without an origin; with as many, it may use any source that it was shown
)

_CITATION = re.compile(r"\[\d+\]")


def find_used_keys(
    answer: str, question: str, cited: Sequence[Source], retrieved: Iterable[Source], history: Iterable[KeyedText] = ()
) -> frozenset[str]:
    """The keys of the documents and messages that an answer used; `history`: the turns before the question.

    If a source is cited, words of the question are no evidence for other sources; if none is, they are.
    """
    named = {(source.document, source.passage) for source in cited}
    own = content_words(answer)
    if cited:
        own -= _explained_words(question, cited)
    found: set[str] = set()
    for source in cited:
        found |= source_keys(source.document, source.room, source.passage)
    for source in retrieved:
        if (source.document, source.passage) not in named and has_any_word(
            own, f"{source.author} {strip_speaker(source.text)}"
        ):
            found |= source_keys(source.document, source.room, source.passage)
    for text, keys in history:
        if has_any_word(own, text):
            found |= keys
    return frozenset(found)


def is_fully_cited(answer: str, question: str, cited: Sequence[Source]) -> bool:
    """Whether almost every word of a model's answer is before a citation, in a cited source or in the question.

    A citation covers the part of its line that it follows.
    """
    if not cited:
        return False
    loose = " ".join(_CITATION.split(line)[-1] for line in answer.splitlines())
    known = _explained_words(question, cited)
    return len(content_words(loose) - known) < UNEXPLAINED_WORDS


def graph_fact_words(answer: str, question: str, cited: Sequence[Source], context: Context) -> set[str]:
    """The words of an answer that neither the question nor a cited source has, but a fact of the graph."""
    own = content_words(answer) - _explained_words(question, cited)
    facts = [f"{entity.name} {entity.description}" for entity in context.entities]
    facts += [
        f"{relation.source} {relation.target} {relation.keywords} {relation.description}"
        for relation in context.relations
    ]
    return own & content_words(" ".join(facts)) if own and facts else set()


def _explained_words(question: str, cited: Sequence[Source]) -> set[str]:
    """The words of a question and of the cited sources."""
    return content_words(question) | content_words(" ".join(f"{source.title} {source.text}" for source in cited))


class GraphEvidence(Protocol):
    """What an answer was shown, and what its facts rest on."""

    context: Context

    @property
    def is_extractive(self) -> bool:
        """Whether it consists of quotations."""

    async def load_supporting_passages(self) -> Sequence[StatingPassage]:
        """The passages behind the facts of the graph that it was shown."""


@dataclass(frozen=True, slots=True)
class GraphKeys:
    """The keys of passages behind facts of the graph: those that an answer uses, and all that a model was shown."""

    used: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()


async def find_graph_keys(evidence: GraphEvidence, answer: str, question: str, cited: Sequence[Source]) -> GraphKeys:
    """The keys of passages whose words an answer has only because of a fact of the graph.

    For an answer by a model, also the keys of all documents that support the facts it was shown.
    """
    fact_words = graph_fact_words(answer, question, cited, evidence.context)
    if not fact_words and evidence.is_extractive:
        return GraphKeys()
    passages: Sequence[StatingPassage] = ()
    with suppress(EngineError):  # the same error will prevent storing the answer
        passages = await evidence.load_supporting_passages()
    used = await asyncio.to_thread(_matching_keys, passages, fact_words)
    if evidence.is_extractive:
        return GraphKeys(used)
    return GraphKeys(used, frozenset(unknown_part_key(passage.document) for passage in passages))


def _matching_keys(passages: Sequence[StatingPassage], fact_words: set[str]) -> frozenset[str]:
    """The keys of those passages that have any of these words."""
    found = (passage for passage in passages if has_any_word(fact_words, passage.text))
    return frozenset().union(*(source_keys(passage.document, passage.room, passage.passage) for passage in found))
