"""Which sources an answer used, and its footer: these sources, notices and buttons. Pure.

What an answer used decides whether the posted answer is replaced when a source is edited or removed. A model may also
paraphrase or translate what it was shown: text of its own that no citation follows may come from any of that. What is
stored of such an answer loses its words with anything that the model was shown.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.i18n import gettext
from bot.platform.models import AnswerFooter, Button, FooterSource
from bot.store import AnswerSource
from bot.store.models import source_keys, unknown_part_key
from bot.text.excerpts import (
    build_excerpt,
    content_words,
    has_any_word,
    lines_citing,
    source_title,
    strip_speaker,
    truncate_line,
)
from bot.text.markdown import is_web_link, sanitize_inline, web_address
from bot.texts import review as review_texts
from engine.errors import EngineError
from engine.text.stream_rewriter import RewriteStep, StreamRewriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from engine import Answer, Context, Source
    from engine.storage.ledger.records import StatingPassage

    KeyedText = tuple[str, frozenset[str]]  # the text of an earlier turn, and the keys of what it rests on


UNEXPLAINED_WORDS = (
    3  # words of a model's answer without an origin; with as many, it may use any source that it was shown
)

_CITATION = re.compile(r"\[\d+\]")
MAX_TITLE_LENGTH, MAX_EXCERPT_LENGTH = 100, 140  # characters

_MINUTE_FORMAT = "%Y-%m-%d %H:%M"
CITATION_NUMBER = re.compile(r"\[(\d{1,9})\](?!\()")


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


@dataclass(frozen=True, slots=True)
class GraphKeys:
    """The keys of passages behind facts of the graph: those that an answer uses, and all that a model was shown."""

    used: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()


async def find_graph_keys(evidence: Answer, answer: str, question: str, cited: Sequence[Source]) -> GraphKeys:
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


def build_answer_source(source: Source, answer: str) -> AnswerSource:
    """A cited source with what its footer line needs."""
    words = build_excerpt(strip_speaker(source.text), lines_citing(answer, source.number), MAX_EXCERPT_LENGTH)
    return AnswerSource(
        source.number,
        truncate_line(sanitize_inline(format_source_title(source)), MAX_TITLE_LENGTH),
        source.link if is_web_link(source.link) else "",
        sanitize_inline(words),
        source.document,
        source.passage,
        source.space,
        source.room,
        message_time(source),
    )


def format_source_title(source: Source) -> str:
    """The title of a source: document, section, and date unless it is shown as an instant."""
    name, label = source_title(source.title, source.label)
    day = f"{source.time:%Y-%m-%d}" if source.time else ""
    if instant := message_time(source):
        return " · ".join(filter(None, (name, label.removesuffix(f"{instant:{_MINUTE_FORMAT}}").rstrip(", "))))
    section = "" if name.startswith(label) else label
    return " · ".join(filter(None, (name, section, "" if day in f"{name} {label}" else day)))


def message_time(source: Source) -> datetime | None:
    """The time of a source that is a message; None for documents, which have a day at most."""
    return source.time if source.time and source.label.endswith(f"{source.time:{_MINUTE_FORMAT}}") else None


def build_answer_footer(
    answer: str,
    sources: Iterable[AnswerSource],
    notes: Iterable[str],
    *,
    private: bool,
    share: bool,
    further: Iterable[Button] = (),
) -> AnswerFooter:
    """Build the footer; `share`: a private answer can be shared in a channel, which comes before its sources.

    With one of the `further` buttons, there are at most four besides suggested questions.
    """
    cited = tuple(FooterSource(source.number, source.title, source.link, time=source.time) for source in sources)
    buttons = [Button("👍", "up", answer), Button("👎", "down", answer)]
    if private and share and cited:
        buttons.append(Button(gettext("Share to channel"), "share", answer))
    elif cited:
        buttons.append(Button(gettext(review_texts.SOURCES_BUTTON), "sources", answer))
    return AnswerFooter(answer, cited, " ".join(filter(None, notes)), (*buttons, *further))


def source_urls(sources: Iterable[Source | AnswerSource]) -> Mapping[int, str]:
    """The URLs of the sources that have one, by number."""
    addresses = {source.number: web_address(source.link) for source in sources}
    return {number: address for number, address in addresses.items() if address}


def link_citations(text: str, links: Mapping[int, str]) -> str:
    """The text with `[1]` as `[[1]](address)`, outside of code; a longer text gives a longer result."""
    if not links:
        return text
    scanner = CitationLinker(links)
    return scanner.feed(text) + scanner.close()


class CitationLinker(StreamRewriter):
    """Rewrites the numbers of citations."""

    special = re.compile(r"[\[`]")

    def __init__(self, links: Mapping[int, str]) -> None:
        super().__init__()
        self.links = links

    def rewrite_special(self, at: int, *, final: bool) -> RewriteStep | None:
        del final  # the text is given as a whole
        found = CITATION_NUMBER.match(self.buffer, at)
        link = self.links.get(int(found[1])) if found else None
        if found is None or link is None:
            return RewriteStep(at + 1, "[")
        picture = " " if self.tail.endswith("!") else ""
        return RewriteStep(found.end(), f"{picture}[{found[0]}]({link})")
